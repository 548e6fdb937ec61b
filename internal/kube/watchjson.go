package kube

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// jsonWire is one JSON object per line.
var jsonWire = wire{accept: AcceptJSON, frames: lineFrames, event: jsonEvent, revision: jsonRevision, failure: jsonFailure}

// jsonEvent splits {"type":"ADDED","object":{…}}. In the form that the server writes, the
// object is found without parsing it; its parser checks its syntax.
func jsonEvent(line []byte) (event, error) {
	if rest, ok := bytes.CutPrefix(line, []byte(`{"type":"`)); ok {
		kind, rest, _ := bytes.Cut(rest, []byte(`","object":`))
		if n := len(rest); n > 1 && rest[0] == '{' && rest[n-1] == '}' && rest[n-2] == '}' && bytes.IndexByte(kind, '"') < 0 {
			return event{string(kind), rest[:n-1]}, nil
		}
	}
	var e struct {
		Type   string          `json:"type"`
		Object json.RawMessage `json:"object"`
	}
	if err := json.Unmarshal(line, &e); err != nil {
		return event{}, fmt.Errorf("read an event: %w", err)
	}
	return event{e.Type, e.Object}, nil
}

func jsonRevision(object []byte) (string, error) {
	var o struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(object, &o); err != nil {
		return "", fmt.Errorf("read a revision: %w", err)
	}
	return o.Metadata.ResourceVersion, nil
}

func jsonFailure(object []byte) failure {
	var s struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Details struct {
			After int32 `json:"retryAfterSeconds"`
		} `json:"details"`
	}
	if err := json.Unmarshal(object, &s); err != nil {
		return failure{why: fmt.Errorf("read a failure: %w", err)}
	}
	return failure{s.Code, time.Duration(s.Details.After) * time.Second, fmt.Errorf("%d: %s", s.Code, Readable(s.Message))}
}
