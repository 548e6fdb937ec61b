package agent

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// An Identity is what an agent publishes about itself in the Lease of its node. An admission
// policy lets an agent write only the Lease of the node that its token is bound to.
type Identity struct {
	Node   string
	Key    ed25519.PublicKey // of its signatures; a new one at each start
	BootID string
	// Certificate is the SHA-256 of the certificate that it answers with; a new one at each start.
	// Older agents have not published it.
	Certificate []byte
	// Names are the names that Calico uses for the node: of its nodename file and of its CNI
	// configuration.
	Names []string
}

// LeasePrefix and the node's name are the name of the Lease.
const LeasePrefix = "agent-"

// Annotations of the Lease.
const (
	annotationKey         = Group + "/agent-key"
	annotationCertificate = Group + "/agent-certificate"
	annotationBoot        = Group + "/boot-id"
	annotationNames       = Group + "/calico-node-names"
)

// Annotations is the identity as annotations of the Lease.
func (i *Identity) Annotations() map[string]string {
	return map[string]string{
		annotationKey:         base64.StdEncoding.EncodeToString(i.Key),
		annotationCertificate: base64.StdEncoding.EncodeToString(i.Certificate),
		annotationBoot:        i.BootID, annotationNames: strings.Join(i.Names, ","),
	}
}

// ReadIdentity reads the identity from a Lease.
func ReadIdentity(lease string, annotations map[string]string) (Identity, error) {
	node, ok := strings.CutPrefix(lease, LeasePrefix)
	if !ok || node == "" {
		return Identity{}, fmt.Errorf("lease %.80q is not of an agent", lease)
	}
	key, err := base64.StdEncoding.DecodeString(annotations[annotationKey])
	if err != nil || len(key) != ed25519.PublicKeySize {
		return Identity{}, fmt.Errorf("lease %s has no key of an agent", lease)
	}
	i := Identity{Node: node, Key: key, BootID: annotations[annotationBoot]}
	if sum, err := base64.StdEncoding.DecodeString(annotations[annotationCertificate]); err == nil && len(sum) == sha256.Size {
		i.Certificate = sum
	}
	if names := annotations[annotationNames]; names != "" {
		i.Names = strings.Split(names, ",")
	}
	return i, nil
}

// Identities are the identities that agents published, as the API server has them.
type Identities interface {
	// Identity returns that of the agent on a node; with fresh it is read again.
	Identity(ctx context.Context, node string, fresh bool) (Identity, error)
}

var errNoIdentities = errors.New("the keys of the agents are not read in this run")

// opened verifies who signed an answer. An agent has a new key after each start: one that does
// not fit is read again once.
func (f *Fleet) opened(ctx context.Context, node, nonce string, s *SignedVerification) (w model.Verification, err error) {
	if f.Identities == nil {
		return w, errNoIdentities
	}
	for _, fresh := range []bool{false, true} {
		id, keyErr := f.Identities.Identity(ctx, node, fresh)
		if keyErr != nil {
			return w, keyErr
		}
		if w, err = s.open(id.Key, nonce); !errors.Is(err, errUnsigned) {
			return w, err
		}
	}
	return w, err
}

// newNonce is the nonce of one request.
func newNonce() string { return rand.Text() }
