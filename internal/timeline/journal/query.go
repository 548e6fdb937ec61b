package journal

import (
	"bytes"
	"time"
)

// A Query says which entries a Reader gives, and what of them.
type Query struct {
	// Fields are the names of the fields to give; nil means all.
	Fields []string
	// Match are fields as NAME=VALUE, such as _SYSTEMD_UNIT=kubelet.service. If there are any, only
	// entries that have at least one of them are given.
	Match []string
	// Since skips entries before a time, by bisection, as journalctl --since does: where the clock
	// was set back, entries with earlier times may follow, and later ones may be skipped.
	Since time.Time
	// MaxField is the number of bytes of a value that are given at most; 0 means 768 KiB.
	// Of all values of an entry, eight times as much is given.
	MaxField int
}

// defaultMaxField is many times what kubelet and containerd can write: journald cuts lines of
// services at LineMax=, by default 48 KiB. Other programs may send fields of up to 768 MiB, such as
// core dumps.
const defaultMaxField = 768 << 10

// maxName is the longest name of a field.
const maxName = 64

// query is a Query, prepared.
type query struct {
	all      bool
	fields   []string
	match    [][]byte
	since    uint64
	maxField int
	names    map[string]string // of fields that were given, if all are wanted
}

func newQuery(q Query) *query {
	out := &query{all: q.Fields == nil, fields: q.Fields, maxField: q.MaxField, names: map[string]string{}}
	for _, m := range q.Match {
		out.match = append(out.match, []byte(m))
	}
	if q.Since.UnixMicro() > 0 {
		out.since = uint64(q.Since.UnixMicro())
	}
	if out.maxField <= 0 {
		out.maxField = defaultMaxField
	}
	return out
}

// wanted gives the name of a field, empty if it is not to be given.
func (q *query) wanted(name []byte) string {
	if !q.all {
		for _, n := range q.fields {
			if n == string(name) {
				return n
			}
		}
		return ""
	}
	if n, ok := q.names[string(name)]; ok {
		return n
	}
	if len(q.names) >= 4096 {
		clear(q.names)
	}
	n := string(name)
	q.names[n] = n
	return n
}

// matches reports whether a payload is one of the matches.
func (q *query) matches(payload []byte) bool {
	for _, m := range q.match {
		if bytes.Equal(m, payload) {
			return true
		}
	}
	return false
}
