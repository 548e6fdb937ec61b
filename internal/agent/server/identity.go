package server

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"maps"
	mrand "math/rand/v2"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/agent/door"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// A Lease is the object in which the agent publishes its identity, as annotations.
type Lease interface {
	// Read gives none and revision 0 if it does not exist.
	Read(ctx context.Context) (annotations map[string]string, revision uint64, err error)
	Write(ctx context.Context, annotations map[string]string, now time.Time) (revision uint64, err error)
	Account() string // UID of the ServiceAccount that writes it
}

// When the agent's identity is published: as soon as it has changed, after a failure again soon,
// and from time to time in case somebody deleted the Lease.
const (
	publishLook  = 2 * time.Second
	publishAgain = 10 * time.Second
	publishEvery = 10 * time.Minute
	// publishFirst spreads the first writes of agents that start at the same time.
	publishFirst = 2 * time.Second
)

// readAgain is within what time the Lease is read because somebody asks this agent.
const readAgain = 15 * time.Second

// newKey is the agent's key until it ends. It is never stored: who reads the node's disk cannot
// sign for it later.
func newKey() ed25519.PrivateKey {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic(err) // crypto/rand does not fail
	}
	return key
}

// newCertificate is the agent's certificate until it ends.
func newCertificate(node string, now time.Time) tls.Certificate {
	cert, err := door.Certificate("plumbline-agent", node, now)
	if err != nil {
		panic(err) // crypto/rand does not fail
	}
	return cert
}

// identity is what the agent publishes; ok is false as long as the node was not read. Names that
// Calico used before stay until the node reboots: pods that it started under them may still run.
func (s *Server) identity() (id agent.Identity, ok bool) {
	f := s.store.snapshot(s.now(), model.Machines, model.CNIConfigs).NodeState[s.node]
	public, _ := s.key.Public().(ed25519.PublicKey)
	sum := sha256.Sum256(s.cert.Certificate[0])
	id = agent.Identity{Node: s.node, Key: public, Certificate: sum[:]}
	for _, m := range f.Machines {
		id.BootID = m.BootID
		s.called(m.CalicoName)
	}
	for _, c := range f.CNIConfigs {
		if c.Loaded {
			s.called(c.NodeName)
		}
	}
	id.Names = slices.Clone(s.names)
	return id, id.BootID != ""
}

func (s *Server) called(name string) {
	if name != "" && !slices.Contains(s.names, name) {
		s.names = append(s.names, name)
	}
}

// recall takes over the names that an earlier agent published in this boot.
func (s *Server) recall(ctx context.Context, bootID string) error {
	annotations, err := s.look(ctx)
	if err != nil {
		return err
	}
	before, err := agent.ReadIdentity(agent.LeasePrefix+s.node, annotations)
	if err == nil && before.BootID == bootID {
		for _, name := range before.Names {
			s.called(name)
		}
	}
	return nil
}

// keepPublished keeps the Lease current until ctx ends.
func (s *Server) keepPublished(ctx context.Context) {
	if s.lease == nil {
		return
	}
	var last map[string]string
	var next time.Time
	said, recalled := "", false
	if observe.Wait(ctx, mrand.N(publishFirst)) != nil { //nolint:gosec // it spreads the load, no more
		return
	}
	for {
		id, ok := s.identity()
		if now := s.now(); ok && (!now.Before(next) || next.Sub(now) > 2*publishEvery || last != nil && !maps.Equal(last, id.Annotations())) {
			var err error
			if !recalled {
				err = s.recall(ctx, id.BootID)
				recalled = err == nil
				id, _ = s.identity()
			} else { // before it is written: a write answers with the revision of now
				_, err = s.look(ctx)
			}
			var revision uint64
			if err == nil {
				revision, err = s.lease.Write(ctx, id.Annotations(), now)
			}
			if err == nil {
				s.came(revision)
				last, said = id.Annotations(), ""
				next = now.Add(publishEvery/2 + mrand.N(publishEvery)) //nolint:gosec // it spreads the load, no more
			} else {
				last, next = nil, now.Add(publishAgain)
				if said != err.Error() && ctx.Err() == nil { // log once
					said = err.Error()
					s.log.Warn("repairs will not accept this agent's verifications", "error", err)
				}
			}
		}
		s.compare(ctx)
		if observe.Wait(ctx, publishLook) != nil {
			return
		}
	}
}

// compare reads the Lease if somebody has asked this agent since, which people and the controller do again after the
// API server was away.
func (s *Server) compare(ctx context.Context) {
	now := observe.Uptime()
	switch {
	case !s.asked.Load():
		return
	case s.due == 0: // a check asks all agents at once, and they must not ask the API server at once
		s.due = now + mrand.N(readAgain) //nolint:gosec // it spreads the load, no more
	}
	if now < s.due {
		return
	}
	s.due = 0
	s.asked.Store(false)
	if _, err := s.look(ctx); err != nil {
		s.asked.Store(true)
	}
}

// look reads the Lease. Nobody but this agent writes it, so it has the revision that is remembered, unless it was restored.
func (s *Server) look(ctx context.Context) (map[string]string, error) {
	annotations, revision, err := s.lease.Read(ctx)
	if err == nil {
		s.came(revision)
	}
	return annotations, err
}

// came takes a revision of the API server.
func (s *Server) came(revision uint64) {
	if s.lineage.note(s.lease.Account(), revision, s.now()) {
		s.changed(model.Machines)
	}
}
