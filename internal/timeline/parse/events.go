package parse

import (
	"bytes"
	"cmp"
	"encoding/json"
	"time"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

var (
	needleInvolved  = []byte(`"involvedObject"`)
	needleRegarding = []byte(`"regarding"`)
)

func ofEvents(text []byte) bool {
	return bytes.Contains(text, needleInvolved) || bytes.Contains(text, needleRegarding)
}

// A kubeEvent is an Event of Kubernetes, of its first API or of events.k8s.io. Times are
// strings, so that one that cannot be parsed does not affect the rest.
type kubeEvent struct {
	Reason, Message, Note     string
	InvolvedObject, Regarding eventObject
	Source, DeprecatedSource  eventSource
	ReportingInstance         string
	FirstTimestamp, EventTime string
	LastTimestamp             string
	DeprecatedLastTimestamp   string
	Count, DeprecatedCount    int
	Series                    struct {
		Count            int
		LastObservedTime string
	}
	Metadata struct{ CreationTimestamp string }
}

type (
	eventObject struct{ Kind, Namespace, Name, UID string }
	eventSource struct{ Component, Host string }
)

// events reads one event, or a list of them, as far as it can be read.
func (t *Parser) events(r *records.Record) {
	if !hasPrefix(bytes.TrimSpace(r.Text), "{") {
		return
	}
	i := bytes.Index(r.Text, []byte(`"items"`))
	if i < 0 {
		t.eventOf(r, r.Text)
		return
	}
	i += len(`"items"`)
	start := bytes.IndexByte(r.Text[i:], '[')
	if start < 0 {
		return
	}
	list := json.NewDecoder(bytes.NewReader(r.Text[i+start:]))
	if _, err := list.Token(); err != nil {
		return
	}
	for list.More() {
		var item json.RawMessage
		if list.Decode(&item) != nil {
			return
		}
		t.eventOf(r, item)
	}
}

func (t *Parser) eventOf(r *records.Record, text []byte) {
	var k kubeEvent
	if len(text) > maxJSON || json.Unmarshal(text, &k) != nil {
		return
	}
	of := k.InvolvedObject
	if of.Name == "" {
		of = k.Regarding
	}
	e := timeline.Event{Count: max(k.Count, k.DeprecatedCount, k.Series.Count)}
	if e.Count < 2 {
		e.Count = 0
	}
	for _, s := range [...]string{k.LastTimestamp, k.Series.LastObservedTime, k.DeprecatedLastTimestamp, k.EventTime, k.FirstTimestamp, k.Metadata.CreationTimestamp} {
		if at, err := time.Parse(time.RFC3339, s); err == nil && !at.IsZero() {
			e.At = at
			break
		}
	}
	e.Node = cmp.Or(nodeName([]byte(k.Source.Host)), nodeName([]byte(k.DeprecatedSource.Host)))
	switch of.Kind {
	case "Pod":
		e.Pod, e.UID = newPod([]byte(of.Namespace+"/"+of.Name)), uidOf([]byte(of.UID))
	case "Node":
		e.Node = nodeName([]byte(of.Name))
	}
	t.happened(r, e, k.Reason, []byte(cmp.Or(k.Message, k.Note)))
}
