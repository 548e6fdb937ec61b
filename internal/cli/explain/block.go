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

// explainBlock draws a block: one sign for each address.
func explainBlock(ctx context.Context, sess *term.Session, cidr netip.Prefix, f flags) error {
	within := func(x *finding.Finding) bool {
		for _, r := range x.About {
			a, err := netip.ParseAddr(r.Name)
			if (err == nil && cidr.Contains(a)) || r.Name == cidr.String() {
				return true
			}
		}
		return false
	}
	r, err := check(ctx, sess, f, within)
	if err != nil {
		return err
	}
	b := r.View.BlockAt(cidr)
	if b == nil {
		return fmt.Errorf("block %s does not exist", cidr)
	}
	if term.IsDocument(f.output) {
		return printReport(sess, r, "BlockExplanation", f.output)
	}
	blockText(sess, r, b)
	return nil
}

func blockText(sess *term.Session, r *audit.Report, b *model.Block) {
	cols := sess.Width()
	sess.PrintLines(cols, fmt.Sprintf("%s  affine %s  %d allocated, %d free; %s", b.CIDR, plain.Dash(b.Node()), len(b.Held), len(b.Free), plain.Count(len(r.Findings)+len(r.Unconfirmed), "finding")))
	signs := blockSigns(r, b)
	legend := []string{"U allocated, in use", "L allocated, not used", "! in use, free in IPAM", "T tunnel, service or reserved", ". free"}
	sess.PrintLines(cols, "       0 1 2 3  4 5 6 7  8 9 a b  c d e f")
	for from := 0; from < len(signs); from += 16 {
		var row strings.Builder
		for i := from; i < min(from+16, len(signs)); i++ {
			if i > from && i%4 == 0 {
				row.WriteByte(' ')
			}
			row.WriteByte(signs[i])
			row.WriteByte(' ')
		}
		text := fmt.Sprintf("%5s  %-37s", fmt.Sprintf("+%d", from), row.String())
		if n := from / 16; n < len(legend) {
			text += " " + legend[n]
		}
		sess.PrintLines(cols, strings.TrimRight(text, " "))
	}
	for i := (len(signs) + 15) / 16; i < len(legend); i++ {
		sess.PrintLines(cols, strings.Repeat(" ", 45)+legend[i])
	}
	findingLines(sess, r)
}

// blockSigns judges each address of the block with one letter.
func blockSigns(r *audit.Report, b *model.Block) []byte {
	v := r.View
	signs := make([]byte, model.Size(b.CIDR, 1<<12))
	for i := range signs {
		ip := model.Offset(b.CIDR, int32(i))
		signs[i] = '.'
		used := false
		for range v.PodsWith(ip) {
			used = true
		}
		held := false
		for a := range v.AllocationsOf(ip) {
			held = true
			at := v.AttributeOf(a)
			switch {
			case used:
				signs[i] = 'U'
			case at != nil && (at.Tunnel() || at.Service != "" || at.Cooling || at.Handle == model.WindowsHandle):
				signs[i] = 'T'
			default:
				signs[i] = 'L'
			}
		}
		if used && !held {
			signs[i] = '!'
		}
	}
	return signs
}
