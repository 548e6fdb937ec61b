package ipamdiff_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/ipamdiff"
	"plumbline.dev/plumbline/internal/model"
)

// records makes a block from lines: ordinal and owner.
func records(state model.State, affinity string, owners ...string) *model.Snapshot {
	b := model.Block{CIDR: netip.MustParsePrefix("10.0.0.0/26"), Affinity: affinity, Length: 64}
	for i, line := range owners {
		f := strings.Fields(line)
		var ordinal int32
		_, _ = fmt.Sscan(f[0], &ordinal)
		at := model.Attribute{Handle: f[2], Node: f[3]}
		if ns, pod, ok := strings.Cut(f[1], "/"); ok {
			at.Namespace, at.Pod = ns, pod
		} else {
			at.Type = f[1]
		}
		b.Held, b.Attributes = append(b.Held, model.Slot{ordinal, int32(i)}), append(b.Attributes, at)
	}
	return &model.Snapshot{Blocks: []model.Block{b}, Coverage: []model.Coverage{{Table: model.Blocks, State: state}}}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	was := records(model.Complete, "host:a",
		"1 shop/stays h1 a", "2 shop/moves h2 a", "3 shop/ends h3 a", "4 shop/again h4 a", "5 vxlanTunnelAddress t a")
	is := records(model.Complete, "host:b",
		"1 shop/stays h1 a", "2 shop/other h9 b", "4 shop/again h44 a", "5 vxlanTunnelAddress t a", "6 shop/comes h6 a")
	is.Blocks = append(is.Blocks, model.Block{CIDR: netip.MustParsePrefix("10.0.0.64/26"), Affinity: "host:a", Length: 64})
	d := ipamdiff.Compare(model.Seal(was), model.Seal(is))
	var got []string
	for _, a := range d.Addresses {
		got = append(got, fmt.Sprintf("%s %s %s>%s", a.IP, a.What, a.Was.Name, a.Is.Name))
	}
	want := []string{"10.0.0.2 moved shop/moves>shop/other", "10.0.0.3 lost shop/ends>", "10.0.0.4 renewed shop/again>shop/again", "10.0.0.6 gained >shop/comes"}
	if !slices.Equal(got, want) || d.Same != 2 || d.Count(ipamdiff.Moved) != 1 {
		t.Errorf("%q, %d the same", got, d.Same)
	}
	if len(d.Blocks) != 2 || d.Blocks[0].What != ipamdiff.Moved || d.Blocks[0].Is != "b" || d.Blocks[1].What != ipamdiff.Gained {
		t.Errorf("%+v", d.Blocks)
	}
	// Back again, everything is the other way round.
	back := ipamdiff.Compare(model.Seal(is), model.Seal(was))
	if back.Count(ipamdiff.Lost) != d.Count(ipamdiff.Gained) || back.Count(ipamdiff.Gained) != d.Count(ipamdiff.Lost) || back.Same != d.Same {
		t.Errorf("%+v", back)
	}
}

// What was not read is not compared: nothing would look like nothing differs.
func TestNotRead(t *testing.T) {
	t.Parallel()
	whole, part := records(model.Complete, "host:a", "1 shop/a h a"), records(model.Partial, "host:a", "1 shop/a h a")
	for _, d := range []ipamdiff.Diff{ipamdiff.Compare(model.Seal(whole), model.Seal(part)), ipamdiff.Compare(model.Seal(part), model.Seal(whole))} {
		if len(d.NotRead) != 1 || d.Same != 0 || len(d.Addresses) != 0 {
			t.Errorf("%+v", d)
		}
	}
}

// Blocks that are broken are compared as far as they can be read.
func TestBrokenBlocks(t *testing.T) {
	t.Parallel()
	was, is := records(model.Complete, "host:a", "1 shop/a h a"), records(model.Complete, "host:a", "1 shop/a h a")
	is.Blocks[0].Held[0][1] = 7 // no such attribute
	d := ipamdiff.Compare(model.Seal(was), model.Seal(is))
	if len(d.Addresses) != 1 || d.Addresses[0].Is.Name != "unreadable" {
		t.Errorf("%+v", d)
	}
}
