package explain

import (
	"context"
	"fmt"
	"net/netip"
	"strings"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/plain"
)

// explainPod shows what each source says of a pod, side by side.
func explainPod(ctx context.Context, sess *term.Session, ns, name string, f flags) error {
	at := endAt
	if sess.Bundle != "" {
		at = endIn
	}
	e, done, err := at(ctx, sess, ns, name, f)
	if err != nil {
		return err
	}
	defer done()
	if err := seekCauses(ctx, sess, e.r, f.logs, e.ref.Name); err != nil {
		return err
	}
	switch {
	case term.IsDocument(f.output):
		return printReport(sess, e.r, "PodExplanation", f.output)
	case f.output == "svg", f.output == "html":
		return drawPod(sess, e.r, e.pod, f.output)
	}
	policies := ""
	if e.u != nil && !e.pod.HostNetwork && !e.pod.Finished() {
		policies = "Policies: " + policyLine(ctx, e.u, ns, name)
	}
	podText(sess, e.r, e.pod, e.claims, policies)
	if e.u != nil && len(e.r.Findings)+len(e.r.Unconfirmed) > 0 {
		routeLines(ctx, sess, e.u, e.pod.Node, e.claims)
	}
	return nil
}

// podText shows a row for each source, the policies, and the findings about the pod.
func podText(sess *term.Session, r *audit.Report, pod *model.Pod, ips []netip.Addr, policies string) {
	cols := sess.Width()
	rows := [][]string{
		{"SOURCE", "ADDRESS", "SANDBOX", "DEVICE", "AT"},
		{"kubernetes", list(pod.IPs), "-", "-", "rv " + pod.Revision},
	}
	if !r.Calico.Etcd {
		rows = append(rows, []string{"annotation", annotation(pod), plain.Dash(plain.ShortID(pod.ContainerID)), "-", "rv " + pod.Revision})
	} else {
		row := []string{"endpoint", "GONE", "GONE", "GONE", "-"}
		for e := range r.View.EndpointsOf(pod.Namespace, pod.Name) {
			row = []string{"endpoint", list(e.IPs) + onOther(e.Node, pod.Node), plain.Dash(plain.ShortID(e.ContainerID)), plain.Dash(e.Device), "etcd rev " + e.Revision}
		}
		rows = append(rows, row)
	}
	for _, ip := range ips {
		rows = append(rows, ipamRow(r.View, ip))
	}
	rows = append(rows, nodeRows(r.View, pod, ips)...)
	sess.PrintLines(cols, fmt.Sprintf("%s/%s on %s %s", pod.Namespace, pod.Name, plain.Dash(pod.Node), podVerdict(r, pod, rows)))
	sess.PrintTable(cols, rows)
	if policies != "" {
		sess.PrintLines(cols, policies)
	}
	for i := range r.Findings {
		if r.Findings[i].Code == finding.PL4001 && r.Findings[i].Subject == pod.Ref() {
			chain(sess, &r.Findings[i])
		}
	}
	findingLines(sess, r)
}

// chain shows what holds a pod, each reason below what it holds.
func chain(sess *term.Session, f *finding.Finding) {
	rows := [][]string{{"HELD BY", "WHICH IS", "SOURCE"}}
	for _, e := range f.Evidence {
		where := e.Ref.OnNode()
		if where == "" {
			where = "kubernetes"
		}
		rows = append(rows, []string{string(e.Ref.Kind), plain.ShortIDs(e.Says), where})
	}
	sess.PrintTable(sess.Width(), rows)
}

// podVerdict says in short how the pod is. It never says more than the findings and the table below it.
func podVerdict(r *audit.Report, pod *model.Pod, rows [][]string) string {
	for _, fs := range [][]finding.Finding{r.Findings, r.Unconfirmed} {
		for i := range fs {
			if f := &fs[i]; f.Severity != finding.Info {
				return fmt.Sprintf("%s: %s [%s]", strings.ToLower(string(pod.Phase)), f.Summary, f.State)
			}
		}
	}
	switch odd := oddCell(rows); {
	case pod.HostNetwork:
		return "uses the host network: Calico does not manage it"
	case pod.Finished():
		return "has finished and has no address"
	case !pod.Deleted.IsZero():
		return "is being deleted, and may take until " + plain.Stamp(pod.Deleted.Time())
	case len(pod.IPs) == 0:
		return "has no address yet"
	case odd != "":
		return "has no finding, although " + odd
	case r.View.Sees(pod.Node, model.Sandboxes, model.Attachments, model.Paths, model.Links):
		return "is consistent in all three sources"
	default:
		return "is consistent in Kubernetes and Calico (node state not checked)"
	}
}

// oddCell names the first cell of the table that says in capitals that something is missing.
func oddCell(rows [][]string) string {
	for _, row := range rows[1:] {
		for i, cell := range row[1:] {
			if cell != strings.ToLower(cell) && cell == strings.ToUpper(cell) {
				return fmt.Sprintf("%s says %s: %s", row[0], strings.ToLower(rows[0][i+1]), cell)
			}
		}
	}
	return ""
}

func ipamRow(v *model.View, ip netip.Addr) []string {
	for a := range v.AllocationsOf(ip) {
		b := v.BlockOf(a)
		sandbox := "-"
		if at := v.AttributeOf(a); at != nil && at.Handle != "" {
			sandbox = plain.ShortID(at.Handle[strings.LastIndexByte(at.Handle, '.')+1:])
		}
		return []string{"ipam", ip.String(), sandbox, "-", fmt.Sprintf("%s #%d", b.CIDR, a.Ordinal)}
	}
	for b := range v.BlocksWith(ip) {
		return []string{"ipam", "FREE", "-", "-", fmt.Sprintf("%s, %s", b.CIDR, ip)}
	}
	return []string{"ipam", "NO BLOCK", "-", "-", ip.String()}
}

func annotation(p *model.Pod) string {
	switch p.Annotation {
	case model.Absent:
		return "NONE"
	case model.Emptied:
		return "EMPTIED"
	case model.Garbled:
		return "UNREADABLE"
	default:
		return list(p.Annotated)
	}
}

func onOther(node, pods string) string {
	if node == pods {
		return ""
	}
	return " (on " + node + ")"
}

func list(ips []netip.Addr) string {
	var out []string
	for _, a := range ips {
		out = append(out, a.String())
	}
	return plain.Dash(strings.Join(out, ","))
}
