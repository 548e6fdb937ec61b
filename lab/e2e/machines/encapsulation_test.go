//go:build e2e

package machines

import (
	"context"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab/stage"
)

// TestEncapsulation: two machines whose pods talk through IPIP, then through WireGuard too:
// nothing is found, and status and explain node name what carries the traffic.
func TestEncapsulation(t *testing.T) {
	b := start(t, 2)
	b.clean()
	b.configure("ippool", "default-ipv4-ippool", `{"spec":{"vxlanMode":"Never","ipipMode":"Always"}}`)
	b.configure("felixconfiguration", "default", `{"spec":{"programClusterRoutes":"Enabled"}}`)
	machines := b.nodes[1:]
	b.routed(machines[0].Name, b.pods[machines[1].Name].Status.PodIP, "tunl0")
	b.between()
	b.clean()
	b.tables()
	b.named("status", "IPIP,")
	b.named("explain node "+machines[0].Name, "Tunnel   ipip ")

	b.configure("felixconfiguration", "default", `{"spec":{"wireguardEnabled":true}}`)
	b.routed(machines[0].Name, b.pods[machines[1].Name].Status.PodIP, "wireguard.cali")
	b.between()
	b.clean()
	b.tables()
	b.named("status", "Encryption", "WireGuard on 2 of 3 nodes")
	b.named("explain node "+machines[0].Name, "Tunnel   wireguard ")
}

// configure patches an object of Calico.
func (b *bench) configure(kind, name, patch string) {
	b.t.Helper()
	b.eventually("patch "+kind, 30*time.Second, func(ctx context.Context) error {
		_, err := b.Calicoctl(ctx, "patch", kind, name, "-p", patch)
		return err
	})
}

// routed waits until a node's traffic to an address leaves by a device.
func (b *bench) routed(node, ip, dev string) {
	b.t.Helper()
	for _, n := range b.nodes {
		if n.Name != node {
			continue
		}
		b.eventually(dev+" on "+node, 2*time.Minute, func(ctx context.Context) error {
			out, err := n.Exec(ctx, "ip", "route", "get", ip)
			if err != nil {
				return err
			}
			return stage.Expect(strings.Contains(out, "dev "+dev+" "), "a route by %s, got %s", dev, out)
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
