package repair

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strings"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// A planSelection is what to plan: by flags, by keys of findings, or blocks to rebuild.
type planSelection struct {
	planFlags
	keys   []string       // empty: all findings
	blocks []netip.Prefix // of a rebuild; empty: all blocks
}

// selectPlan reads arguments and flags, before the cluster is read.
func selectPlan(sess *term.Session, args []string, f planFlags) (planSelection, error) {
	s := planSelection{planFlags: f}
	switch {
	case sess.Bundle == "":
	case f.save != "":
		return s, errors.New("--save: not with --bundle: plan on the live cluster what is to be applied")
	case term.IsDocument(f.output):
		return s, errors.New("-o " + f.output + ": not with --bundle: a plan of a bundle is only shown; plan on the live cluster what is to be applied")
	}
	if err := validReason(f.acceptVersion); err != nil {
		return s, err
	}
	var err error
	if s.keys, s.blocks, err = planArgs(args, f.rebuild); err != nil {
		return s, err
	}
	for _, code := range f.codes {
		if detect.ByCode(finding.Code(strings.ToUpper(code))) == nil {
			return s, fmt.Errorf("--code %s: no such code", code)
		}
	}
	if st, err := os.Stat(f.save); err == nil && st.IsDir() {
		return s, fmt.Errorf("--save %s: is a directory", f.save)
	}
	return s, nil
}

// maxReason bounds what a user writes into a plan.
const maxReason = 200

// validReason checks why a version of Calico is accepted; empty: none is.
func validReason(text string) error {
	switch {
	case text != "" && strings.TrimSpace(text) == "":
		return errors.New("--accept-version: give a reason")
	case len(text) > maxReason:
		return fmt.Errorf("--accept-version: at most %d characters", maxReason)
	}
	return nil
}

// planArgs reads what is named: findings, or blocks to rebuild.
func planArgs(args []string, rebuild bool) (keys []string, blocks []netip.Prefix, err error) {
	for _, a := range args {
		if !rebuild {
			key, ok := finding.ParseKey(a)
			code, known := finding.ParseCode(string(key.Code))
			if !ok || !known {
				return nil, nil, fmt.Errorf("%q is not a finding: pass one as check shows it, such as PL2001/shop/db-0", a)
			}
			keys = append(keys, finding.KeyOf(code, key.Name))
			continue
		}
		p, err := netip.ParsePrefix(a)
		if err != nil {
			return nil, nil, fmt.Errorf("--rebuild: %q is not a block: pass its CIDR, such as 10.244.8.0/26", a)
		}
		blocks = append(blocks, p.Masked())
	}
	return keys, blocks, nil
}

// blocksOf are those that belong to a node.
func blocksOf(v *model.View, node string) []netip.Prefix {
	var out []netip.Prefix
	for i := range int32(v.Rows(model.Blocks)) {
		if b := v.Block(i); b.Node() != "" && v.SameNode(b.Node(), node) {
			out = append(out, b.CIDR)
		}
	}
	return out
}
