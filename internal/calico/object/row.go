package object

import (
	"hash/fnv"
	"maps"
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

// Row gives the attribute as the model stores it.
func (a *Attribute) Row() model.Attribute {
	s := a.Secondary.V
	out := model.Attribute{
		Handle: a.Handle.V, Namespace: s["namespace"], Pod: s["pod"], Node: s["node"], Type: s["type"], Service: s["service"],
		VM: s["vmi-name"], Cooling: a.ReleasedAt.Set && !a.ReleasedAt.Null,
	}
	if alt := a.Alternate.V; alt["pod"] != "" {
		out.Alternate = alt["namespace"] + "/" + alt["pod"]
	}
	// Other is a digest of all remaining data: two attributes are equal only if everything is, timestamps included.
	h := fnv.New64a()
	for _, m := range []map[string]string{s, a.Alternate.V} {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			_, _ = h.Write([]byte(k + "\x00" + m[k] + "\x00"))
		}
	}
	for _, k := range slices.Sorted(maps.Keys(a.Extra)) {
		_, _ = h.Write([]byte(k + "\x00" + string(a.Extra[k]) + "\x00"))
	}
	if len(s)+len(a.Alternate.V)+len(a.Extra) > 0 {
		out.Other = h.Sum64()
	}
	return out
}
