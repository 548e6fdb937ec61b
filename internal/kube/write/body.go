package write

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"

	"plumbline.dev/plumbline/internal/kube"
)

const strategicMerge = "application/strategic-merge-patch+json"

// A written is the part of a body that decides whether it may be sent.
type written struct {
	Metadata struct {
		identity
		GenerateName string `json:"generateName"`
	} `json:"metadata"`
	deletion
	DeleteOptions deletion `json:"deleteOptions"` // of an eviction
}

// An identity names an object, and what an atomic update compares.
type identity struct {
	Name            string `json:"name"`
	Namespace       string `json:"namespace"`
	UID             string `json:"uid,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
}

type deletion struct {
	GracePeriodSeconds *int64 `json:"gracePeriodSeconds"`
	Preconditions      struct {
		UID             string `json:"uid"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"preconditions"`
}

// sound refuses a write without a precondition, or whose body does not match its path: the
// API server would carry it out.
func (a allowed) sound(r kube.Request) error {
	if err := soundQuery(r.Query); err != nil {
		return err
	}
	if stepPath.MatchString(r.Path) {
		return nil // the agent compares
	}
	var b written
	if err := json.Unmarshal(r.Body, &b); err != nil {
		return fmt.Errorf("read the body: %w", err)
	}
	switch r.Method {
	case http.MethodPost:
		return a.soundNew(r.Path, b)
	case http.MethodPut:
		if b.Metadata.UID == "" || b.Metadata.ResourceVersion == "" || b.Metadata.Name != path.Base(r.Path) {
			return errors.New("no name, UID or resourceVersion as precondition")
		}
	case http.MethodDelete:
		return b.sound(!calicoPath.MatchString(r.Path))
	case http.MethodPatch:
		return soundPatch(r)
	}
	return nil
}

func soundQuery(query url.Values) error {
	for k, v := range query {
		if (k != "dryRun" || len(v) != 1 || v[0] != "All") && k != "fieldManager" && k != "fieldValidation" {
			return fmt.Errorf("query parameter %.40q is not allowed", k)
		}
	}
	return nil
}

func (a allowed) soundNew(at string, b written) error {
	want := recordPath
	switch {
	case evictionPath.MatchString(at):
		if b.Metadata.Name != path.Base(path.Dir(at)) {
			return fmt.Errorf("%.80q is not the pod in the path", b.Metadata.Name)
		}
		return b.DeleteOptions.sound(false)
	case a.leases.MatchString(at):
		want = a.lease
	case a.journals.MatchString(at):
		want = a.journal
	}
	if b.Metadata.GenerateName != "" || !want.MatchString(at+"/"+b.Metadata.Name) {
		return fmt.Errorf("%.80q is not an allowed name for it", b.Metadata.Name)
	}
	return nil
}

func (d *deletion) sound(revision bool) error {
	if d.Preconditions.UID == "" || revision && d.Preconditions.ResourceVersion == "" {
		return errors.New("no UID or resourceVersion as precondition")
	}
	if d.GracePeriodSeconds != nil {
		return errors.New("a delete or eviction must not set gracePeriodSeconds")
	}
	return nil
}

// soundPatch admits only changes of the three annotations of a pod.
func soundPatch(r kube.Request) error {
	if r.Header.Get("Content-Type") != strategicMerge {
		return errors.New("not a strategic merge patch")
	}
	var p podPatch
	d := json.NewDecoder(bytes.NewReader(r.Body))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return fmt.Errorf("read the patch: %w", err)
	}
	if p.Metadata.UID == "" || p.Metadata.ResourceVersion == "" {
		return errors.New("no UID or resourceVersion as precondition")
	}
	for k := range p.Metadata.Annotations {
		if k != kube.AnnotationPodIP && k != kube.AnnotationPodIPs && k != kube.AnnotationContainerID {
			return fmt.Errorf("annotation %.80q is not one that Plumbline writes", k)
		}
	}
	return nil
}

// A podPatch is everything that is ever written to a pod.
type podPatch struct {
	Metadata struct {
		UID             string             `json:"uid"`
		ResourceVersion string             `json:"resourceVersion"`
		Annotations     map[string]*string `json:"annotations"` // nil takes it away
	} `json:"metadata"`
}

// A dryRun query makes the API server validate a write and not persist it.
func dryRun(dry bool) url.Values {
	if !dry {
		return nil
	}
	return url.Values{"dryRun": {"All"}}
}

// dryBody marks a deletion as a dry run in its body: the API server ignores the query of a
// deletion with a body and would carry it out.
func dryBody(r *kube.Request) error {
	if r.Method != http.MethodDelete || !r.Query.Has("dryRun") {
		return nil
	}
	var b map[string]json.RawMessage
	if err := json.Unmarshal(r.Body, &b); err != nil {
		return fmt.Errorf("read the body: %w", err)
	}
	if b == nil {
		return errors.New("no body")
	}
	b["dryRun"] = json.RawMessage(`["All"]`)
	var err error
	r.Body, err = json.Marshal(b)
	return err
}

// looksSecret finds credentials of ours that a server may have repeated.
var looksSecret = regexp.MustCompile(`(?i)bearer +[^ "]+|eyJ[-_A-Za-z0-9]{8,}(\.[-_A-Za-z0-9]+)*`)

// words is the server's message, fit to be printed.
func words(b []byte) string {
	return kube.Readable(looksSecret.ReplaceAllString(kube.Message(b[:min(len(b), 4<<10)]), "(secret)"))
}

// split separates namespace and name.
func split(name string) (namespace, own string, err error) {
	namespace, own, _ = strings.Cut(name, "/")
	return namespace, own, kube.CheckNames(namespace, own)
}
