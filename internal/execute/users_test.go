package execute

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair/change"
)

// Whatever the nodes said: a node that the index leaves out cannot contradict a proof.
func TestUsersLeaveOutNobody(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	one := func(n int) string { return fmt.Sprint("c", random.IntN(n)) }
	ip := func() netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 0, byte(random.IntN(40))}) }
	some := func(n int, add func()) {
		for range random.IntN(n) {
			add()
		}
	}
	contradicted, left := 0, 0
	for range 2000 {
		said := map[string]*model.Verification{}
		var nodes []string
		for i := range 8 {
			n := fmt.Sprint("n", i)
			nodes = append(nodes, n)
			w := &model.Verification{Node: n, Complete: random.IntN(10) > 0}
			some(3, func() {
				w.Attachments = append(w.Attachments, model.Attachment{Sandbox: one(30), IPs: []netip.Prefix{netip.PrefixFrom(ip(), 32)}})
			})
			some(3, func() { w.Sandboxes = append(w.Sandboxes, model.Sandbox{ID: one(30), Ready: random.IntN(2) == 0}) })
			some(3, func() {
				w.Results = append(w.Results, model.CNIResult{Container: one(30), IPs: []netip.Prefix{netip.PrefixFrom(ip(), 32)}})
			})
			some(2, func() { w.Links = append(w.Links, model.Link{IPs: []netip.Prefix{netip.PrefixFrom(ip(), 32)}}) })
			if random.IntN(10) == 0 {
				w.Calls = append(w.Calls, model.Process{CNI: one(30)})
			}
			if random.IntN(10) > 0 {
				said[n] = w
			}
		}
		d := &change.NotInUse{All: true, Calm: random.IntN(5) == 0}
		some(3, func() { d.Containers = append(d.Containers, one(30)) })
		some(3, func() { d.IPs = append(d.IPs, ip()) })
		some(2, func() { d.Except = append(d.Except, one(30)) })
		concerned := usersOf(nodes, func(n string) *model.Verification { return said[n] }).of(d.Containers, d.IPs)
		for _, n := range nodes {
			why := "no answer"
			if w := said[n]; w != nil {
				why, _ = d.Against(w)
			}
			switch in := slices.Contains(concerned, n); {
			case why != "" && !in:
				t.Fatalf("%s contradicts (%s) and is left out: %+v, %+v", n, why, d, said[n])
			case why != "":
				contradicted++
			case !in:
				left++
			}
		}
	}
	if contradicted < 1000 || left < 1000 {
		t.Errorf("%d contradict, %d are left out: the test shows nothing", contradicted, left)
	}
}
