package main

import (
	"encoding/json"
	"maps"
	"runtime"
	"slices"
)

// A statement is in-toto's, with the provenance of SLSA as its predicate.
type statement struct {
	Type          string    `json:"_type"`
	Subject       []subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     predicate `json:"predicate"`
}

type subject struct {
	Name   string            `json:"name,omitempty"`
	URI    string            `json:"uri,omitempty"`
	Digest map[string]string `json:"digest"`
}

type predicate struct {
	BuildDefinition struct {
		BuildType            string            `json:"buildType"`
		ExternalParameters   map[string]string `json:"externalParameters"`
		ResolvedDependencies []subject         `json:"resolvedDependencies"`
	} `json:"buildDefinition"`
	RunDetails struct {
		Builder struct {
			ID      string            `json:"id"`
			Version map[string]string `json:"version"`
		} `json:"builder"`
	} `json:"runDetails"`
}

// provenance states from which commit, with which parameters and by which Go everything was made. It has
// no time: it is the same whenever it is made.
func (d *dist) provenance(o options) ([]byte, error) {
	s := statement{Type: "https://in-toto.io/Statement/v1", PredicateType: "https://slsa.dev/provenance/v1"}
	for _, name := range d.names() {
		s.Subject = append(s.Subject, subject{Name: name, Digest: map[string]string{"sha256": d.sums[name]}})
	}
	for _, name := range slices.Sorted(maps.Keys(d.digests)) {
		s.Subject = append(s.Subject, subject{Name: name, Digest: map[string]string{"sha256": d.digests[name]}})
	}
	b := &s.Predicate.BuildDefinition
	b.BuildType = home + "/tools/release@v1"
	b.ExternalParameters = map[string]string{"version": o.version, "registry": o.registry}
	if !o.quick { // a trial is of whatever is in bin/
		b.ResolvedDependencies = []subject{{URI: "git+" + home, Digest: map[string]string{"gitCommit": d.src.commit}}}
	}
	r := &s.Predicate.RunDetails.Builder
	r.ID, r.Version = home+"/tools/release", map[string]string{"go": runtime.Version()}
	return json.Marshal(s)
}
