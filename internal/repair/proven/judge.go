package proven

import (
	"fmt"
	"strings"
)

// Schemas are those of the CRDs that repairs write, by Fields.
type Schemas struct {
	Lines  map[string][]string
	Unread string // why they were not read; empty: they were, or need not be
}

// A Cluster is what decides whether its Calico may be repaired.
type Cluster struct {
	Calico    string // the version that ClusterInformation has
	Datastore string // kdd or etcd
	Group     string // API group of the custom resources
	Schemas   Schemas
	Accepted  string // the version that the user accepts although it is not tested
}

// A Verdict on a version that is proven itself is empty.
type Verdict struct {
	Refused  string // why nothing of Calico is repaired
	Advice   string // what the user can do then
	Know     string // what the user must know if it is
	Accepted bool   // only because the user accepts the version
}

// Judge decides whether the cluster is repaired.
func (c Cluster) Judge() Verdict { return c.judge(results) }

func (c Cluster) judge(all []result) Verdict {
	if why := c.never(all); why != "" {
		return Verdict{Refused: why, Advice: "with this version Plumbline only reads"}
	}
	plain, who := Plain(c.Calico)
	for _, v := range versionsOf(all, c.Datastore) {
		switch {
		case v == plain && who == "":
			return Verdict{}
		case v == plain:
			return Verdict{Know: fmt.Sprintf("Calico %s was built by %s; repair is tested with Calico's own %s", c.Calico, who, v)}
		}
	}
	why := "Calico is " + c.Calico
	for _, v := range versionsOf(all, c.Datastore) {
		if !SameMinor(v, plain) {
			continue
		}
		differs := c.differs(v)
		if differs == "" {
			return Verdict{Know: fmt.Sprintf("Calico is %s; repair is tested with %s, and the schemas of its IPAM are the same", c.Calico, v)}
		}
		why += fmt.Sprintf(", not the tested %s, and %s", v, differs)
	}
	if c.Accepted == c.Calico {
		return Verdict{Know: "Calico " + c.Calico + " is not tested for repair, and was accepted", Accepted: true}
	}
	return Verdict{Refused: why, Advice: "repair is tested with Calico " + strings.Join(versionsOf(all, c.Datastore), ", ") +
		"; on others pass --accept-version REASON, after a trial on a cluster that may break"}
}

// never is why a version is not repaired even if the user accepts it.
func (c Cluster) never(all []result) string {
	plain, _ := Plain(c.Calico)
	known := refusedOn(all, plain, c.Datastore)
	switch {
	case c.Calico == "":
		return "the Calico version is not known"
	case c.Group == "projectcalico.org/v3":
		return "Calico's resources are in the API group projectcalico.org/v3, in which repair is not tested"
	case Before(c.Calico, 3, 22):
		return "Calico is " + c.Calico + ", whose IPAM garbage collector releases addresses of running pods (PL9005)"
	case plain != "" && known != "":
		return "Calico is " + c.Calico + ": " + known
	}
	return ""
}

// differs says what the cluster has not in common with a tested patch of its minor, or that it
// cannot be seen.
func (c Cluster) differs(tested string) string {
	switch {
	case c.Datastore != "kdd":
		return "etcd has no schemas to compare"
	case c.Schemas.Unread != "":
		return "the schemas of the CRDs were not read: " + c.Schemas.Unread
	default:
		return differs(Tested(tested), c.Schemas.Lines)
	}
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
