//go:build e2e

package machines

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// TestEncapsulation: two machines whose pods talk through IPIP, then through WireGuard too, then without
// encapsulation: only what does not reach them is found, and status and explain node name what
// carries the traffic. The namespace node has neither IPIP nor WireGuard, so it is cut off.
func TestEncapsulation(t *testing.T) {
	b := start(t, 2)
	b.clean()
	b.configure("ippool", "default-ipv4-ippool", `{"spec":{"vxlanMode":"Never","ipipMode":"Always"}}`)
	b.configure("felixconfiguration", "default", `{"spec":{"programClusterRoutes":"Enabled"}}`)
	machines := b.nodes[1:]
	far := b.pods[machines[1].Name].Status.PodIP
	apart := "PL3007/" + b.nodes[0].Name
	b.routed(machines[0].Name, far, "dev tunl0")
	b.between()
	b.finds(apart)
	b.blackhole(machines[0], far, apart)
	b.tables()
	b.named("status", "IPIP,")
	b.named("explain node "+machines[0].Name, "Tunnel   ipip ")

	b.configure("felixconfiguration", "default", `{"spec":{"wireguardEnabled":true}}`)
	b.routed(machines[0].Name, far, "dev wireguard.cali")
	b.between()
	b.finds(apart)
	b.tables()
	b.named("status", "Encryption", "WireGuard on 2 of 3 nodes")
	b.named("explain node "+machines[0].Name, "Tunnel   wireguard ")

	b.configure("felixconfiguration", "default", `{"spec":{"wireguardEnabled":false}}`)
	b.configure("ippool", "default-ipv4-ippool", `{"spec":{"vxlanMode":"Never","ipipMode":"Never"}}`)
	b.routed(machines[0].Name, far, "via "+machines[1].Addr().String())
	b.between()
	b.finds()
	b.blackhole(machines[0], far)
}

// finds requires these findings, and no others.
func (b *bench) finds(want ...string) {
	b.t.Helper()
	b.eventually("check", 3*time.Minute, func(ctx context.Context) error {
		r, err := stage.CheckWith(ctx, b.Lab, b.bin, b.state, "--wait", "--settle=5s")
		if err != nil {
			return err
		}
		return stage.Expect(slices.Equal(r.Names(), slices.Sorted(slices.Values(want))), "findings %q, got %q", want, r.Names())
	})
	b.t.Logf("check reports %q", want)
}

// blackhole puts one in front of the way to a pod of another machine, which Felix leaves alone.
func (b *bench) blackhole(n *lab.Node, ip string, others ...string) {
	b.t.Helper()
	if _, err := n.Exec(b.t.Context(), "ip", "route", "add", "blackhole", ip+"/32"); err != nil {
		b.t.Fatal(err)
	}
	if out, err := b.stage().GetFrom(b.t.Context(), "on-"+n.Name, ip); err == nil {
		b.t.Errorf("an answer through a blackhole: %q", out)
	}
	b.finds(append([]string{"PL3007/" + n.Name}, others...)...)
	if _, err := n.Exec(b.t.Context(), "ip", "route", "del", "blackhole", ip+"/32"); err != nil {
		b.t.Fatal(err)
	}
	b.between()
	b.finds(others...)
}

// configure patches an object of Calico.
func (b *bench) configure(kind, name, patch string) {
	b.t.Helper()
	b.eventually("patch "+kind, 30*time.Second, func(ctx context.Context) error {
		_, err := b.Calicoctl(ctx, "patch", kind, name, "-p", patch)
		return err
	})
}

// routed waits until a node's route to an address is by a device or next hop.
func (b *bench) routed(node, ip, by string) {
	b.t.Helper()
	for _, n := range b.nodes {
		if n.Name != node {
			continue
		}
		b.eventually(by+" on "+node, 2*time.Minute, func(ctx context.Context) error {
			out, err := n.Exec(ctx, "ip", "route", "get", ip)
			if err != nil {
				return err
			}
			return stage.Expect(strings.Contains(out, by+" "), "a route %s, got %s", by, out)
		})
	}
}

// between requires that the pods of the machines reach each other. A namespace node has
// neither IPIP nor WireGuard.
func (b *bench) between() {
	b.t.Helper()
	machines := b.nodes[1:]
	for _, from := range machines {
		for _, to := range machines {
			b.eventually("HTTP from "+from.Name+" to "+to.Name, time.Minute, func(ctx context.Context) error {
				out, err := b.stage().GetFrom(ctx, "on-"+from.Name, b.pods[to.Name].Status.PodIP)
				if err != nil {
					return err
				}
				return stage.Expect(strings.HasPrefix(out, "host=on-"+to.Name+" "), "an answer, got %q", out)
			})
		}
	}
}

// named requires that a command prints all of the texts.
func (b *bench) named(command string, texts ...string) {
	b.t.Helper()
	out, diag, err := b.said(strings.Fields(command)...)
	for _, text := range texts {
		if err != nil || !strings.Contains(out, text) {
			b.t.Errorf("%s does not print %q: %v\n%s%s", command, text, err, out, diag)
		}
	}
}
