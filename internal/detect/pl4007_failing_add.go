package detect

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/cnierror"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL4007 finds nodes on which pods do not start because their CNI ADD fails again and again.
var PL4007 = &Detector{
	Code: finding.PL4007, Title: "CNI ADD fails: pods on the node do not start", Severity: finding.Error, Class: finding.Now,
	Each:       []model.Table{model.Nodes},
	Needs:      []model.Table{model.Nodes, model.Events, model.Pods, model.PodPhase, model.PodNode, model.PodStatus},
	Uses:       []model.Table{model.Sandboxes, model.CNIConfigs, model.FailedDels, model.Machines, model.Pools},
	Partly:     []model.Table{model.Events}, // an Event that there is says enough
	ShadowedBy: []finding.Code{finding.PL1010},
	Since:      "0.3", Run: failingAdd,
}

// How long ADDs must have failed, and how recent the last one must be: the kubelet tries again
// after seconds, but writes an Event only every five minutes once it has written 25.
const (
	addTries = 2
	addSpan  = 2 * time.Minute
	addFresh = 10 * time.Minute
	addRare  = 7 * time.Minute // between two attempts of one incident: longer apart are several that have passed
	// Of a pod that is Running but not ready, and whose node nobody sees: the last ADD may have worked.
	addSpanBlind  = 10 * time.Minute
	addFreshBlind = 5 * time.Minute
	maxError      = 500 // characters: the words that matter are often the last
)

// failingAdds are what Events say about pods of one node whose ADD fails for one reason.
type failingAdds struct {
	cause cnierror.Cause
	words string // the plugin's own, of the last failure
	pods  []model.Ref
	first model.Time
	last  model.Time
}

func failingAdd(p *Pass, _ model.Table, row int32) {
	n := p.Node(row)
	if m := p.MachineOf(n.Name); m != nil && m.Uptime < settledBoot {
		return // the first ones after a boot may fail
	}
	var all []*failingAdds
	for pod := range p.PodsOn(n.Name) {
		if starts(p, pod) {
			addFailure(p, pod, &all)
		}
	}
	token := pluginToken(p, n)
	if len(all) == 0 {
		if token != nil {
			p.Report(*token)
		}
		return
	}
	slices.SortFunc(all, func(a, b *failingAdds) int {
		return cmp.Or(len(b.pods)-len(a.pods), cmp.Compare(a.cause.Says+a.words, b.cause.Says+b.words))
	})
	f := finding.Finding{Subject: n.Ref(), Node: n.Name}
	pods, since := 0, all[0].first
	for _, a := range all {
		pods, since = pods+len(a.pods), min(since, a.first)
		f.About = append(f.About, a.pods...)
		says := a.words
		if a.cause.Says != "" {
			says = a.cause.Says + ": " + says
		}
		f.Evidence = append(f.Evidence, finding.Evidence{Ref: a.pods[0], Says: "ADD fails: " + says, Since: a.first})
		if a.cause.Do != "" {
			f.Evidence = append(f.Evidence, finding.Evidence{Ref: n.Ref(), Says: "see " + a.cause.Do})
		}
	}
	if token != nil {
		f.Evidence = append(f.Evidence, token.Evidence...)
	} else if len(all) == 1 && all[0].cause.NoPool() {
		f.About = append(f.About, lastPools(p)...)
	}
	f.Summary = fmt.Sprintf("CNI ADD fails since %s, %s not start: %s", since, count(pods, "pod does", "pods do"), cmp.Or(all[0].cause.Says, plain(all[0].words, maxReason)))
	if len(all) > 1 {
		f.Summary += fmt.Sprintf(" (and %s)", count(len(all)-1, "other cause", "other causes"))
	}
	p.Report(f)
}

// starts reports whether a pod needs a network that it does not have: it has not started, or its
// new sandbox does not get one.
func starts(p *Pass, pod *model.Pod) bool {
	if !pod.Networked() || !pod.Deleted.IsZero() || pod.Ready || pod.Phase == model.Pending && len(pod.IPs) > 0 {
		return false
	}
	box, seen := running(p, pod)
	return !seen || box == nil // after a reboot a kubelet reports Running for pods that have no sandbox yet
}

// attempts are the ADDs of a pod that failed, and the DELs of what such an ADD left: the kubelet
// makes no other sandbox before they succeed.
func attempts(p *Pass, pod *model.Pod) iter.Seq[*model.Event] {
	return func(yield func(*model.Event) bool) {
		for e := range p.EventsOf(pod.Namespace, pod.Name) {
			own := e.UID == "" || e.UID == pod.UID || e.UID == pod.Static
			if own && (e.Reason == "FailedCreatePodSandBox" && cnierror.IsFailedAdd(e.Message) || e.Reason == sandboxChanged || cnierror.IsFailedDel(e.Message)) && !yield(e) {
				return
			}
		}
		if !p.Sees(pod.Node, model.FailedDels) {
			return
		}
		dels := p.FailedDelsOn(pod.Node)
		for i := range dels {
			if e := withoutEvent(p, &dels[i]); e != nil && e.UID == pod.UID && !yield(e) {
				return
			}
		}
	}
}

// sandboxChanged is what the kubelet says whenever it is about to remove a sandbox and to make
// another: after a failed ADD again and again, as long as the removal fails too.
const sandboxChanged = "SandboxChanged"

// addFailure adds what Events say of a pod's ADDs, if they have failed long enough and still do.
func addFailure(p *Pass, pod *model.Pod, all *[]*failingAdds) {
	var first, last *model.Event // that say why
	var still model.Time
	tries := 0
	for e := range attempts(p, pod) {
		tries, still = tries+e.Count, max(still, e.Last)
		if e.Reason == sandboxChanged {
			continue
		}
		if first == nil || e.First < first.First {
			first = e
		}
		if last == nil || e.Last > last.Last {
			last = e
		}
	}
	if first == nil || tries < addTries {
		return
	}
	now := p.Now
	if m := p.MachineOf(pod.Node); m != nil {
		now = now.Add(time.Duration(m.Ahead) * time.Second) // Events have the kubelet's time
	}
	lasted := still.Sub(first.First)
	span, fresh := addSpan, addFresh
	if _, seen := running(p, pod); !seen && pod.Phase == model.Running {
		span, fresh = addSpanBlind, addFreshBlind
	}
	if lasted < span || lasted > time.Duration(tries)*addRare || now.Sub(still) > fresh {
		return
	}
	words := cnierror.OwnWords(last.Message)
	cause := cnierror.CauseOf(words)
	if !cnierror.OfCalico(last.Message) {
		cause.Do = ""
	}
	words = plain(words, maxError)
	for _, a := range *all {
		if a.cause.Says == cause.Says && (cause.Says != "" || a.words == words) {
			a.pods, a.first = append(a.pods, pod.Ref()), min(a.first, first.First)
			if last.Last > a.last {
				a.last, a.words = last.Last, words
			}
			return
		}
	}
	*all = append(*all, &failingAdds{cause: cause, words: words, pods: []model.Ref{pod.Ref()}, first: first.First, last: last.Last})
}
