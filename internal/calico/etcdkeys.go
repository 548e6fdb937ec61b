package calico

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// Calico's keys in etcd.
const (
	keyBlocks4      = "/calico/ipam/v2/assignment/ipv4/block/"
	keyBlocks6      = "/calico/ipam/v2/assignment/ipv6/block/"
	keyHandles      = "/calico/ipam/v2/handle/"
	keyHosts        = "/calico/ipam/v2/host/"
	keyVirtual      = "/calico/ipam/v2/virtual/"
	keyIPAMConfig   = "/calico/ipam/v2/config"
	keyResources    = "/calico/resources/v3/projectcalico.org/"
	keyPools        = keyResources + "ippools/"
	keyReservations = keyResources + "ipreservations/"
	keyEndpoints    = keyResources + "workloadendpoints/"
	keyNodes        = keyResources + "nodes/"
	keyCluster      = keyResources + "clusterinformations/default"
	keyFelix        = keyResources + "felixconfigurations/default"
	keyCollector    = keyResources + "kubecontrollersconfigurations/default"
)

func etcdBlock(key string, value []byte, rev string) (model.Block, bool, error) {
	return (*arena)(nil).etcdBlock(key, value, rev)
}

func (k *arena) etcdBlock(key string, value []byte, rev string) (model.Block, bool, error) {
	// Named like the custom resource, so that the same code handles both.
	name := key[strings.LastIndexByte(key, '/')+1:]
	if p, err := rangeOf(name); err == nil {
		name = model.BlockName(p)
	}
	row, err := blockRow(value, origin{name: name, revision: rev, keep: k})
	return row, true, err
}

func etcdHandle(key string, value []byte, rev string) (model.Handle, bool, error) {
	return (*arena)(nil).etcdHandle(key, value, rev)
}

func (k *arena) etcdHandle(key string, value []byte, rev string) (model.Handle, bool, error) {
	k = k.orNew()
	name := k.own([]byte(strings.TrimPrefix(key, keyHandles))) // a copy: the key itself is longer
	row, err := handleRow(value, origin{name: name, revision: rev, keep: k})
	return row, true, err
}

// etcdAffinity reads host/NODE/ipv4/block/10.0.0.0-26. Other keys below are not affinities;
// an empty value is a confirmed affinity of an old version.
func etcdAffinity(key string, value []byte, rev string) (model.Affinity, bool, error) {
	rest, typ := strings.TrimPrefix(key, keyHosts), "host"
	if r, ok := strings.CutPrefix(key, keyVirtual); ok {
		rest, typ = r, "virtual"
	}
	parts := strings.Split(rest, "/")
	if len(parts) != 4 || parts[2] != "block" {
		return model.Affinity{}, false, nil
	}
	if len(value) == 0 {
		value = []byte("{}")
	}
	row, err := affinityRow(value, origin{name: rest, revision: rev})
	if err != nil {
		return row, false, err
	}
	row.Node, row.Type, row.Labelled = parts[0], typ, true // no labels here: the key is the index
	if row.CIDR, err = rangeOf(parts[3]); err != nil {
		return row, false, fmt.Errorf("affinity %s: %w", rest, err)
	}
	return row, true, nil
}

// rangeOf reads 10.0.0.0-26.
func rangeOf(s string) (netip.Prefix, error) {
	i := strings.LastIndexByte(s, '-')
	if i < 0 {
		return netip.Prefix{}, fmt.Errorf("no CIDR in %q", s)
	}
	return netip.ParsePrefix(s[:i] + "/" + s[i+1:])
}

func etcdEndpoint(key string, value []byte, rev string) (model.Endpoint, bool, error) {
	return (*arena)(nil).etcdEndpoint(key, value, rev)
}

func (k *arena) etcdEndpoint(key string, value []byte, rev string) (model.Endpoint, bool, error) {
	ns, name, _ := strings.Cut(strings.TrimPrefix(key, keyEndpoints), "/")
	h, ok := scanHeader(value)
	if !ok {
		var err error
		if h, err = decodeHeader("endpoint "+ns+"/"+name, value); err != nil {
			return model.Endpoint{}, false, err
		}
	}
	k = k.orNew()
	row, err := endpointRow(k.shared([]byte(ns)), h.spec, origin{name: k.own([]byte(name)), revision: rev, keep: k})
	row.Created = h.written
	return row, true, err
}

func etcdPool(key string, value []byte, rev string) (model.Pool, bool, error) {
	return resource(key, value, rev, poolRow)
}

func etcdReservation(key string, value []byte, rev string) (model.Reservation, bool, error) {
	return resource(key, value, rev, reservationRow)
}

func etcdHost(key string, value []byte, rev string) (model.Host, bool, error) {
	return resource(key, value, rev, hostRow)
}

func resource[T any](key string, value []byte, rev string, row func([]byte, origin) (T, error)) (T, bool, error) {
	name := key[strings.LastIndexByte(key, '/')+1:]
	o, err := parseObject(name, value)
	if err != nil {
		var zero T
		return zero, false, err
	}
	r, err := row(o.Spec, origin{name: name, revision: rev})
	return r, true, err
}

func etcdInfo(cluster, config, felix []byte, rev string) (model.Info, error) {
	info := model.Info{Datastore: "etcd", Ready: true, Revision: rev}
	if len(cluster) > 0 {
		o, err := parseObject("clusterinformation", cluster)
		if err != nil {
			return info, err
		}
		if err := clusterInfo(o.Spec, &info); err != nil {
			return info, err
		}
	}
	if len(felix) > 0 {
		o, err := parseObject("felixconfiguration", felix)
		if err != nil {
			return info, err
		}
		if err := readFelixConfiguration(o.Spec, &info); err != nil {
			return info, err
		}
	}
	if len(config) > 0 && json.Valid(config) {
		return info, readIPAMConfig(config, &info)
	}
	return info, nil
}
