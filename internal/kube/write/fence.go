package write

import (
	"context"
	"strings"

	"plumbline.dev/plumbline/internal/kube"
)

// An Account is whom a run writes as. The lease names its credentials, and an admission policy
// refuses every other one: a run that lost the lease without knowing it writes nothing more.
type Account interface {
	Token(ctx context.Context) (string, error)
	// Credentials returns the IDs of the tokens that the run writes with, of the next one too;
	// named is called when the lease names them.
	Credentials(ctx context.Context) (ids []string, named func())
}

// The annotation of the lease with the credentials of its holder, and the policy that compares
// them.
const (
	credentials = "plumbline.dev/credentials"
	fencePolicy = "plumbline-repair-fence"
)

// ownAccount is the user of the kubeconfig, with the token in it; it writes nothing to Calico's
// records if that is the account of repairs and its token is not in the kubeconfig.
type ownAccount struct{ *kube.Client }

func (o ownAccount) Token(context.Context) (string, error) { return o.OwnToken(), nil }

func (o ownAccount) Credentials(context.Context) ([]string, func()) {
	return []string{kube.CredentialID(o.OwnToken())}, func() {}
}

// fence puts the credentials of the holder into the lease; named is called when it is written.
func (w *Writer) fence(ctx context.Context, o *leaseObject) (named func()) {
	ids, named := w.account.Credentials(ctx)
	annotations := map[string]string{}
	for k, v := range o.Metadata.Annotations {
		annotations[k] = v
	}
	delete(annotations, credentials)
	if text := strings.TrimSpace(strings.Join(ids, " ")); text != "" && o.Spec.HolderIdentity != "" {
		annotations[credentials] = text
	}
	o.Metadata.Annotations = annotations
	return named
}
