//go:build e2e

package repair

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// A hook is called with the cluster.
type hook = func(context.Context, *stage.Stage) error

// checks are the checks after the repair of each incident, besides that no finding
// remains.
var checks = map[string]func(r *stage.Repair) (before, after hook){
	"late-del":         lateDel,
	"leaked-endpoints": leakedEndpoints,
	"shared-address":   sharedAddress,
	"stale-nodename":   staleNodename,
}

// withChecks adds the incident's own checks after the repair, and then lets Calico run.
func withChecks(r *stage.Repair, name string) {
	var before, after hook
	if s := checks[name]; s != nil {
		before, after = s(r)
	}
	r.Before = before
	r.After = func(ctx context.Context, s *stage.Stage) error {
		if after != nil {
			if err := after(ctx, s); err != nil {
				return err
			}
		}
		return goOn(ctx, s, r)
	}
}

// goOn lets Calico itself run after the repair.
func goOn(ctx context.Context, s *stage.Stage, r *stage.Repair) error {
	return stage.GoesOn{Pods: 3, Rounds: 2, For: *goesOn, Grace: time.Minute}.After(ctx, s, r)
}

// lateDel: the pod that lost its endpoint has all its records back, and never stopped.
func lateDel(*stage.Repair) (before, after hook) {
	var was stage.Life
	before = func(ctx context.Context, s *stage.Stage) (err error) {
		was, err = s.Life(ctx, "etcd1-0")
		return err
	}
	after = func(ctx context.Context, s *stage.Stage) error {
		is, err := s.Life(ctx, "etcd1-0")
		if err != nil {
			return err
		}
		if err := stage.Expect(is == was, "the same pod in the same container with the same address, %+v, got %+v", was, is); err != nil {
			return err
		}
		return errors.Join(s.Recorded(ctx, "etcd1-0"), s.Reaches(ctx, "peer", is.Address, "etcd1-0"))
	}
	return before, after
}

// leakedEndpoints: one plan removes all leaks. It has to be requested with a flag,
// because it exceeds the mass-change limit.
func leakedEndpoints(r *stage.Repair) (before, after hook) {
	before = func(ctx context.Context, s *stage.Stage) error {
		out, code, err := stage.Plumbline(ctx, s.Lab, r.Bin, r.State, "plan", "--settle="+r.Settle.String())
		r.Args = []string{"--allow-mass-change"}
		return errors.Join(err, stage.Expect(code == 1 && strings.Contains(out, "pass --allow-mass-change"), "a plan to be refused without --allow-mass-change, got exit code %d:\n%s", code, out))
	}
	after = func(ctx context.Context, s *stage.Stage) error {
		keys, err := s.Endpoints(ctx)
		if err != nil {
			return err
		}
		n := 0
		for _, k := range keys {
			if strings.HasPrefix(k, s.Namespace+"/") {
				n++
			}
		}
		return stage.Expect(n == 0 && len(r.Plans()) == 1, "no endpoint left after one plan, got %d after %d", n, len(r.Plans()))
	}
	return before, after
}

// staleNodename: the running pod's address is not released after the garbage-collection
// grace period, although its node still has another node's name: a person must correct
// that.
func staleNodename(r *stage.Repair) (before, after hook) {
	r.Left = []string{"PL5003/"}
	var was stage.Life
	before = func(ctx context.Context, s *stage.Stage) (err error) {
		was, err = s.Life(ctx, "victim")
		r.Folded = []string{"PL1003/" + was.Address}
		if s.Datastore == lab.Etcd {
			// Its endpoint has the other node too, so that the pod was never reachable; that node
			// takes it for its own and does not reach it.
			r.Left = append(r.Left, "PL2001/", "PL2002/", "PL3003/", "PL3007/node2")
			return err
		}
		r.Harm.Also("node1", was.Address)
		return err
	}
	after = func(ctx context.Context, s *stage.Stage) error {
		if err := stage.CollectorGrace(ctx, s, 10*time.Second); err != nil {
			return err
		}
		time.Sleep(90 * time.Second) // twice the time after which the victim's address was released
		is, err := s.Life(ctx, "victim")
		if err != nil {
			return err
		}
		if err := stage.Expect(is == was, "the victim as it was, %+v, got %+v", was, is); err != nil {
			return err
		}
		r.Left = nil
		if s.Datastore == lab.KDD {
			return errors.Join(s.Recorded(ctx, "victim"), rename(ctx, s))
		}
		// After the node has its own name again, the endpoint can be corrected too.
		if err := rename(ctx, s); err != nil {
			return err
		}
		return errors.Join(r.All(ctx, s), s.Recorded(ctx, "victim"))
	}
	return before, after
}

