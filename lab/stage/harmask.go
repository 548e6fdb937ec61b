package stage

import (
	"context"
	"encoding/json"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/build"
)

// asked is what an asker returns from /asked.
type asked struct {
	Resent  int
	Targets []struct {
		URL, Host, First                            string
		Asked, Lost, Stalled, Late, Broken, Slowest int
	}
}

// begin makes an asker send requests continuously. One that began although that could not be told is stopped first.
func (h *Harm) begin(ctx context.Context, asker string, urls []string) error {
	q := url.Values{"target": urls, "slow": {strconv.Itoa(h.s.pause())}}
	if _, err := h.tell(ctx, asker, "stop"); err != nil {
		return err
	}
	out, err := h.tell(ctx, asker, "start?"+q.Encode())
	if err != nil {
		return err
	}
	return Expect(strings.HasPrefix(out, "{"), "%s to begin, got %q", asker, out)
}

// end stops an asker and returns what it counted.
func (h *Harm) end(ctx context.Context, asker string) (asked, error) {
	var a asked
	err := lab.Eventually(ctx, 30*time.Second, func(ctx context.Context) error {
		if _, err := h.tell(ctx, asker, "stop"); err != nil {
			return err
		}
		out, err := h.tell(ctx, asker, "asked")
		if err != nil {
			return err
		}
		return json.Unmarshal([]byte(out), &a)
	})
	return a, err
}

// tell sends a command to the asker from inside its pod, so that it does not use the
// network that is measured.
func (h *Harm) tell(ctx context.Context, asker, what string) (string, error) {
	return h.s.Kubectl(ctx, "-n", h.s.Namespace, "exec", asker, "--", "/workload", "get", "http://127.0.0.1:8080/"+what)
}

func address(u string) string {
	p, err := url.Parse(u)
	if err != nil {
		return ""
	}
	return p.Hostname()
}

// A bystander is a pod with the state that must not change.
type bystander struct {
	Metadata struct {
		Name, Namespace, UID, DeletionTimestamp string
		Annotations                             map[string]string
	}
	Spec struct {
		NodeName    string
		HostNetwork bool
		Containers  []struct {
			Image string
			Args  []string
		}
	}
	Status struct {
		PodIP             string
		Conditions        []struct{ Type, Status string }
		ContainerStatuses []struct {
			ContainerID  string
			RestartCount int
		}
	}
}

func (b bystander) name() string { return b.Metadata.Namespace + "/" + b.Metadata.Name }

// endpoint is the name of the pod's WorkloadEndpoint.
func (b bystander) endpoint() string {
	return b.Metadata.Namespace + "/" + b.Spec.NodeName + "-k8s-" + strings.ReplaceAll(b.Metadata.Name, "-", "--") + "-eth0"
}

func (b bystander) device() string { return Device(b.Metadata.Namespace, b.Metadata.Name) }

// serves returns whether the pod answers HTTP when it is healthy.
func (b bystander) serves() bool {
	return slices.ContainsFunc(b.Spec.Containers, func(c struct {
		Image string
		Args  []string
	},
	) bool {
		return c.Image == build.WorkloadImage && len(c.Args) == 1 && (c.Args[0] == "serve" || c.Args[0] == "ask")
	})
}

func (b bystander) ready() bool {
	return b.Metadata.DeletionTimestamp == "" && b.Status.PodIP != "" && !b.Spec.HostNetwork &&
		slices.Contains(b.Status.Conditions, struct{ Type, Status string }{"Ready", "True"})
}

// healthy lists the pods that are Ready and that no finding is about.
func (h *Harm) healthy(ctx context.Context, findings []string) ([]bystander, error) {
	all, err := h.bystanders(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(b bystander) bool { return !b.ready() || slices.ContainsFunc(findings, b.about) }), nil
}

// about returns whether a finding, CODE/SUBJECT, names the pod in any form.
func (b bystander) about(finding string) bool {
	_, subject, _ := strings.Cut(finding, "/")
	return slices.Contains([]string{b.name(), b.Status.PodIP, b.endpoint(), b.Spec.NodeName + "/" + b.device()}, subject)
}

func (h *Harm) bystanders(ctx context.Context) ([]bystander, error) {
	var list struct{ Items []bystander }
	err := h.s.Get(ctx, "/api/v1/pods", &list)
	return list.Items, err
}

// pause is by how much longer askers rest than on the host's own nodes: a machine that is emulated has to do everything
// else too, with what is left of the cores that emulate it.
func (s *Stage) pause() int {
	if s.Slow < 2 {
		return int(math.Ceil(max(1, s.Slow)))
	}
	return int(math.Ceil(3 * s.Slow))
}
