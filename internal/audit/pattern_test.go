package audit

import (
	"fmt"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

func began(at model.Time, node string, kind model.Kind) finding.Finding {
	return finding.Finding{Node: node, Evidence: []finding.Evidence{{Ref: model.Ref{Kind: kind, Name: "x"}, Says: "so", Since: at}}}
}

func TestPattern(t *testing.T) {
	t.Parallel()
	taken := model.At(time.Date(2017, 12, 5, 12, 0, 0, 0, time.UTC))
	night := model.At(time.Date(2017, 12, 1, 2, 10, 0, 0, time.UTC))
	s := &model.Snapshot{NodeState: map[string]*model.NodeState{}}
	for i := range 4 {
		m := model.Machine{BootID: "b", Uptime: int64(taken.Sub(night)/time.Second) + 86400}
		if i < 3 {
			m.Kubelet = 86400 - 60 // it started a minute before
		}
		s.NodeState[fmt.Sprintf("n%d", i)] = &model.NodeState{Machines: []model.Machine{m}}
	}
	v := model.Seal(s)
	var fs []finding.Finding
	for i := range 30 {
		fs = append(fs, began(night.Add(time.Duration(i)*time.Minute), fmt.Sprintf("n%d", i%4), model.KindEndpoint))
	}
	fs = append(fs, began(night.Add(50*time.Hour), "n1", model.KindEndpoint))
	p := patternOf(fs, v, taken)
	if p == nil {
		t.Fatal("no pattern")
	}
	if got, want := p.String(), "96% of these findings started around 2017-12-01 02:10-02:39 UTC; 3 of 4 nodes restarted their kubelet at that time"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for name, fs := range map[string][]finding.Finding{
		"too few":       fs[:4],
		"all over":      {fs[0], began(night.Add(time.Hour), "", model.KindPod), began(night.Add(2*time.Hour), "", model.KindPod), began(night.Add(3*time.Hour), "", model.KindPod), began(night.Add(4*time.Hour), "", model.KindPod), fs[30]},
		"agents' word":  {began(night, "n1", model.KindLink), began(night, "n1", model.KindLink), began(night, "n1", model.KindLink), began(night, "n1", model.KindLink), began(night, "n1", model.KindLink)},
		"nothing known": {began(0, "n1", model.KindPod), began(0, "n1", model.KindPod), began(0, "n1", model.KindPod), began(0, "n1", model.KindPod), began(0, "n1", model.KindPod)},
	} {
		if p := patternOf(fs, v, taken); p != nil {
			t.Errorf("%s: %s", name, p)
		}
	}
}
