package detect

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// Evidence about containers, processes and mounts. Counters and latencies are left out:
// they change by themselves.

// plain makes one line of a text from another system: only printable characters (no
// terminal control sequences), at most n of them.
func plain(text string, n int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(text, ""))
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return text
}

const (
	maxReason = 120 // characters of an error from another system
	maxName   = 80  // characters of the name of a process, a mount, a server
)

// first8 is the short form of a container ID.
func first8(id string) string { return plain(id[:min(len(id), 8)], 8) }

func sandboxFact(s *model.Sandbox) finding.Evidence {
	state := "not ready"
	if s.Ready {
		state = "ready"
	}
	return finding.Evidence{Ref: s.Ref(), Says: fmt.Sprintf("%s, of pod %s/%s with uid %s", state, plain(s.Namespace, maxName), plain(s.Pod, maxName), plain(s.UID, maxName)), Since: s.Since}
}

func containerFact(c *model.Container) finding.Evidence {
	return finding.Evidence{Ref: c.Ref(), Says: fmt.Sprintf("%s is %s", plain(c.Name, maxName), plain(c.State, maxName)), Since: c.Since}
}

// named is a process as summaries show it: NAME (PID).
func named(pr *model.Process) string { return fmt.Sprintf("%s (%d)", plain(pr.Name, maxName), pr.PID) }

// cannotEnd reports whether a process keeps its container from ending. A zombie without
// threads that is not the first process of its container only waits to be reaped: that is
// common and holds nothing.
func cannotEnd(pr *model.Process) bool {
	return pr.Why == "unkillable" || pr.Why == "zombie" && (pr.Init || len(pr.Threads) > 0)
}

// hangs returns the thread in state D, which no signal reaches; its Waits is the kernel
// function that it waits in.
func hangs(pr *model.Process) (model.Thread, bool) {
	for _, t := range pr.Threads {
		if t.State == "D" {
			return t, true
		}
	}
	return model.Thread{TID: pr.PID, State: pr.State, Waits: pr.Waits}, pr.State == "D"
}

// condition describes what is wrong with a process.
func condition(pr *model.Process) string {
	t, stuck := hangs(pr)
	switch {
	case stuck && t.TID == pr.PID:
		return "is in state D"
	case stuck && pr.State == "Z":
		return fmt.Sprintf("leader is a zombie, thread %d is in state D", t.TID)
	case stuck:
		return fmt.Sprintf("thread %d is in state D", t.TID)
	case pr.State == "Z" && len(pr.Threads) > 0:
		return fmt.Sprintf("leader is a zombie, thread %d still runs", pr.Threads[0].TID)
	case pr.State == "Z":
		return "is a zombie that nothing reaps"
	default:
		return "cannot be killed"
	}
}

// processFacts are the state of a process and the kernel function that it waits in.
func processFacts(pr *model.Process) []finding.Evidence {
	out := []finding.Evidence{{Ref: pr.Ref(), Says: plain(pr.Name, maxName) + ": " + condition(pr), Since: pr.Since}}
	if t, stuck := hangs(pr); stuck && t.Waits != "" {
		out = append(out, finding.Evidence{Ref: pr.Ref(), Says: "waits in " + plain(t.Waits, maxName), Since: pr.Since})
	}
	return out
}

// mounted names a mount: by its source, or by its target if the source has no name.
func mounted(m *model.Mount) string {
	_, what, _ := strings.Cut(m.Ref().Name, "/")
	return plain(what, maxName)
}

// mountFacts are that a mount does not answer, and its server. How this was detected
// differs from read to read and is left out.
func mountFacts(m *model.Mount) []finding.Evidence {
	says := fmt.Sprintf("%s at %s does not answer", plain(m.Type, maxName), plain(m.Target, 2*maxName))
	out := []finding.Evidence{{Ref: m.Ref(), Says: says, Since: m.Since}}
	if m.Server != "" {
		out = append(out, finding.Evidence{Ref: m.Ref(), Says: "its server is " + plain(m.Server, maxName), Since: m.Since})
	}
	return out
}

// usersOf returns the pods that use a file system on a node, through any of its mounts, and
// the number of further UIDs that are no pod of this node in Kubernetes.
func usersOf(p *Pass, m *model.Mount) (pods []*model.Pod, gone int) {
	uids := slices.Clone(m.Pods)
	if m.Device != "" {
		for other := range p.MountsOn(m.Node, m.Device) {
			uids = append(uids, other.Pods...)
		}
	}
	slices.Sort(uids)
	for _, uid := range slices.Compact(uids) {
		if pod := podOn(p, m.Node, uid); pod != nil {
			pods = append(pods, pod)
		} else {
			gone++
		}
	}
	return pods, gone
}

func podNames(pods []*model.Pod) []string {
	var out []string
	for _, pod := range pods {
		out = append(out, pod.Namespace+"/"+pod.Name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func podRefs(pods []*model.Pod) []model.Ref {
	var out []model.Ref
	for _, pod := range pods {
		out = append(out, pod.Ref())
	}
	return out
}

// podOn finds a pod by UID, only if it is bound to this node: a node is no source for the
// pods of another node.
func podOn(p *Pass, node, uid string) *model.Pod {
	if pod := p.PodByUID(uid); uid != "" && pod != nil && pod.Node == node {
		return pod
	}
	return nil
}

// identities are the UIDs that a node may use for a pod: its own, and that of its static pod.
func identities(pod *model.Pod) []string {
	return slices.DeleteFunc([]string{pod.UID, pod.Static}, func(s string) bool { return s == "" })
}
