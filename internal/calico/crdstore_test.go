package calico

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// A script is an API server that serves fixed objects by path, and notes what it is sent.
// Whether anything is compared only the lab can tell.
type script struct {
	API
	served map[string]string
	reads  int
	sent   []string
	answer string
	fail   error
}

func (s *script) Get(_ context.Context, path string) ([]byte, time.Time, error) {
	s.reads++
	if b, ok := s.served[path]; ok {
		return []byte(b), time.Time{}, nil
	}
	return nil, time.Time{}, observe.ErrNotThere
}

func (s *script) Write(_ context.Context, method, path, _ string, query url.Values, body []byte) ([]byte, error) {
	s.sent = append(s.sent, strings.TrimSuffix(method+" "+path+"?"+query.Encode(), "?")+" "+string(body))
	return []byte(s.answer), s.fail
}

const handlePath = "/apis/crd.projectcalico.org/v1/ipamhandles/h"

func scripted(group string) (*script, *CRDStore) {
	s := &script{served: map[string]string{handlePath: asServed}, answer: strings.Replace(asServed, `"7"`, `"8"`, 1)}
	return s, (&CRDs{API: s, Group: group}).Store(s)
}

var handleH = model.Ref{Kind: model.KindHandle, Name: "H"}

func TestWhatIsSent(t *testing.T) {
	t.Parallel()
	for _, dry := range []bool{false, true} {
		s, store := scripted(groupV1)
		store.DryRun = dry
		o, err := store.Get(t.Context(), handleH)
		if err != nil {
			t.Fatal(err)
		}
		o.Body = json.RawMessage(`{"handleID":"H","block":{}}`)
		now, err := store.Put(t.Context(), o)
		if want := map[bool]string{false: "8", true: "7"}[dry]; err != nil || now.Revision != want {
			t.Errorf("%+v, %v", now, err)
		}
		if err := store.Delete(t.Context(), now); err != nil {
			t.Error(err)
		}
		if _, err := store.Put(t.Context(), model.Object{Ref: handleH, Body: o.Body, Labels: map[string]string{"a": "b"}}); err != nil {
			t.Error(err)
		}
		query, rev, inBody := "?fieldValidation=Strict ", "8", ""
		if dry {
			query, rev, inBody = "?dryRun=All&fieldValidation=Strict ", "7", `"dryRun":["All"],`
		}
		want := []string{
			"PUT " + handlePath + query, "DELETE " + handlePath + map[bool]string{true: "?dryRun=All"}[dry] +
				` {"apiVersion":"v1",` + inBody + `"kind":"DeleteOptions","preconditions":{"resourceVersion":"` + rev + `","uid":"u"}}`,
			"POST /apis/crd.projectcalico.org/v1/ipamhandles" + query + `{"apiVersion":"crd.projectcalico.org/v1","kind":"IPAMHandle","metadata":{"labels":{"a":"b"},"name":"h"},"spec":{"handleID":"H","block":{}}}`,
		}
		for i := range want {
			if len(s.sent) != len(want) || !strings.HasPrefix(s.sent[i], want[i]) {
				t.Errorf("sent %q\nwant %q", s.sent, want)
				break
			}
		}
		if s.reads != 1 {
			t.Errorf("%d reads", s.reads)
		}
	}
}

func TestWhatIsNotSent(t *testing.T) {
	t.Parallel()
	body := json.RawMessage(`{"handleID":"H","block":{}}`)
	held := strings.Replace(asServed, `"annotations"`, `"finalizers":["x"],"annotations"`, 1)
	for name, c := range map[string]struct {
		group, served string
		put, del      *model.Object
		want          error
	}{
		"another group, written": {group: groupV3, put: &model.Object{Ref: handleH, Body: body}, want: errGroup},
		"another group, deleted": {group: groupV3, del: &model.Object{Ref: handleH, UID: "u", Revision: "7"}, want: errGroup},
		"another's body":         {put: &model.Object{Ref: handleH, Body: json.RawMessage(`{"handleID":"g"}`)}, want: execute.ErrRefused},
		"no body":                {put: &model.Object{Ref: handleH}, want: execute.ErrRefused},
		"an endpoint":            {put: &model.Object{Ref: model.Ref{Kind: model.KindEndpoint, Name: "a/b"}, Body: body}, want: execute.ErrRefused},
		"an old revision":        {put: &model.Object{Ref: handleH, UID: "u", Revision: "6", Body: body}, want: execute.ErrStale},
		"another UID":            {put: &model.Object{Ref: handleH, UID: "v", Revision: "7", Body: body}, want: execute.ErrStale},
		"no UID":                 {put: &model.Object{Ref: handleH, Revision: "7", Body: body}, want: execute.ErrStale},
		"deletion of nothing":    {del: &model.Object{Ref: handleH}, want: execute.ErrStale},
		"deletion of an old one": {del: &model.Object{Ref: handleH, UID: "u", Revision: "6"}, want: execute.ErrStale},
		"deletion of a held one": {served: held, del: &model.Object{Ref: handleH, UID: "u", Revision: "7"}, want: execute.ErrRefused},
	} {
		if c.group == "" {
			c.group = groupV1
		}
		s, store := scripted(c.group)
		if c.served != "" {
			s.served[handlePath] = c.served
		}
		var err error
		if c.put != nil {
			_, err = store.Put(t.Context(), *c.put)
		} else {
			err = store.Delete(t.Context(), *c.del)
		}
		if !errors.Is(err, c.want) || len(s.sent) > 0 {
			t.Errorf("%s: %v; sent %q", name, err, s.sent)
		}
	}
}

// TestUnknownStaysUnknown: what is neither stale nor refused may have been done.
func TestUnknownStaysUnknown(t *testing.T) {
	t.Parallel()
	unknown := func(err error) bool {
		return err != nil && !errors.Is(err, execute.ErrStale) && !errors.Is(err, execute.ErrRefused)
	}
	s, store := scripted(groupV1)
	o, err := store.Get(t.Context(), handleH)
	if err != nil {
		t.Fatal(err)
	}
	s.answer = "{" // done, and nobody can tell how it is now
	if _, err := store.Put(t.Context(), o); !unknown(err) {
		t.Errorf("an answer cut short: %v", err)
	}
	s.fail = context.DeadlineExceeded
	if _, err := store.Put(t.Context(), o); !unknown(err) {
		t.Errorf("no answer: %v", err)
	}
	if err := store.Delete(t.Context(), o); !unknown(err) {
		t.Errorf("no answer: %v", err)
	}
}

// TestRememberedInBounds: what is forgotten is read again, and written as well.
func TestRememberedInBounds(t *testing.T) {
	t.Parallel()
	s, store := scripted(groupV1)
	o, err := store.Get(t.Context(), handleH)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 * maxLast {
		if _, err := store.Get(t.Context(), model.Ref{Kind: model.KindHandle, Name: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if len(store.last) > maxLast {
		t.Errorf("%d are remembered", len(store.last))
	}
	if _, err := store.Put(t.Context(), o); err != nil || len(s.sent) != 1 || !strings.HasPrefix(s.sent[0], http.MethodPut) {
		t.Errorf("%v; sent %q", err, s.sent)
	}
	if !reflect.DeepEqual(o.Labels, map[string]string{"a": "b"}) {
		t.Errorf("%v", o.Labels)
	}
}
