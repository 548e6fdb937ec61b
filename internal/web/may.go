package web

import (
	"context"
	"net/http"
)

type mayKey struct{}

// WithRights returns a request of somebody who may list pods only in the namespaces that may allows.
func WithRights(r *http.Request, may func(namespace string) bool) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), mayKey{}, may))
}

// mayList tells in which namespaces who asks may list pods: all, if nobody limited it. Of a UI that runs with the
// caller's own kubeconfig nothing was read that the caller may not read.
func mayList(r *http.Request) (may func(namespace string) bool, limited bool) {
	if may, ok := r.Context().Value(mayKey{}).(func(string) bool); ok {
		return may, true
	}
	return func(string) bool { return true }, false
}
