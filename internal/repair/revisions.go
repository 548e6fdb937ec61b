package repair

import (
	"strconv"

	"plumbline.dev/plumbline/internal/model"
)

// Revisions gives the newest revision of the API server and of Calico's etcd in the view; empty if unknown.
func Revisions(v *model.View) (api, etcd string) {
	newest := map[bool]uint64{}
	apart := v.Info().Datastore == "etcd"
	for _, c := range v.Snapshot().Coverage {
		if n, err := strconv.ParseUint(c.Revision, 10, 64); err == nil && !c.Table.OfNode() {
			inEtcd := apart && c.Table >= model.Cluster && c.Table != model.Components
			newest[inEtcd] = max(newest[inEtcd], n)
		}
	}
	text := func(n uint64) string {
		if n == 0 {
			return ""
		}
		return strconv.FormatUint(n, 10)
	}
	return text(newest[false]), text(newest[true])
}
