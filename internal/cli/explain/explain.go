// Package explain is the verb explain: a code, a finding, or one object as each source has it.
package explain

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/plain"
)

// flags say what to read and how to show it.
type flags struct {
	namespace string
	output    string
	settle    time.Duration
	logs      []string
	to        string
}

// Command is the command explain.
func Command(sess *term.Session) *cobra.Command {
	var f flags
	c := &cobra.Command{
		Use:   "explain CODE | FINDING | KIND NAME",
		Short: "Explain a code, a finding, or the state of one object in all sources",
		Long: "Explains a code, a finding, or an object as every source has it: pod NAME,\n" +
			"ip ADDRESS, node NAME, block CIDR, handle ID. Finds on which node something is,\n" +
			"and whose: device NAME, mac ADDRESS, sandbox ID, pid [NODE/]PID, volume SOURCE.",
		Example: fmt.Sprintf("  %[1]s explain PL1001\n  %[1]s explain PL2001/shop/db-0\n  %[1]s explain pod db-0 -n shop\n  %[1]s explain pod db-0 -n shop -o svg > db-0.svg    # a picture to post\n  %[1]s explain pod web -n shop --to db-0    # where packets between them end\n"+
			"  %[1]s explain ip 10.244.8.34\n  %[1]s explain block 10.244.8.0/26\n  %[1]s explain node w17\n"+
			"  %[1]s explain handle k8s-pod-network.94feeebc95fb…    # its addresses\n"+
			"  %[1]s explain device cali69de609d5af    # on which node it is, and whose\n  %[1]s explain mac b2:21:5b:82:e1:27\n  %[1]s explain sandbox 94feeebc95fb\n  %[1]s explain volume gluster1:/data    # who mounts it", sess.Program),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) > 2 {
				return fmt.Errorf("pass a code, a finding, or a kind and a name; see %s explain --help", sess.Program)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return run(cmd.Context(), sess, args, f) },
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return append(detect.Listed(), "pod\ta pod in all sources", "ip\tan address", "node\ta node", "block\tan IPAM block", "handle\tan IPAM handle", "device\tan interface", "mac\ta MAC address", "sandbox\ta sandbox or container", "pid\ta process", "volume\twho mounts a volume"), cobra.ShellCompDirectiveNoFileComp
		},
	}
	c.Flags().StringVarP(&f.namespace, "namespace", "n", "", "namespace of the pod")
	term.OutputFlag(c.Flags(), &f.output, "text", "wide", "json", "svg", "html")
	c.Flags().DurationVar(&f.settle, "settle", 0, "how long a difference must persist to be confirmed, instead of the time of its kind")
	c.Flags().StringVar(&f.to, "to", "", "of a pod: follow packets from it to this pod ([NAMESPACE/]NAME), and back")
	c.Flags().StringSliceVar(&f.logs, "logs", nil, "logs to search for the cause, instead of the agents' logs: file, directory, archive, or -")
	return c
}

func run(ctx context.Context, sess *term.Session, args []string, f flags) error {
	if drawn := f.output == "svg" || f.output == "html"; drawn && (f.to != "" || len(args) != 2 || !isPod(args[0])) {
		return fmt.Errorf("-o %s: only of a pod: explain pod NAME -o %s", f.output, f.output)
	}
	if len(args) == 1 {
		switch args[0] {
		case "pod", "pods", "po", "ip", "node", "nodes", "no", "block", "handle", "device", "mac", "sandbox", "pid", "volume":
			return fmt.Errorf("explain %s: name one", args[0])
		}
		if code, ok := finding.ParseCode(args[0]); ok {
			return explainCode(sess, code, f.output)
		}
		return explainFinding(ctx, sess, args[0], f)
	}
	kind, name := args[0], args[1]
	if f.to != "" && !isPod(kind) {
		return fmt.Errorf("--to follows packets between pods: explain pod NAME --to %s", f.to)
	}
	switch kind {
	case "pod", "pods", "po":
		ns, pod := sess.PodNamed(name, f.namespace)
		if f.to != "" {
			return explainTo(ctx, sess, ns, pod, f)
		}
		return explainPod(ctx, sess, ns, pod, f)
	case "ip":
		ip, err := netip.ParseAddr(name)
		if err != nil {
			return fmt.Errorf("explain ip %s: not an address", name)
		}
		return explainIP(ctx, sess, ip, f)
	case "node", "nodes", "no":
		return explainNode(ctx, sess, name, f)
	case "block":
		p, err := netip.ParsePrefix(name)
		if err != nil {
			return fmt.Errorf("explain block %s: not a block: pass its CIDR, such as 10.244.8.0/26", name)
		}
		return explainBlock(ctx, sess, p, f)
	case "handle":
		return explainHandle(ctx, sess, name, f)
	case "device", "mac", "sandbox", "pid", "volume":
		return explainWhere(ctx, sess, kind, name, f)
	default:
		return fmt.Errorf("explain %s: want pod, ip, node, block, handle, device, mac, sandbox, pid or volume", kind)
	}
}

