package calico

import (
	"strconv"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// A keyspace is a prefix and the handler of its events.
type keyspace struct {
	table model.Table
	root  string
	each  func(*clientv3.Event) error
}

// keyspaces are the prefixes of the lists, with the same decoders.
func keyspaces(g *observe.Gatherer) []keyspace {
	handles := hearKeys(g, etcdHandle, (*model.Handle).Ref, func(key string) model.Ref {
		return model.Ref{Kind: model.KindHandle, Name: strings.TrimPrefix(key, keyHandles)}
	})
	blocks := hearKeys(g, etcdBlock, (*model.Block).Ref, blockOfKey)
	affinities := hearKeys(g, etcdAffinity, (*model.Affinity).Ref, affinityOfKey)
	endpoints := hearKeys(g, etcdEndpoint, (*model.Endpoint).Ref, func(key string) model.Ref {
		return model.Ref{Kind: model.KindEndpoint, Name: strings.TrimPrefix(key, keyEndpoints)}
	})
	pools := hearKeys(g, etcdPool, (*model.Pool).Ref, func(key string) model.Ref { return model.Ref{Kind: model.KindPool, Name: lastPart(key)} })
	reservations := hearKeys(g, etcdReservation, reservationRef, func(key string) model.Ref {
		return model.Ref{Kind: observe.KindReservation, Name: lastPart(key)}
	})
	hosts := hearKeys(g, etcdHost, (*model.Host).Ref, func(key string) model.Ref {
		return model.Ref{Kind: model.KindHost, Name: lastPart(key)}
	})
	return []keyspace{
		{model.Handles, keyHandles, handles},
		{model.Blocks, keyBlocks4, blocks},
		{model.Blocks, keyBlocks6, blocks},
		{model.Affinities, keyHosts, affinities},
		{model.Affinities, keyVirtual, affinities},
		{model.Endpoints, keyEndpoints, endpoints},
		{model.Reservations, keyReservations, reservations},
		{model.Pools, keyPools, pools},
		{model.Hosts, keyNodes, hosts},
	}
}

// hearKeys turns each event into a change of one row. A deleted key is all that etcd
// reports; a key that is not of the table is ignored.
func hearKeys[T any](g *observe.Gatherer, parse func(string, []byte, string) (T, bool, error), ref func(*T) model.Ref, of func(key string) model.Ref) func(*clientv3.Event) error {
	return func(ev *clientv3.Event) error {
		c := observe.Change{At: observe.Now()}
		key := string(ev.Kv.Key)
		if ev.Type == mvccpb.DELETE {
			if c.Ref = of(key); c.Ref.Name != "" {
				g.Add(c)
			}
			return nil
		}
		row, ok, err := parse(key, ev.Kv.Value, strconv.FormatInt(ev.Kv.ModRevision, 10))
		if err != nil || !ok {
			return err
		}
		c.Ref, c.Row = ref(&row), &row
		g.Add(c)
		return nil
	}
}

func lastPart(key string) string { return key[strings.LastIndexByte(key, '/')+1:] }

func blockOfKey(key string) model.Ref {
	p, err := rangeOf(lastPart(key))
	if err != nil {
		return model.Ref{}
	}
	return (&model.Block{CIDR: p}).Ref()
}

// affinityOfKey reads the key as the table's decoder does, also with an empty value.
func affinityOfKey(key string) model.Ref {
	row, ok, err := etcdAffinity(key, nil, "")
	if err != nil || !ok {
		return model.Ref{}
	}
	return row.Ref()
}
