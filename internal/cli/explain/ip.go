package explain

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/plain"
)

// explainIP shows who claims an address.
func explainIP(ctx context.Context, sess *term.Session, ip netip.Addr, f flags) error {
	u, done, err := openScoped(ctx, sess)
	if err != nil {
		return err
	}
	defer done()
	if err := u.Address(ctx, ip); err != nil {
		return err
	}
	r := u.Judge(ctx, f.settle, "", model.Ref{Kind: model.KindAddress, Name: ip.String()})
	if term.IsDocument(f.output) {
		return printReport(sess, r, "AddressExplanation", f.output)
	}
	ipText(sess, r, ip)
	if len(r.Findings)+len(r.Unconfirmed) == 0 {
		return nil
	}
	for _, node := range holders(r.View, ip) {
		routeLines(ctx, sess, u, node, []netip.Addr{ip})
	}
	return nil
}

func ipText(sess *term.Session, r *audit.Report, ip netip.Addr) {
	v := r.View
	cols := sess.Width()
	rows := [][]string{{"CLAIM", "NODE", "STATE", "BY"}}
	agents := v.Agents()
	if agents {
		rows[0] = []string{"CLAIM", "NODE", "STATE", "DEVICE", "ETH0", "ROUTE", "NEIGH"}
	}
	running := 0
	for c := range v.Claims(ip) {
		switch c.By {
		case model.BySandbox: // node state behind a pod's claim; shown with it
			if row, alone := sandboxClaim(v, c, ip); alone {
				running++
				rows = append(rows, row)
			}
		case model.ByPod:
			p := v.Pod(c.Row)
			running++
			more := []string{by(p, ip)}
			if agents {
				more = factsOf(v, p, ip)
			}
			rows = append(rows, append([]string{p.Namespace + "/" + p.Name, plain.Dash(p.Node), string(p.Phase)}, more...))
		case model.ByEndpoint:
			e := v.Endpoint(c.Row)
			state := "endpoint"
			if v.PodByName(e.Namespace, e.Pod) == nil {
				state = "NO POD"
			}
			rows = append(rows, claimRow(agents, e.Namespace+"/"+e.Pod, e.Node, state, "endpoint"))
		case model.ByTunnel:
			running++
			rows = append(rows, claimRow(agents, "a tunnel", v.Node(c.Row).Name, "-", "node"))
		case model.ByService:
			s := v.Service(c.Row)
			running++
			rows = append(rows, claimRow(agents, s.Namespace+"/"+s.Name, "-", "service", "status"))
		}
	}
	says, detail := ipamText(v, ip)
	sess.PrintLines(cols, fmt.Sprintf("%s has %s, %d in use; IPAM: %s", ip, plain.Count(len(rows)-1, "claim"), running, says))
	if len(rows) > 1 {
		sess.PrintTable(cols, rows)
		if agents {
			sess.PrintLines(cols, "ETH0: the pod's interface has it. HERE: its node sends packets to this device.")
		}
	}
	sess.PrintLines(cols, detail)
	findingLines(sess, r)
}

// claimRow is of one that no device stands for.
func claimRow(agents bool, name, node, state, by string) []string {
	if agents {
		if state == "-" {
			state = by
		}
		return []string{name, node, state, "-", "-", "-", "-"}
	}
	return []string{name, node, state, by}
}

func by(p *model.Pod, ip netip.Addr) string {
	switch status, note := slices.Contains(p.IPs, ip), slices.Contains(p.Annotated, ip); {
	case status && note:
		return "status, annotation"
	case note:
		return "annotation only"
	default:
		return "status"
	}
}

func ipamText(v *model.View, ip netip.Addr) (says, detail string) {
	for b := range v.BlocksWith(ip) {
		detail = fmt.Sprintf("Block    %s affine %s: %d allocated, %d free", b.CIDR, plain.Dash(b.Node()), len(b.Held), len(b.Free))
		for a := range v.AllocationsOf(ip) {
			at := v.AttributeOf(a)
			switch {
			case at == nil:
				return "allocated, owner unreadable", detail
			case at.Pod != "":
				return fmt.Sprintf("allocated to %s/%s on %s", at.Namespace, at.Pod, at.Node), detail
			default:
				return "allocated to " + plain.ShortIDs(at.Handle), detail
			}
		}
		return "FREE", detail
	}
	if p := v.PoolWith(ip); p != nil {
		return "no block", "Pool     " + p.Name + " " + p.CIDR.String()
	}
	return "not in any pool", "Pool     no IPPool contains it"
}
