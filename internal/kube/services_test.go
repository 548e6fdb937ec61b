package kube

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// Kubernetes before 1.31 refuses to select services by their type: all are read, and those of
// other types left out. The answer is the one of 1.30.14.
func TestServicesWithoutSelector(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.FormValue("fieldSelector") != "" {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"kind":"Status","status":"Failure","message":"\"spec.type\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"","reason":"BadRequest","code":400}`)
			return
		}
		fmt.Fprint(w, `{"metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a"},"spec":{"type":"ClusterIP"}},{"metadata":{"name":"b"},"spec":{"type":"LoadBalancer"}}]}`)
	}))
	defer srv.Close()
	c := clientOf(t, srv.URL)
	s := observe.Snapshot(t.Context(), func(string, int, bool) {}, Services{c})
	if cov := s.Coverage[0]; len(s.Services) != 1 || s.Services[0].Name != "b" || cov.State != model.Complete || cov.Rows != 1 {
		t.Errorf("%+v, %+v", s.Services, s.Coverage)
	}
	if c.loadBalancers() != nil {
		t.Error("a watch would be refused too")
	}
}
