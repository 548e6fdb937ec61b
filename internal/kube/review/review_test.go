package review

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	authn "k8s.io/api/authentication/v1"
	authz "k8s.io/api/authorization/v1"
)

var someone = who{User: "system:serviceaccount:plumbline-system:plumbline-reader", UID: "u1", Groups: []string{"system:authenticated"}, Extra: map[string][]string{"k": {"a", "b"}}}

// strict decodes as the API server would, and knows every field.
func strict(t *testing.T, from, into any) {
	t.Helper()
	b, err := json.Marshal(from)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
}

func TestWireIsKubernetes(t *testing.T) {
	t.Parallel()
	var token authn.TokenReview
	strict(t, newTokenReview("tok", "aud"), &token)
	if token.Kind != "TokenReview" || token.APIVersion != authn.SchemeGroupVersion.String() || token.Spec.Token != "tok" || !reflect.DeepEqual(token.Spec.Audiences, []string{"aud"}) {
		t.Errorf("%+v", token)
	}
	var access authz.SubjectAccessReview
	strict(t, newAccessReview(someone, "get", "plumbline.dev", "nodestates", "", "w1"), &access)
	want := authz.SubjectAccessReviewSpec{
		User: someone.User, UID: "u1", Groups: someone.Groups, Extra: map[string]authz.ExtraValue{"k": {"a", "b"}},
		ResourceAttributes: &authz.ResourceAttributes{Verb: "get", Group: "plumbline.dev", Resource: "nodestates", Name: "w1"},
	}
	if access.Kind != "SubjectAccessReview" || access.APIVersion != authz.SchemeGroupVersion.String() || !reflect.DeepEqual(access.Spec, want) {
		t.Errorf("%+v", access)
	}

	user := authn.UserInfo{Username: someone.User, UID: "u1", Groups: someone.Groups, Extra: map[string]authn.ExtraValue{"k": {"a", "b"}}}
	for name, c := range map[string]struct {
		status authn.TokenReviewStatus
		ok     bool
	}{
		"yes":              {authn.TokenReviewStatus{Authenticated: true, User: user, Audiences: []string{"other", "aud"}}, true},
		"no":               {authn.TokenReviewStatus{User: user, Audiences: []string{"aud"}, Error: "expired"}, false},
		"another audience": {authn.TokenReviewStatus{Authenticated: true, User: user, Audiences: []string{"other"}}, false},
		"no audience":      {authn.TokenReviewStatus{Authenticated: true, User: user}, false},
		"nobody":           {authn.TokenReviewStatus{Authenticated: true, Audiences: []string{"aud"}}, false},
	} {
		b, err := json.Marshal(authn.TokenReview{Status: c.status})
		if err != nil {
			t.Fatal(err)
		}
		var r tokenReview
		if err := json.Unmarshal(b, &r); err != nil {
			t.Fatal(err)
		}
		who, ok := r.owner("aud")
		if ok != c.ok || (ok && !reflect.DeepEqual(who, someone)) {
			t.Errorf("%s: %+v, %v", name, who, ok)
		}
	}
}

// An answer that is none is neither yes nor no.
func TestAnswers(t *testing.T) {
	t.Parallel()
	yes := `{"status":{"authenticated":true,"allowed":true,"audiences":["aud"],"user":{"username":"u"}}}`
	for name, c := range map[string]struct {
		code     int
		text     string
		ok, fail bool
	}{
		"yes":       {201, yes, true, false},
		"no":        {201, `{"status":{"error":"invalid bearer token"}}`, false, false},
		"denied":    {201, `{"status":{"authenticated":true,"audiences":["x"],"allowed":true,"denied":true}}`, false, false},
		"refused":   {403, yes, false, true},
		"broken":    {500, yes, false, true},
		"garbage":   {201, `{"status":`, false, true},
		"elsewhere": {302, yes, false, true},
		"endless":   {201, `{"x":"` + strings.Repeat("x", maxAnswer) + `"}`, false, true},
	} {
		var who tokenReview
		err := take(c.code, strings.NewReader(c.text), &who)
		if _, ok := who.owner("aud"); err == nil && ok != c.ok || (err != nil) != c.fail {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
		var may accessReview
		err = take(c.code, strings.NewReader(c.text), &may)
		if ok := may.Status.Allowed && !may.Status.Denied; err == nil && ok != c.ok || (err != nil) != c.fail {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
	}
	r := &Reviewer{}
	if _, ok, err := r.Authenticate(t.Context(), "", "aud"); ok || err != nil {
		t.Errorf("no token: %v, %v", ok, err)
	}
	if _, ok, err := r.Authenticate(t.Context(), "tok", ""); ok || err != nil {
		t.Errorf("no audience: %v, %v", ok, err)
	}
	for _, nobody := range []any{nil, "u", who{}} {
		if may, err := r.Authorize(t.Context(), nobody, "get", "g", "r", "", "n"); may || err == nil {
			t.Errorf("%v: %v, %v", nobody, may, err)
		}
	}
}

func FuzzTokenReview(f *testing.F) {
	f.Add([]byte(`{"status":{"authenticated":true,"audiences":["aud"],"user":{"username":"u"}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var r tokenReview
		if json.Unmarshal(b, &r) != nil {
			return
		}
		if who, ok := r.owner("aud"); ok != (who.User != "") {
			t.Errorf("%+v, %v", who, ok)
		}
	})
}
