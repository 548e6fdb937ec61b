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
	out := KeyAnnotations(i.Key)
	out[annotationCertificate] = base64.StdEncoding.EncodeToString(i.Certificate)
	out[annotationBoot], out[annotationNames] = i.BootID, strings.Join(i.Names, ",")
	return out
}

// ReadIdentity reads the identity from a Lease.
func ReadIdentity(lease string, annotations map[string]string) (Identity, error) {
	node, ok := strings.CutPrefix(lease, LeasePrefix)
	if !ok || node == "" {
		return Identity{}, fmt.Errorf("lease %.80q is not of an agent", lease)
	}
	key, err := ReadKey(annotations)
	if err != nil {
		return Identity{}, fmt.Errorf("lease %s: %w", lease, err)
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

// ControllerLease is the Lease by which controllers elect a leader. It has the key that the leader signs its answers with.
const ControllerLease = "plumbline-controller"

// KeyAnnotations are the annotations that publish a key.
func KeyAnnotations(key ed25519.PublicKey) map[string]string {
	return map[string]string{annotationKey: base64.StdEncoding.EncodeToString(key)}
}

// ReadKey reads a key from the annotations of a Lease.
func ReadKey(annotations map[string]string) (ed25519.PublicKey, error) {
	key, err := base64.StdEncoding.DecodeString(annotations[annotationKey])
	if err != nil || len(key) != ed25519.PublicKeySize {
		return nil, errors.New("it has no key")
	}
	return key, nil
}

// KeyOf reads the key of the agent on a node.
func KeyOf(ctx context.Context, from Identities, node string) func(fresh bool) (ed25519.PublicKey, error) {
	return func(fresh bool) (ed25519.PublicKey, error) {
		id, err := from.Identity(ctx, node, fresh)
		return id.Key, err
	}
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
