package proven

import (
	"fmt"
	"strings"
)

// A Cluster is what decides whether its Calico may be repaired.
type Cluster struct {
	Calico    string              // the version that ClusterInformation has
	Datastore string              // kdd or etcd
	Group     string              // API group of the custom resources
	Schemas   map[string][]string // of the CRDs, by Fields; nil: not read, or there are none
	Accepted  string              // the version that the user accepts although it is not tested
}

// A Verdict on a version that is proven itself is empty.
type Verdict struct {
	Refused  string // why nothing of Calico is repaired
	Know     string // what the user must know if it is
	Accepted bool   // only because the user accepts the version
}

// Judge decides whether the cluster is repaired.
func (c Cluster) Judge() Verdict { return c.judge(results) }

func (c Cluster) judge(all []result) Verdict {
	plain, who := Plain(c.Calico)
	of := versionsOf(all, c.Datastore)
	switch {
	case c.Calico == "":
		return Verdict{Refused: "the Calico version is not known"}
	case c.Group == "projectcalico.org/v3":
		return Verdict{Refused: "Calico's resources are in the API group projectcalico.org/v3, in which repair is not tested"}
	case refusedOn(all, plain, c.Datastore) != "":
		return Verdict{Refused: "Calico is " + c.Calico + ": " + refusedOn(all, plain, c.Datastore)}
	}
	for _, v := range of {
		switch {
		case v == plain && who == "":
			return Verdict{}
		case v == plain:
			return Verdict{Know: fmt.Sprintf("Calico %s was built by %s; repair is tested with Calico's own %s", c.Calico, who, v)}
		}
	}
	why := "Calico is " + c.Calico
	for _, v := range of {
		if !SameMinor(v, plain) {
			continue
		}
		field := ""
		switch {
		case c.Datastore != "kdd":
			field = "etcd has no schemas to compare"
		case c.Schemas == nil:
			field = "the schemas of the CRDs were not read"
		default:
			field = differs(Tested(v), c.Schemas)
		}
		if field == "" {
			return Verdict{Know: fmt.Sprintf("Calico is %s; repair is tested with %s, and the schemas of its IPAM are the same", c.Calico, v)}
		}
		why += fmt.Sprintf(", not the tested %s, and %s", v, field)
	}
	if c.Accepted == c.Calico {
		return Verdict{Know: "Calico " + c.Calico + " is not tested for repair, and was accepted", Accepted: true}
	}
	return Verdict{Refused: why}
}

// Advice is what a user can do whose Calico is refused.
func Advice(datastore string) string {
	return "repair is tested with Calico " + strings.Join(Versions(datastore), ", ") + "; on others pass --accept-version REASON, after a trial on a cluster that may break"
}

// Mixed names a component that is not of the cluster's version; empty if there is none. During an
// upgrade the old and the new version both write.
func Mixed(cluster, name, version string) string {
	is, _ := Plain(version)
	want, _ := Plain(cluster)
	switch {
	case version == "":
		return "the version of " + name + " is not known: its image has no tag"
	case is == "" && version != cluster, is != want:
		return fmt.Sprintf("%s is %s, and ClusterInformation has %s: Calico is being upgraded, or was only in part", name, version, cluster)
	}
	return ""
}
