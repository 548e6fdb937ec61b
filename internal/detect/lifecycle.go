package detect

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// What the runtime and the kernel say of containers, processes and mounts. Counters and
// latencies are left out: they move by themselves.

// plain makes one line of a text that others wrote: nothing that steers a terminal, and
// no more than n characters.
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
	maxReason = 120 // of an error that others wrote
	maxName   = 80  // of a process, a mount, a server
)

// first8 are the digits by which a person tells container IDs apart.
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

// named is what a person calls a process.
func named(pr *model.Process) string { return fmt.Sprintf("%s (%d)", plain(pr.Name, maxName), pr.PID) }

// cannotEnd tells that a process holds its container. A zombie without threads that is
// not the first of its container is only waiting to be collected: that is common and
// holds nothing.
func cannotEnd(pr *model.Process) bool {
	return pr.Why == "unkillable" || pr.Why == "zombie" && (pr.Init || len(pr.Threads) > 0)
}

// hangs gives the thread that no signal reaches, and the kernel function that it waits in.
func hangs(pr *model.Process) (model.Thread, bool) {
	for _, t := range pr.Threads {
		if t.State == "D" {
			return t, true
		}
	}
	return model.Thread{TID: pr.PID, State: pr.State, Waits: pr.Waits}, pr.State == "D"
}

// condition says what is wrong with a process.
func condition(pr *model.Process) string {
	t, stuck := hangs(pr)
	switch {
	case stuck && t.TID == pr.PID:
		return "is in D"
	case stuck && pr.State == "Z":
		return fmt.Sprintf("leader is a zombie, thread %d is in D", t.TID)
	case stuck:
		return fmt.Sprintf("thread %d is in D", t.TID)
	case pr.State == "Z" && len(pr.Threads) > 0:
		return fmt.Sprintf("leader is a zombie, thread %d lives on", pr.Threads[0].TID)
	case pr.State == "Z":
		return "is a zombie that nobody collects"
	default:
		return "cannot be killed"
	}
}

// processFacts are what a process is in, and what it waits for.
func processFacts(pr *model.Process) []finding.Evidence {
	out := []finding.Evidence{{Ref: pr.Ref(), Says: plain(pr.Name, maxName) + ": " + condition(pr), Since: pr.Since}}
	if t, stuck := hangs(pr); stuck && t.Waits != "" {
		out = append(out, finding.Evidence{Ref: pr.Ref(), Says: "waits in " + plain(t.Waits, maxName), Since: pr.Since})
	}
	return out
}

// mounted is what a person calls a mount: what is mounted, and if that has no name, where.
func mounted(m *model.Mount) string {
	_, what, _ := strings.Cut(m.Ref().Name, "/")
	return plain(what, maxName)
}

// mountFacts are that a mount is silent, and who should answer. How that was found out
// differs from look to look, and is no part of it.
func mountFacts(m *model.Mount) []finding.Evidence {
	says := fmt.Sprintf("%s at %s does not answer", plain(m.Type, maxName), plain(m.Target, 2*maxName))
	out := []finding.Evidence{{Ref: m.Ref(), Says: says, Since: m.Since}}
	if m.Server != "" {
		out = append(out, finding.Evidence{Ref: m.Ref(), Says: "its server is " + plain(m.Server, maxName), Since: m.Since})
	}
	return out
}

// usersOf gives the pods that use a file system on a node, through whichever of its
// mounts, and how many more are not known to Kubernetes.
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

// podOn finds a pod by what its own node calls it: of another node's pod no node speaks.
func podOn(p *Pass, node, uid string) *model.Pod {
	if pod := p.PodByUID(uid); uid != "" && pod != nil && pod.Node == node {
		return pod
	}
	return nil
}

// identities are the UIDs under which a node knows a pod.
func identities(pod *model.Pod) []string {
	return slices.DeleteFunc([]string{pod.UID, pod.Static}, func(s string) bool { return s == "" })
}
