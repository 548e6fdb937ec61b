package cluster

import (
	"context"
	"slices"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair/proven"
)

// schemas reads the schemas of Calico's CRDs whose objects repairs write; nil if they cannot be
// read, or need not be: Calico's version is proven itself, or it is in etcd.
func (c *Cluster) schemas(ctx context.Context, info *model.Info) map[string][]string {
	plain, _ := proven.Plain(info.Calico)
	if info.Datastore != "kdd" || slices.Contains(proven.Versions("kdd"), plain) {
		return nil
	}
	all := map[string][]string{}
	for _, crd := range proven.Written {
		b, _, err := c.client.Get(ctx, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"+crd+".crd.projectcalico.org")
		if err != nil {
			return nil
		}
		if all[crd], err = proven.Fields(b); err != nil {
			return nil
		}
	}
	return all
}
