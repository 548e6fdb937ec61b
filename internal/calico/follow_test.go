package calico

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// kept are one of each kind, as Calico keeps them in etcd.
var kept = map[string]string{
	keyHandles + "Net.C1":                       `{"block":{"10.0.0.0/26":1}}`,
	keyBlocks4 + "10.0.0.0-26":                  `{"cidr":"10.0.0.0/26","allocations":[],"unallocated":[],"attributes":[]}`,
	keyBlocks6 + "fd00::40-122":                 `{"cidr":"fd00::40/122","allocations":[],"unallocated":[],"attributes":[]}`,
	keyHosts + "w1/ipv4/block/10.0.0.0-26":      ``,
	keyVirtual + "lb/ipv6/block/fd00::40-122":   `{"state":"confirmed"}`,
	keyEndpoints + "default/w1-k8s-a-eth0":      `{"spec":{"pod":"a"}}`,
	keyReservations + "some":                    `{"spec":{"reservedCIDRs":["10.0.0.1"]}}`,
	keyPools + "default-ipv4-ippool":            `{"spec":{"cidr":"10.0.0.0/16"}}`,
	keyNodes + "w1":                             `{"spec":{}}`,
	keyHosts + "w1/ipv4/what/else":              `not of the table`,
	keyHosts + "w1/ipv4/block/10.0.0.0-26/more": `not of the table`,
}

func heardOf(key string, value []byte, deleted bool) (told []observe.Change, err error) {
	g := observe.Gather(func(c []observe.Change) { told = append(told, c...) })
	ev := &clientv3.Event{Type: mvccpb.PUT, Kv: &mvccpb.KeyValue{Key: []byte(key), Value: value, ModRevision: 7}}
	if deleted {
		ev.Type, ev.Kv.Value = mvccpb.DELETE, nil
	}
	for _, k := range keyspaces(g) {
		if bytes.HasPrefix(ev.Kv.Key, []byte(k.root)) {
			err = errors.Join(err, k.each(ev))
		}
	}
	g.Flush()
	return told, err
}

// What is gone has the name that it had: etcd tells only its key.
func TestKeysNameTheirRows(t *testing.T) {
	t.Parallel()
	rows := 0
	for key, value := range kept {
		put, err := heardOf(key, []byte(value), false)
		gone, err2 := heardOf(key, nil, true)
		if err != nil || err2 != nil {
			t.Fatalf("%s: %v, %v", key, err, err2)
		}
		if value == "not of the table" {
			if len(put)+len(gone) != 0 {
				t.Errorf("%s: %v, %v", key, put, gone)
			}
			continue
		}
		rows++
		if len(put) != 1 || len(gone) != 1 || put[0].Ref != gone[0].Ref || put[0].Ref.Name == "" || put[0].Row == nil || gone[0].Row != nil || gone[0].At.IsZero() {
			t.Errorf("%s: %+v, %+v", key, put, gone)
		}
	}
	if rows != 9 {
		t.Errorf("%d rows", rows)
	}
}

func FuzzKeyEvent(f *testing.F) {
	for key, value := range kept {
		f.Add(key, []byte(value))
	}
	f.Fuzz(func(t *testing.T, key string, value []byte) {
		for _, deleted := range []bool{true, false} {
			told, err := heardOf(key, value, deleted)
			for _, c := range told {
				if c.Ref.Kind == "" || (c.Row == nil) != deleted {
					t.Errorf("%q: %+v, %v", key, c, err)
				}
			}
		}
	})
}

// played hands out events that were written down.
type played struct {
	object []byte
	times  int
	err    error
}

func (p played) Watch(ctx context.Context, path string, _ url.Values, since string, each observe.Heard) error {
	if path != "/apis/"+groupV1+"/ipamhandles" || since == "" {
		return observe.UntilEnd(ctx)
	}
	for n := range p.times {
		if rev, err := each(p.object, n%2 == 1); err != nil || rev != "487" {
			return fmt.Errorf("revision %s: %w", rev, err)
		}
	}
	return p.err
}

// What ends one table's watch ends all, when what was heard is told.
func TestFollowEnds(t *testing.T) {
	t.Parallel()
	told := 0
	f := CRDFollower{&CRDs{Group: groupV1}, played{handleItem(), 1001, observe.ErrGone}}
	err := f.Follow(t.Context(), map[model.Table]string{model.Handles: "1", model.Blocks: "1"}, func(cs []observe.Change) {
		for _, c := range cs {
			if _, there := c.Row.(*model.Handle); c.Ref.Kind != model.KindHandle || there != (told%2 == 0) {
				t.Errorf("%d: %+v", told, c)
			}
			told++
		}
	})
	if !errors.Is(err, observe.ErrGone) || told != 1001 {
		t.Errorf("%d told, %v", told, err)
	}
}

func BenchmarkFollowHandles(b *testing.B) {
	item := handleItem()
	b.SetBytes(int64(len(item)))
	b.ReportAllocs()
	g := observe.Gather(func([]observe.Change) {})
	each := hear(g, parsed("ipamhandles", handleRow), (*model.Handle).Ref, func(h *model.Handle) string { return h.Revision })
	for b.Loop() {
		if _, err := each(item, false); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}
