package detect

import (
	"fmt"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL4010 finds pods that keep the mounts of other containers: they mount the directories of the
// container runtime, and unmounts on the node do not reach them. The pods of one owner are one
// finding.
var PL4010 = &Detector{
	Code: finding.PL4010, Title: "pod keeps mounts of removed containers: it mounts the runtime's directories", Severity: finding.Info, Class: finding.Now,
	Each:  []model.Table{model.Pods},
	Needs: []model.Table{model.Pods, model.PodPhase, model.PodNode},
	Since: "0.3", Run: keepsMounts,
}

func keepsMounts(p *Pass, _ model.Table, row int32) {
	pod := p.Pod(row)
	if len(pod.Volumes) == 0 || pod.Finished() || pod.Node == "" {
		return
	}
	var dirs []string
	for _, v := range pod.Volumes {
		if dir, ok := strings.CutPrefix(v, model.RuntimeDir); ok {
			dirs = append(dirs, plain(dir, maxName))
		}
	}
	if len(dirs) == 0 {
		return
	}
	owner := pod.Owner
	if owner == "" {
		owner = "Pod/" + pod.Name
	}
	p.Report(finding.Finding{
		Subject: model.Ref{Kind: model.KindVolume, Name: pod.Namespace + "/" + plain(owner, 2*maxName)}, Namespace: pod.Namespace,
		Summary:  fmt.Sprintf("mounts %s of the node without mount propagation: mounts of containers that end stay in its pods", strings.Join(dirs, ", ")),
		Evidence: []finding.Evidence{{Ref: pod.Ref(), Says: "on " + pod.Node + ", mounts " + strings.Join(dirs, ", "), Since: pod.Created}},
		About:    []model.Ref{pod.Ref()},
	})
}