// rename gives node1 its own name back, as a person would.
func rename(ctx context.Context, s *stage.Stage) error {
	node, err := s.Node(ctx, 1)
	if err != nil {
		return err
	}
	if s.Datastore == lab.Etcd {
		return node.WriteFile("/var/lib/calico/nodename", node.Name)
	}
	path := strings.TrimPrefix(node.CNIConfig(), node.Path(""))
	text, err := os.ReadFile(node.CNIConfig())
	if err != nil {
		return err
	}
	return node.WriteFile(path, strings.ReplaceAll(string(text), "node2", node.Name))
}

// sharedAddress: one pod keeps the address and its connections; the controllers recreate
// the others, with addresses of their own.
func sharedAddress(r *stage.Repair) (before, after hook) {
	var ip string
	was := map[string]stage.Life{}
	before = func(ctx context.Context, s *stage.Stage) error {
		for _, name := range []string{"first", "second", "third"} {
			life, err := s.Life(ctx, name)
			if errors.Is(err, lab.ErrAnswer) {
				continue // not at this moment
			}
			if err != nil {
				return err
			}
			was[name], ip = life, life.Address
		}
		owner, held, err := s.Owner(ctx, ip)
		if dev, err := routeOf(ctx, s, owner.Secondary["node"], ip); err == nil && held && dev == stage.Device(s.Namespace, owner.Secondary["pod"]) {
			r.Harm.Also(owner.Secondary["node"], ip) // it answers now, and must answer all the time
		}
		return err
	}
	after = func(ctx context.Context, s *stage.Stage) error {
		owner, held, err := s.Owner(ctx, ip)
		if err != nil {
			return err
		}
		keeper := owner.Secondary["pod"]
		if err := stage.Expect(held && was[keeper] != stage.Life{}, "%s allocated to one of the pods that had it, got %v", ip, owner); err != nil {
			return err
		}
		is, err := s.Life(ctx, keeper)
		if err != nil {
			return err
		}
		if err := stage.Expect(is == was[keeper], "%s as it was, %+v, got %+v", keeper, was[keeper], is); err != nil {
			return err
		}
		s.Say("%s kept %s", keeper, ip)
		return errors.Join(othersElsewhere(ctx, s, was, keeper, ip), s.Reaches(ctx, "client1", ip, keeper), s.Reaches(ctx, "client2", ip, keeper))
	}
	return before, after
}

// routeOf is the interface of the node's route for an address.
func routeOf(ctx context.Context, s *stage.Stage, node, ip string) (string, error) {
	n, err := s.NodeByName(ctx, node)
	if err != nil {
		return "", err
	}
	return stage.RouteDevice(ctx, n, ip)
}

// othersElsewhere requires a ready pod of each controller, with a different address.
func othersElsewhere(ctx context.Context, s *stage.Stage, was map[string]stage.Life, keeper, ip string) error {
	for name := range was {
		if name == keeper {
			continue
		}
		err := lab.Eventually(ctx, time.Minute, func(ctx context.Context) error {
			pods, err := s.Pods(ctx, s.Namespace, "app="+name)
			if err != nil {
				return err
			}
			if err := stage.Expect(len(pods) == 1 && pods[0].Ready() && pods[0].Metadata.UID != was[name].UID && pods[0].Status.PodIP != ip, "another pod of %s, with another address", name); err != nil {
				return err
			}
			return s.Reaches(ctx, "client1", pods[0].Status.PodIP, pods[0].Metadata.Name)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