func isPod(kind string) bool { return kind == "pod" || kind == "pods" || kind == "po" }

// A codePage is what explain CODE -o json prints.
type codePage struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Code       finding.Code `json:"code"`
	Text       string       `json:"text"` // Markdown
}

// explainCode shows the page of a code.
func explainCode(sess *term.Session, c finding.Code, output string) error {
	page, ok := detect.Page(c)
	if !ok {
		return fmt.Errorf("no code %s", c)
	}
	if term.IsDocument(output) {
		return sess.PrintDocument(codePage{cluster.APIVersion, "CodePage", c, page}, output)
	}
	_, err := fmt.Fprint(sess.Stdout, page)
	return err
}

// check checks everything and keeps the findings that are wanted; nil means all.
func check(ctx context.Context, sess *term.Session, f flags, want func(*finding.Finding) bool) (*audit.Report, error) {
	return sess.Check(ctx, audit.Options{Settle: f.settle, Detectors: detect.All, Keep: want}, "", "")
}

// openScoped opens the cluster for what surrounds one pod or address.
func openScoped(ctx context.Context, sess *term.Session) (*cluster.Scoped, func(), error) {
	if sess.Bundle != "" {
		return nil, nil, errors.New("--bundle: explain ip and explain pod --to read the cluster; of a bundle, explain a pod, a finding, a node or a block")
	}
	o, done := sess.Options()
	u, err := cluster.OpenScoped(ctx, o)
	if err != nil {
		done()
		return nil, nil, err
	}
	return u, func() { done(); u.Close() }, nil
}

// printReport prints the findings about an object as a document of this kind.
func printReport(sess *term.Session, r *audit.Report, kind, format string) error {
	doc := cluster.ReportOf(r)
	doc.Kind = kind
	return sess.PrintDocument(doc, format)
}

// nextOf says what to do about a finding.
func nextOf(sess *term.Session, f *finding.Finding) {
	switch {
	case sess.Bundle != "":
		sess.Next("explain %s", f.Code)
	case f.State == finding.Confirmed:
		sess.Next("plan %s", plain.Quoted(plain.ShortIDs(f.Key())))
	default:
		sess.Next("check --wait --code %s", f.Code)
	}
}

// findingLines lists the findings and ends in what to do next.
func findingLines(sess *term.Session, r *audit.Report) {
	cols := sess.Width()
	for _, fs := range [][]finding.Finding{r.Findings, r.Unconfirmed} {
		for i := range fs {
			f := &fs[i]
			text := fmt.Sprintf("Finding  %s [%s] %s", plain.ShortIDs(f.Key()), f.State, plain.ShortIDs(f.Summary))
			if len(f.Explains) > 0 {
				text += "; explains " + plain.ShortIDs(strings.Join(f.Explains, ", "))
			}
			sess.PrintLines(cols, text)
			causeLines(sess, f, cols)
		}
	}
	switch {
	case len(r.Findings) > 0:
		sess.Next("explain %s", plain.Quoted(plain.ShortIDs(r.Findings[0].Key())))
	case len(r.Unconfirmed) > 0:
		nextOf(sess, &r.Unconfirmed[0])
	default:
		sess.Next("check")
	}
}
