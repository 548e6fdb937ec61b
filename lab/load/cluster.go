package load

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/lab"
)

// A singleton is an object of Calico that a cluster has once.
type singleton struct {
	kind, plural, name string
	spec               json.RawMessage
}

// loadPool is written first, and only if it does not exist: it marks a loaded lab.
func loadPool() singleton {
	return singleton{"IPPool", "ippools", poolName, json.RawMessage(fmt.Sprintf(
		`{"allowedUses":["Workload","Tunnel"],"assignmentMode":"Automatic","blockSize":%d,"cidr":%q,"ipipMode":"Never","natOutgoing":true,"nodeSelector":"all()","vxlanMode":"Always"}`,
		blockBits, pool.String()))}
}

// settings are the objects that Calico's components write when they first start, which
// never happens in a control-plane-only lab. Calico's tools read them.
func (p *plan) settings() []singleton {
	r := rand.New(rand.NewPCG(p.Seed, 1<<63))
	clusterType := "k8s,kdd"
	if p.datastore == lab.Etcd {
		clusterType = "k8s"
	}
	return []singleton{
		{"ClusterInformation", "clusterinformations", "default", json.RawMessage(fmt.Sprintf(
			`{"calicoVersion":"v3.31.0","clusterGUID":%q,"clusterType":%q,"datastoreReady":true}`, id64(r)[:32], clusterType))},
		{"KubeControllersConfiguration", "kubecontrollersconfigurations", "default", json.RawMessage(
			`{"controllers":{"loadBalancer":{"assignIPs":"AllServices"},"namespace":{"reconcilerPeriod":"5m0s"},` +
				`"node":{"hostEndpoint":{"autoCreate":"Disabled","createDefaultHostEndpoint":"Enabled"},"leakGracePeriod":"15m0s","reconcilerPeriod":"5m0s","syncLabels":"Enabled"},` +
				`"policy":{"reconcilerPeriod":"5m0s"},"serviceAccount":{"reconcilerPeriod":"5m0s"},"workloadEndpoint":{"reconcilerPeriod":"5m0s"}},` +
				`"etcdV3CompactionPeriod":"10m0s","healthChecks":"Enabled","logSeverityScreen":"Info","prometheusMetricsPort":9094}`)},
	}
}

// put returns the object for the plan's datastore.
func (s singleton) put(p *plan) (put, error) {
	r := rand.New(rand.NewPCG(p.Seed, uint64(len(s.kind))<<32))
	created := p.Now.Add(-100 * 24 * time.Hour)
	if p.datastore == lab.Etcd {
		b, err := json.Marshal(v3(s.kind, v3Metadata{Name: s.name, UID: uid(r), Created: created.Format(time.RFC3339)}, s.spec))
		return put{calicoResources + s.plural + "/" + s.name, b}, err
	}
	var spec map[string]any
	if err := json.Unmarshal(s.spec, &spec); err != nil {
		return put{}, fmt.Errorf("read spec of %s %s: %w", s.kind, s.name, err)
	}
	var fields []string
	for _, f := range slices.Sorted(maps.Keys(spec)) {
		fields = append(fields, `"f:`+f+`":{}`)
	}
	return storedResource(identity{
		kind: s.kind, plural: s.plural, name: s.name, uid: uid(r), created: created, changed: created, generation: 1, fields: strings.Join(fields, ","),
	}, s.spec)
}

// ipamConfig is Calico's IPAM configuration, which is not a resource in etcd.
func (p *plan) ipamConfig() (put, error) {
	if p.datastore == lab.Etcd {
		return put{calicoIPAM + "config", []byte(`{"auto_allocate_blocks":true}`)}, nil
	}
	return singleton{"IPAMConfig", "ipamconfigs", "default", json.RawMessage(`{"autoAllocateBlocks":true,"strictAffinity":false}`)}.put(p)
}

// namespaces are those of the pods.
func (p *plan) namespaces() (puts []put, err error) {
	r := rand.New(rand.NewPCG(p.Seed, 1<<62))
	for i := range min(maxNamespaces, len(p.apps)) {
		one, err := storedNamespace(namespace(i), uid(r), p.Now.Add(-60*24*time.Hour))
		if err != nil {
			return nil, err
		}
		puts = append(puts, one)
	}
	return puts, nil
}
