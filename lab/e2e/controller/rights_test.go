//go:build e2e

package controller

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"plumbline.dev/plumbline/lab"
)

// onlyThis is what the controller's account may do, beside reading what anybody may who is authenticated: verb
// resource.group, with the namespace if it is one alone, and the name of the object.
var onlyThis = strings.Fields(`
create/events@default
create/findings.plumbline.dev
create/leases.coordination.k8s.io@plumbline-system
create/serviceaccounts/token@plumbline-system=plumbline-reader
create/subjectaccessreviews.authorization.k8s.io
create/tokenreviews.authentication.k8s.io
delete/findings.plumbline.dev
get/leases.coordination.k8s.io@plumbline-system
get/pods/proxy@plumbline-system
list/leases.coordination.k8s.io@plumbline-system
update/findings/status.plumbline.dev
update/leases.coordination.k8s.io@plumbline-system=plumbline-controller
update/repairpolicies/status.plumbline.dev
update/suppressions/status.plumbline.dev
`)

// everybody may ask about themselves.
var everybody = []string{
	"create/selfsubjectreviews.authentication.k8s.io", "create/selfsubjectaccessreviews.authorization.k8s.io", "create/selfsubjectrulesreviews.authorization.k8s.io",
}

// rights asks the API server for every verb on every resource, in all namespaces and in single ones. Reads are
// those of the reader's role, and none of secrets or of what is in a pod.
func (b *bench) rights() {
	b.t.Helper()
	var asked []review
	for _, r := range b.resources() {
		for _, verb := range []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "impersonate", "bind", "escalate", "approve", "sign"} {
			spaces := []string{""}
			if r.namespaced {
				spaces = append(spaces, "default", lab.AgentNamespace, "kube-system")
			}
			for _, ns := range spaces {
				for _, object := range []string{"", "plumbline-reader", "plumbline-repairer", "plumbline-controller"} { // a right may be for one name
					asked = append(asked, newReview(verb, r, ns, object))
				}
			}
		}
	}
	var may, reads []string
	for i, yes := range b.reviewed(asked) {
		a := asked[i].Spec.ResourceAttributes
		what := a.Verb + "/" + strings.TrimSuffix(a.Resource+"/"+a.Subresource, "/") + strings.TrimSuffix("."+a.Group, ".")
		here := what + strings.TrimSuffix("@"+a.Namespace, "@")
		switch read := slices.Contains([]string{"get", "list", "watch"}, a.Verb) && a.Subresource == ""; {
		case !yes || slices.Contains(everybody, what):
		case read && a.Namespace+a.Name == "":
			reads = append(reads, what)
		case slices.Contains(reads, what) || slices.Contains(may, what) || slices.Contains(may, here): // of all namespaces, or names
		case a.Name != "":
			may = append(may, here+"="+a.Name)
		default:
			may = append(may, here)
		}
	}
	slices.Sort(may)
	if may = slices.Compact(may); !slices.Equal(may, onlyThis) {
		b.t.Errorf("the controller may do %q,\nand should %q", may, onlyThis)
	}
	b.t.Logf("%d questions; it may read %q", len(asked), reads)
	for _, r := range reads {
		if strings.Contains(r, "secrets") || strings.Contains(r, "configmaps") || strings.Contains(r, "serviceaccounts") || strings.Contains(r, "roles") {
			b.t.Errorf("it may %s", r)
		}
	}
	if !slices.Contains(reads, "list/pods") || !slices.Contains(reads, "list/suppressions.plumbline.dev") {
		b.t.Error("it may not read what it must")
	}
}

type resource struct {
	group, name string
	namespaced  bool
}

// resources are all that the API server has, with their subresources.
func (b *bench) resources() (out []resource) {
	b.t.Helper()
	var groups struct {
		Groups []struct {
			Name             string
			PreferredVersion struct{ GroupVersion string }
		}
	}
	if err := b.Get(b.t.Context(), "/apis", &groups); err != nil {
		b.t.Fatal(err)
	}
	at := map[string]string{"": "/api/v1"}
	for _, g := range groups.Groups {
		at[g.Name] = "/apis/" + g.PreferredVersion.GroupVersion
	}
	for group, path := range at {
		var list struct {
			Resources []struct {
				Name       string
				Namespaced bool
			}
		}
		if err := b.Get(b.t.Context(), path, &list); err != nil {
			b.t.Fatal(err)
		}
		for _, r := range list.Resources {
			out = append(out, resource{group, r.Name, r.Namespaced})
		}
	}
	if len(out) < 100 {
		b.t.Fatalf("the API server has %d resources", len(out))
	}
	return out
}

type review struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Spec       struct {
		User               string     `json:"user"`
		Groups             []string   `json:"groups"`
		ResourceAttributes attributes `json:"resourceAttributes"`
	} `json:"spec"`
}

type attributes struct {
	Verb        string `json:"verb"`
	Group       string `json:"group"`
	Resource    string `json:"resource"`
	Subresource string `json:"subresource"`
	Namespace   string `json:"namespace"`
	Name        string `json:"name"`
}

func newReview(verb string, r resource, ns, object string) review {
	q := review{APIVersion: "authorization.k8s.io/v1", Kind: "SubjectAccessReview"}
	q.Spec.User = "system:serviceaccount:" + lab.AgentNamespace + ":plumbline-controller"
	q.Spec.Groups = []string{"system:authenticated", "system:serviceaccounts", "system:serviceaccounts:" + lab.AgentNamespace}
	name, sub, _ := strings.Cut(r.name, "/")
	q.Spec.ResourceAttributes = attributes{verb, r.group, name, sub, ns, object}
	return q
}

// reviewed asks the questions, and gives the answers in their order.
func (b *bench) reviewed(asked []review) []bool {
	b.t.Helper()
	yes, errs := make([]bool, len(asked)), make([]error, len(asked))
	var wg sync.WaitGroup
	next := make(chan int)
	for range 8 {
		wg.Go(func() {
			for i := range next {
				yes[i], errs[i] = b.reviewOne(&asked[i])
			}
		})
	}
	for i := range asked {
		next <- i
	}
	close(next)
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		b.t.Fatal(err)
	}
	return yes
}

func (b *bench) reviewOne(q *review) (bool, error) {
	text, err := json.Marshal(q)
	if err != nil {
		return false, err
	}
	out, err := b.Do(b.t.Context(), http.MethodPost, "/apis/authorization.k8s.io/v1/subjectaccessreviews", string(text))
	if err != nil {
		return false, err
	}
	var answer struct{ Status *struct{ Allowed bool } }
	if err := json.Unmarshal(out, &answer); err != nil {
		return false, err
	}
	if answer.Status == nil {
		return false, fmt.Errorf("no answer: %s", out)
	}
	return answer.Status.Allowed, nil
}
