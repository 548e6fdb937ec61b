package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/kube/write"
	"plumbline.dev/plumbline/internal/observe"
)

// repairerAccount is the service account that changes something, in the cluster and on nodes.
const repairerAccount = "plumbline-repairer"

// namesPolicy is the admission policy that refuses the account a further token of itself.
const namesPolicy = "plumbline-repair-names"

// connectWriter has everything written as plumbline-repairer, whatever else the user may do: the
// admission policies bound what that account writes. Where the account is not installed the
// user's own permissions are used.
func (r *Run) connectWriter(ctx context.Context) (err error) {
	as := &tokenSource{request: func(ctx context.Context) (string, time.Time, error) {
		return r.client.AccountToken(ctx, r.fleet.namespace, repairerAccount)
	}}
	_, err = as.Token(ctx)
	switch {
	case err == nil:
		r.asRepairer = true
		r.writer, err = write.NewAs(r.client, r.fleet.namespace, as)
		return err
	case errors.Is(err, observe.ErrNotThere):
		r.Cluster.o.Notice("changes are written with your own permissions: the account " + repairerAccount + " is not installed")
	case strings.Contains(err.Error(), namesPolicy): // the user already is the account
		if kube.CredentialID(r.client.OwnToken()) == "" {
			return fmt.Errorf("your kubeconfig is that of %s, but does not contain its token, which the lease must name: use a kubeconfig of your own with the Role plumbline-operator", repairerAccount)
		}
	default:
		return fmt.Errorf("changes are written as %s, and you may not create a token of it (ask for the Role plumbline-operator, docs/repair.md): %w", repairerAccount, err)
	}
	r.writer, err = write.New(r.client, r.fleet.namespace)
	return err
}

// proxied explains why the account's token may be refused although it was just issued.
func (r *Run) proxied(err error) error {
	if r.asRepairer && errors.Is(err, kube.ErrForbidden) {
		return fmt.Errorf("%w (changes are written as %s: it has no permissions if the agents were installed with repair: false; and if your kubeconfig leads through a proxy that authenticates users itself, such as Rancher's, use one that leads to the API server)", err, repairerAccount)
	}
	return err
}
