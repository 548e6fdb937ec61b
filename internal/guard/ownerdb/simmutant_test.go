package ownerdb

import "plumbline.dev/plumbline/internal/guard"

// A mutant is the guard without one of its safeties. The product has no switches: what
// stands between it and the simulation is exchanged.
type mutant struct {
	decide  func(guard.Call, guard.Known) guard.Decision
	clean   func(guard.Call, guard.Known) guard.Decision
	replay  func(guard.Call, guard.Known) guard.Decision
	succeed func(guard.Call, guard.Known, guard.DelegateError, bool) bool
	keyed   guard.Keying
	harm    string // what it must come to: other harm proves nothing about it

	givesWay bool // an ADD does
}

func sanitized() mutant {
	return mutant{decide: guard.Decide, clean: guard.Clean, replay: guard.Replay, succeed: guard.ShouldSucceed, keyed: guard.ByName, givesWay: true}
}

const robbing = `newer owner \S+ was touched`

var mutants = map[string]func(*mutant){
	"compare by name": func(m *mutant) {
		m.harm = robbing
		m.decide = func(c guard.Call, k guard.Known) guard.Decision {
			if k.Newest != nil {
				own := *k.Newest
				own.Key = c.Key()
				k.Own = &own
			}
			return guard.Decide(c, k)
		}
	},
	"forward late": func(m *mutant) {
		m.harm = robbing
		m.decide = func(c guard.Call, k guard.Known) guard.Decision {
			d := guard.Decide(c, k)
			d.Forward = true
			return d
		}
	},
	"unknown as late": func(m *mutant) {
		m.harm = "is called late, and is not"
		m.decide = func(c guard.Call, k guard.Known) guard.Decision {
			if k.Own == nil && k.Newest != nil {
				k.Own = &guard.Owner{Key: c.Key(), Namespace: c.Namespace, Pod: c.Pod, State: guard.Added}
			}
			return guard.Decide(c, k)
		}
	},
	"order by time": func(m *mutant) {
		m.harm = robbing
		m.decide = func(c guard.Call, k guard.Known) guard.Decision {
			if k.Own != nil && k.Newest != nil {
				own, newest := *k.Own, *k.Newest
				own.Seq, newest.Seq = own.Start, newest.Start
				k.Own, k.Newest = &own, &newest
			}
			return guard.Decide(c, k)
		}
	},
	"success on authorization error": func(m *mutant) {
		m.harm = `"authorization" became success`
		m.succeed = func(c guard.Call, k guard.Known, err guard.DelegateError, gone bool) bool {
			return err.Fault() == guard.Authorization || guard.ShouldSucceed(c, k, err, gone)
		}
	},
	"Calico by container": func(m *mutant) {
		m.harm, m.keyed = robbing, guard.ByBoth
		m.decide = func(c guard.Call, k guard.Known) guard.Decision {
			k.Keyed = guard.ByContainer
			return guard.Decide(c, k)
		}
	},
	"forward repeated": func(m *mutant) {
		m.harm = robbing
		m.decide = func(c guard.Call, k guard.Known) guard.Decision {
			d := guard.Decide(c, k)
			d.Forward = d.Forward || k.Own != nil && k.Own.State == guard.Deleted
			return d
		}
	},
	"no queue": func(m *mutant) {
		m.harm = "nobody will ask again"
		m.decide = func(c guard.Call, k guard.Known) guard.Decision {
			d := guard.Decide(c, k)
			d.Queue = false
			return d
		}
	},
	"no second DEL": func(m *mutant) {
		m.harm, m.keyed = "is kept at the end", guard.ByContainer
		m.decide = func(c guard.Call, k guard.Known) guard.Decision {
			d := guard.Decide(c, k)
			d.Again = 0
			return d
		}
	},
	"replay without looking": func(m *mutant) {
		m.harm = robbing
		m.replay = func(guard.Call, guard.Known) guard.Decision { return guard.Decision{Forward: true} }
	},
}
