package cluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"plumbline.dev/plumbline/internal/hostfile"
	"plumbline.dev/plumbline/internal/repair"
)

// APIVersion is of saved plans and of all machine output. Fields are only ever added.
const APIVersion = "plumbline.dev/v1alpha1"

// A PlanDocument is a plan as it is saved and printed.
type PlanDocument struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	repair.Plan
}

const maxPlan = 256 << 20

var errNoPlan = errors.New("not a plan file: write one with plan --save")

// DocumentOf gives the document of a plan. One of nothing has empty lists.
func DocumentOf(p *repair.Plan) PlanDocument {
	d := PlanDocument{APIVersion: APIVersion, Kind: "Plan", Plan: *p}
	d.Targets, d.Steps = append([]repair.Target{}, p.Targets...), append([]repair.Step{}, p.Steps...)
	return d
}

// SavePlan writes a plan for apply. It may hold names of pods: only the user can read the file.
func SavePlan(path string, p *repair.Plan) error {
	b, err := json.MarshalIndent(DocumentOf(p), "", " ")
	if !strings.HasSuffix(path, ".json") && err == nil {
		b, err = yaml.JSONToYAML(b)
	}
	if err != nil {
		return fmt.Errorf("save plan: %w", err)
	}
	if err := hostfile.Replace(path, b, 0o600); err != nil {
		return fmt.Errorf("save plan: %w", err)
	}
	return nil
}

// ReadPlan reads a plan from a file, or from stdin if path is "-".
func ReadPlan(path string, stdin io.Reader) (*repair.Plan, error) {
	in := stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, maxPlan+1))
	if err != nil {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	if len(b) > maxPlan {
		return nil, errors.New("read plan: larger than 256 MB")
	}
	return parsePlan(b)
}

// parsePlan reads a plan strictly: a step that we do not understand is not half done.
func parsePlan(b []byte) (*repair.Plan, error) {
	var f PlanDocument
	t := bytes.TrimLeft(b, " \t\r\n")
	asJSON := len(t) > 0 && t[0] == '{'
	if err := otherSchema(b, asJSON); err != nil {
		return nil, err
	}
	if asJSON {
		d := json.NewDecoder(bytes.NewReader(b)) // large ones are saved as JSON
		d.DisallowUnknownFields()
		if err := d.Decode(&f); err != nil {
			return nil, fmt.Errorf("%w: %w", errNoPlan, err)
		}
	} else if err := yaml.UnmarshalStrict(b, &f); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoPlan, err)
	}
	if f.Kind != "Plan" || f.APIVersion != APIVersion || f.Schema != repair.Schema {
		return nil, fmt.Errorf("read plan: not a plan of %s, schema %d: plan again with this version", APIVersion, repair.Schema)
	}
	if f.Undoes != "" {
		return nil, errors.New("read plan: it undoes plan " + strconv.Quote(f.Undoes) + "; an undo is made from the journal of that plan, never from a file: plumbline undo")
	}
	return &f.Plan, f.Valid()
}

// otherSchema refuses a plan of another schema, before its fields are read strictly.
func otherSchema(b []byte, asJSON bool) error {
	var of struct {
		Kind   string `json:"kind"`
		Schema int    `json:"schema"`
	}
	read := func(b []byte, v any) error { return yaml.Unmarshal(b, v) }
	if asJSON {
		read = json.Unmarshal
	}
	if read(b, &of) == nil && of.Kind == "Plan" && of.Schema != repair.Schema {
		return fmt.Errorf("read plan: it has schema %d, this version reads %d: make the plan again", of.Schema, repair.Schema)
	}
	return nil
}
