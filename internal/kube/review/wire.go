package review

import "slices"

// The types on the wire are our own: Kubernetes' client for these two requests would bring
// all its types into a small program. A test compares with the real ones.

type tokenReview struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Spec       struct {
		Token     string   `json:"token"`
		Audiences []string `json:"audiences"`
	} `json:"spec"`
	Status struct {
		Authenticated bool     `json:"authenticated"`
		Audiences     []string `json:"audiences"`
		User          struct {
			Username string              `json:"username"`
			UID      string              `json:"uid"`
			Groups   []string            `json:"groups"`
			Extra    map[string][]string `json:"extra"`
		} `json:"user"`
	} `json:"status"`
}

func newTokenReview(token, audience string) *tokenReview {
	t := &tokenReview{APIVersion: "authentication.k8s.io/v1", Kind: "TokenReview"}
	t.Spec.Token, t.Spec.Audiences = token, []string{audience}
	return t
}

// owner is the owner of the token. A server that does not support audiences returns none,
// and then its yes is not about ours.
func (t *tokenReview) owner(audience string) (who, bool) {
	u := &t.Status.User
	if !t.Status.Authenticated || u.Username == "" || !slices.Contains(t.Status.Audiences, audience) {
		return who{}, false
	}
	return who{User: u.Username, UID: u.UID, Groups: u.Groups, Extra: u.Extra}, true
}

type accessReview struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Spec       struct {
		User               string              `json:"user"`
		UID                string              `json:"uid,omitempty"`
		Groups             []string            `json:"groups,omitempty"`
		Extra              map[string][]string `json:"extra,omitempty"`
		ResourceAttributes struct {
			Namespace string `json:"namespace,omitempty"`
			Verb      string `json:"verb"`
			Group     string `json:"group"`
			Resource  string `json:"resource"`
			Name      string `json:"name,omitempty"`
		} `json:"resourceAttributes"`
	} `json:"spec"`
	Status struct {
		Allowed bool `json:"allowed"`
		Denied  bool `json:"denied"`
	} `json:"status"`
}

func newAccessReview(who who, verb, group, resource, namespace, name string) *accessReview {
	a := &accessReview{APIVersion: "authorization.k8s.io/v1", Kind: "SubjectAccessReview"}
	a.Spec.User, a.Spec.UID, a.Spec.Groups, a.Spec.Extra = who.User, who.UID, who.Groups, who.Extra
	r := &a.Spec.ResourceAttributes
	r.Verb, r.Group, r.Resource, r.Namespace, r.Name = verb, group, resource, namespace, name
	return a
}
