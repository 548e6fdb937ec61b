package parse

import (
	"bytes"

	"plumbline.dev/plumbline/internal/timeline/records"
)

// A listing is what a kubectl command shows of the rows on the lines directly after it.
type listing struct {
	namespace string // empty if the command does not name it: the default is not known
	next      uint32 // the line of the next row
}

// goesOn reports whether a record is on the line of the next row, and advances; if not, the
// listing ends.
func (l *listing) goesOn(r *records.Record) bool {
	if r.Place.Line != l.next {
		*l = listing{}
		return false
	}
	l.next++
	return true
}

// pod gives the pod of a row: with the namespace in the row, or that of the command.
func (l *listing) pod(r *records.Record, ahead [][]byte, name []byte) string {
	namespace := l.namespace
	if !l.goesOn(r) {
		namespace = ""
	}
	if len(ahead) > 0 {
		namespace = string(ahead[0])
	}
	return newPod([]byte(namespace + "/" + string(name)))
}

var kubectl = []byte("kubectl ")

// asksKubectl reports whether a line is a command typed at a prompt that lists something.
func asksKubectl(text []byte) bool {
	i := bytes.Index(text, kubectl)
	return i >= 0 && prompt(text[:i]) && indexString(text[i:], " get ") >= 0
}

// prompt reports whether b is a prompt: nothing, "$ ", "[root@node ~]# sudo ".
func prompt(b []byte) bool {
	b = bytes.TrimRight(b, " \t")
	b = bytes.TrimRight(bytes.TrimSuffix(b, []byte("sudo")), " \t")
	if len(b) == 0 {
		return true
	}
	switch b[len(b)-1] {
	case '$', '#', '%', '>':
		return len(b) < 100
	default:
		return false
	}
}

// namespaceAsked gives the namespace that a command names.
func namespaceAsked(text []byte) string {
	_, text, _ = bytes.Cut(text, kubectl)
	if i := bytes.IndexAny(text, "|;&<>"); i >= 0 {
		text = text[:i]
	}
	found := ""
	words := bytes.Fields(text)
	for i, w := range words {
		value, is := bytes.CutPrefix(w, []byte("--namespace"))
		if !is {
			if value, is = bytes.CutPrefix(w, []byte("-n")); !is {
				continue
			}
		} else if len(value) > 0 && value[0] != '=' {
			continue // --namespaces
		}
		if value = bytes.TrimPrefix(value, []byte{'='}); len(value) == 0 && i+1 < len(words) {
			value = words[i+1]
		}
		if value = bytes.Trim(value, `"'`); plainName(value) {
			found = string(value)
		}
	}
	return found
}

// heads reports whether cells are the names of columns that kubectl writes above rows.
func heads(c *cells) bool {
	i := 0
	if string(c.all[0]) == "NAMESPACE" {
		i = 1
	}
	return string(c.all[i]) == "NAME" && string(c.all[i+1]) == "READY" || string(c.all[i]) == "LAST SEEN" && string(c.all[i+1]) == "TYPE"
}
