package server

import (
	"encoding/json"
	"io"
	"net/http"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/model"
)

// maxChange bounds the size of a request.
const maxChange = 256 << 10

// serveObject returns the current state of one object that can be changed.
func (s *Server) serveObject(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	ref := model.Ref{Kind: model.Kind(q.Get("kind")), Name: q.Get("name")}
	args := map[string]string{}
	for k := range q {
		if k != "kind" && k != "name" {
			args[k] = q.Get(k)
		}
	}
	if s.writer == nil {
		http.Error(w, errReads.Error(), http.StatusNotFound)
		return
	}
	if ref.OnNode() != s.node {
		http.Error(w, "specify kind=KIND and name=NODE/NAME of this node", http.StatusBadRequest)
		return
	}
	t, err := s.read(r.Context(), ref, args)
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	out := agent.NodeObject{Ref: ref, Digest: t.digest(), Says: "does not exist"}
	if t != nil {
		out.Says, out.Body = t.says, encoded(&t.body)
	}
	writeJSON(w, out)
}

// doChange changes one object. It refuses a request that is not a valid change.
func (s *Server) doChange(w http.ResponseWriter, r *http.Request) {
	var c agent.Change
	d := json.NewDecoder(io.LimitReader(r.Body, maxChange))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		http.Error(w, "not a valid change: "+err.Error(), http.StatusBadRequest)
		return
	}
	out, err := s.change(r.Context(), c)
	if err != nil {
		http.Error(w, "the change has begun, and its result is unknown: "+err.Error(), http.StatusInternalServerError)
		return
	}
	s.log.Info("change", "verb", c.Verb, "of", c.Ref.String(), "dry", c.DryRun, "done", out.Done, "already", out.Already, "refused", out.Refused)
	writeJSON(w, out)
}
