package cluster

import (
	"context"
	"slices"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair/proven"
)

// schemas reads the schemas of Calico's CRDs whose objects repairs write, unless Calico's version is
// proven itself or in etcd.
func (c *Cluster) schemas(ctx context.Context, info *model.Info) proven.Schemas {
	plain, _ := proven.Plain(info.Calico)
	if info.Datastore != "kdd" || slices.Contains(proven.Versions("kdd"), plain) {
		return proven.Schemas{}
	}
	all := proven.Schemas{Lines: map[string][]string{}}
	for _, crd := range proven.Written {
		b, _, err := c.client.Get(ctx, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"+crd+".crd.projectcalico.org")
		if err == nil {
			all.Lines[crd], err = proven.Fields(b)
		}
		if err != nil {
			return proven.Schemas{Unread: err.Error()}
		}
	}
	return all
}
