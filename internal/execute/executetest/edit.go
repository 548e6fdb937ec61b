package executetest

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
)

// edited gives the plan as somebody sends it who edited its file: a few values are replaced by
// others of the plan or of the cluster, fields and steps are removed, copied or moved. It is nil
// if apply would not read it.
func edited(w *world, p *repair.Plan, rng *rand.Rand) *repair.Plan {
	b, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(b, &doc); err != nil {
		panic(err)
	}
	e := &editor{rng: rng, words: w.words()}
	e.collect(doc)
	for range 1 + rng.IntN(4) {
		if rng.IntN(4) == 0 {
			e.steps(doc)
		} else {
			e.value(doc)
		}
	}
	number(doc)
	b, err = json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	out := &repair.Plan{}
	if json.Unmarshal(b, out) != nil || out.Undoes != "" || out.Valid() != nil {
		return nil
	}
	return out
}

// words are what a stranger knows of the cluster.
func (w *world) words() []string {
	var out []string
	for _, s := range []*Store{w.kube, w.calico} {
		for _, k := range []model.Kind{model.KindPod, model.KindNode, model.KindBlock, model.KindHandle, model.KindAffinity, model.KindEndpoint} {
			for _, r := range s.all(k) {
				out = append(out, r.ref.Name, r.uid, r.rev())
			}
		}
	}
	for _, n := range w.nodes {
		out = append(out, n.name, n.calico)
		for _, b := range n.boxes {
			out = append(out, b.id, b.ns, b.pod, b.uid, handleOf(b.id))
			for _, ip := range b.ips {
				out = append(out, ip.String(), single(ip).String())
			}
		}
	}
	return out
}

// An editor changes values of a JSON document.
type editor struct {
	rng   *rand.Rand
	words []string
	like  map[string][]any // by key: the values that the document has
	spots []spot
}

// A spot is a value in the document, by its holder.
type spot struct {
	in  any // map[string]any or []any
	key string
	at  int
}

func (e *editor) collect(v any) {
	if e.like == nil {
		e.like = map[string][]any{}
	}
	switch v := v.(type) {
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			e.spots = append(e.spots, spot{in: v, key: k})
			e.like[k] = append(e.like[k], v[k])
			e.collect(v[k])
		}
	case []any:
		for i := range v {
			e.spots = append(e.spots, spot{in: v, at: i})
			e.collect(v[i])
		}
	}
}

// value replaces, removes or turns round one value.
func (e *editor) value(any) {
	s := e.spots[e.rng.IntN(len(e.spots))]
	var was any
	m, isMap := s.in.(map[string]any)
	if isMap {
		was = m[s.key]
	} else {
		was = s.in.([]any)[s.at]
	}
	next := e.other(s.key, was)
	switch {
	case isMap && e.rng.IntN(5) == 0:
		delete(m, s.key)
	case isMap:
		m[s.key] = next
	default:
		s.in.([]any)[s.at] = next
	}
}

// other gives another value of the same type, preferably of the same field.
func (e *editor) other(key string, was any) any {
	if same := e.like[key]; len(same) > 1 && e.rng.IntN(2) == 0 {
		return copied(same[e.rng.IntN(len(same))])
	}
	switch v := was.(type) {
	case string:
		word := e.words[e.rng.IntN(len(e.words))]
		if i := strings.LastIndexByte(v, '.'); i > 0 && e.rng.IntN(3) == 0 && !strings.Contains(word, ".") {
			return v[:i+1] + word // a handle of another container
		}
		return word
	case bool:
		return !v
	case float64:
		return v + 1
	case []any:
		if len(v) > 0 {
			return v[:len(v)-1]
		}
	}
	return was
}

// copied gives a copy that shares nothing.
func copied(v any) any {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	var out any
	if err := json.Unmarshal(b, &out); err != nil {
		panic(err)
	}
	return out
}

// steps removes, copies or moves a step.
func (e *editor) steps(doc map[string]any) {
	all, _ := doc["steps"].([]any)
	if len(all) < 2 {
		return
	}
	i, j := e.rng.IntN(len(all)), e.rng.IntN(len(all))
	switch e.rng.IntN(3) {
	case 0:
		all = slices.Delete(slices.Clone(all), i, i+1)
	case 1:
		all[i], all[j] = all[j], all[i]
	default:
		all = append(slices.Clone(all), copied(all[i]))
	}
	doc["steps"] = all
}

// number gives the steps their numbers: who edits a plan well does that too.
func number(doc map[string]any) {
	all, _ := doc["steps"].([]any)
	for i, s := range all {
		if m, ok := s.(map[string]any); ok {
			m["id"] = i + 1
		}
	}
}
