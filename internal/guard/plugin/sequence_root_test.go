package plugin

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

func (s *sequence) ask(verb string, b *sandbox, more ...string) said {
	got := s.call(verb, b.id, append([]string{
		"CNI_NETNS=" + b.netns, "CNI_ARGS=IgnoreUnknown=1;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=" + b.pod,
	}, more...)...)
	s.said = append(s.said, fmt.Sprintf("%s %s (%s) %v: %d %.300s", verb, b.id, b.pod, more, got.code, got.out))
	return got
}

func (s *sequence) step() {
	if len(s.all) == 0 || s.r.IntN(3) == 0 {
		s.add()
		return
	}
	b := s.all[s.r.IntN(len(s.all))]
	switch s.r.IntN(9) {
	case 0: // killed before the delegate was called
		s.ask("DEL", b, "TEST_BREAK=decided:kill")
	case 1: // killed after
		s.ask("DEL", b, "TEST_BREAK=answered:kill")
		b.held = false
	case 2:
		if _, err := os.Stat(b.netns); err == nil {
			unpin(s.t, b.netns)
			s.said = append(s.said, "the namespace of "+b.id+" ends")
		}
	case 3:
		s.both(b)
	case 4:
		s.look(b)
	case 5:
		s.stopped(b)
	default:
		if got := s.ask("DEL", b); got.code != 0 {
			s.fail("DEL of %s was refused", b.id)
		}
		b.held = false
	}
}

func (s *sequence) add() {
	b := &sandbox{id: fmt.Sprintf("%s-c%d", s.net, len(s.all)), pod: fmt.Sprint("web-", s.r.IntN(2))}
	b.netns = pin(s.t, b.id)
	s.all = append(s.all, b)
	switch s.r.IntN(6) {
	case 0:
		s.ask("ADD", b, "TEST_BREAK=intended:kill")
	case 1:
		s.ask("ADD", b, "TEST_BREAK=answered:kill")
		b.held = true
	case 2: // it fails: there is no such namespace
		path := b.netns
		b.netns += "-not"
		if got := s.ask("ADD", b); got.code == 0 {
			s.fail("an ADD to no namespace succeeded")
		}
		b.netns = path
	default:
		got := s.ask("ADD", b)
		if got.code != 0 {
			s.fail("ADD of %s failed", b.id)
		}
		b.held, b.result = true, got.out
	}
}

// look asks what must change nothing.
func (s *sequence) look(b *sandbox) {
	verb := []string{"CHECK", "STATUS", "VERSION", "GC"}[s.r.IntN(4)]
	if verb == "GC" { // all are valid
		var valid []any
		for _, o := range s.all {
			valid = append(valid, map[string]any{"containerID": o.id, "ifname": "eth0"})
		}
		s.conf["cni.dev/valid-attachments"] = valid
	}
	if b.result != "" {
		s.conf["prevResult"] = json.RawMessage(b.result)
	}
	got := s.ask(verb, b)
	delete(s.conf, "cni.dev/valid-attachments")
	delete(s.conf, "prevResult")
	_, err := os.Stat(b.netns)
	if checked := verb == "CHECK" && s.conf["cniVersion"] != "0.3.1"; checked && b.result != "" && (got.code == 0) != (b.held && err == nil) {
		s.fail("CHECK of %s, held %v", b.id, b.held)
	}
}

// stopped is a DEL that is killed with all that it runs, in the middle: nobody knows how
// far it came. Another one comes to the end.
func (s *sequence) stopped(b *sandbox) {
	cmd := s.command("DEL", b.id, "CNI_NETNS="+b.netns, "CNI_ARGS=IgnoreUnknown=1;K8S_POD_NAMESPACE=ns;K8S_POD_NAME="+b.pod)
	must(s.t, cmd.Start())
	time.Sleep(time.Duration(s.r.IntN(30)) * time.Millisecond)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	s.said = append(s.said, "DEL "+b.id+" is killed")
	if got := s.ask("DEL", b); got.code != 0 {
		s.fail("DEL of %s was refused", b.id)
	}
	b.held = false
}

// both runs an ADD and a DEL of one new sandbox at once. Whatever came first, one more
// DEL leaves nothing.
func (s *sequence) both(old *sandbox) {
	b := &sandbox{id: fmt.Sprintf("%s-c%d", s.net, len(s.all)), pod: old.pod}
	b.netns = pin(s.t, b.id)
	s.all = append(s.all, b)
	done := make(chan said)
	go func() { done <- s.call("ADD", b.id, "CNI_NETNS="+b.netns) }()
	s.ask("DEL", b)
	<-done
	if got := s.ask("DEL", b); got.code != 0 {
		s.fail("DEL of %s was refused", b.id)
	}
}
