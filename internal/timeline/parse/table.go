package parse

import (
	"bytes"
	"strconv"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// wantsTable finds rows of the event table of `kubectl describe`, the lines above it that name the
// pod, rows of other commands' tables, and lines of event logs without another header.
func wantsTable(r *records.Record) bool {
	if len(r.Text) == 0 {
		return false
	}
	switch text := r.Text; text[0] {
	case 'N':
		return hasPrefix(text, "Normal  ") || hasPrefix(r.Raw, "Name:  ") || hasPrefix(r.Raw, "Namespace:  ") || hasPrefix(r.Raw, "Node:  ") ||
			wantsRow(r)
	case 'W':
		return hasPrefix(text, "Warning  ")
	default:
		return ofEventLog(r.Text) && wantsEventLog(r.Text) || wantsRow(r)
	}
}

func (t *Parser) table(r *records.Record) {
	t.secrets(r)
	if ofEventLog(r.Text) {
		t.eventLog(r)
		return
	}
	first, rest := column(r.Text)
	about := &t.seen.about
	switch value := nodeName(bytes.TrimSpace(rest)); string(first) {
	case "Name:":
		*about = described{name: value}
	case "Namespace:":
		about.namespace = value
	case "Node:": // NAME/ADDRESS
		of, _, _ := bytes.Cut(bytes.TrimSpace(rest), []byte{'/'})
		about.node = nodeName(of)
	case "Normal", "Warning":
		t.row(r, rest)
	default:
		t.listed(r)
	}
}

// row reads Reason, Age, From and Message. The table does not show the time that the age refers
// to, so such an event has no time.
func (t *Parser) row(r *records.Record, rest []byte) {
	reason, rest := column(rest)
	age, rest := column(rest)
	from, words := column(rest)
	about := t.seen.about
	e := timeline.Event{Node: about.node, Count: times(age)}
	if about.name != "" {
		e.Pod = newPod([]byte(about.namespace + "/" + about.name))
	}
	if _, host, ok := bytes.Cut(from, []byte(", ")); ok {
		e.Node = nodeName(bytes.TrimSpace(host))
	}
	if plainName(reason) {
		t.happened(r, e, string(reason), words)
	}
}

// column gives the text before two spaces or more, and the text after them.
func column(b []byte) (one, rest []byte) {
	one, rest, _ = bytes.Cut(b, []byte("  "))
	return one, bytes.TrimLeft(rest, " ")
}

// times reads a count: "9s (x4 over 6m)".
func times(age []byte) int {
	n, ok := between(age, "(x", " ")
	if !ok {
		return 0
	}
	count, err := strconv.Atoi(string(n[:min(len(n), 9)]))
	if err != nil || count < 0 {
		return 0
	}
	return count
}
