//go:build e2e

package guard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/build"
)

// An answer is the result of a call.
type answer struct {
	out    string
	code   int
	killed bool
}

// call calls the guard as a runtime does. It is killed after a while, unless that is 0.
func (s *sequence) call(verb string, b *box, netns string, after time.Duration) (answer, error) {
	conf := map[string]any{}
	if err := json.Unmarshal([]byte(s.ways[1].config), &conf); err != nil {
		return answer{}, err
	}
	conf["cniVersion"] = s.version
	if verb == "CHECK" {
		conf["prevResult"] = json.RawMessage(b.result)
	}
	env := []string{
		fmt.Sprintf("CNI_ARGS=IgnoreUnknown=1;K8S_POD_NAMESPACE=%s;K8S_POD_NAME=%s;K8S_POD_INFRA_CONTAINER_ID=%s;K8S_POD_UID=%s", s.Namespace, b.pod, b.id, b.uid),
		"CNI_COMMAND=" + verb, "CNI_CONTAINERID=" + b.id, "CNI_NETNS=" + netns,
	}
	a, err := s.ask(s.ways[1].program, conf, env, after)
	s.tell("%s %s (%s) in %q: %d %v %.400s", verb, b, b.pod, netns, a.code, a.killed, a.out)
	return a, err
}

func (c *conform) ask(program string, conf map[string]any, env []string, after time.Duration) (answer, error) {
	text, err := json.Marshal(conf)
	if err != nil {
		return answer{}, err
	}
	var a answer
	err = onNode(c.n, func() error {
		var out strings.Builder
		cmd := exec.Command(program)
		cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "CNI_IFNAME=eth0", "CNI_PATH=/opt/cni/bin"}, env...)
		cmd.Stdin, cmd.Stdout, cmd.WaitDelay = strings.NewReader(string(text)), &out, 5*time.Second
		if err := cmd.Start(); err != nil {
			return err
		}
		if after > 0 {
			defer time.AfterFunc(after, func() { _ = cmd.Process.Kill() }).Stop()
		}
		err := cmd.Wait()
		a.out, a.code, a.killed = out.String(), cmd.ProcessState.ExitCode(), cmd.ProcessState.ExitCode() < 0
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			return nil
		}
		return err
	})
	return a, err
}

// settle waits until no process for the container runs: a plugin that the guard called
// may still run after the guard.
func (s *sequence) settle(ctx context.Context, b *box) error {
	err := lab.Eventually(ctx, time.Minute, func(context.Context) error {
		files, err := filepath.Glob(s.n.Path("/proc") + "/[0-9]*/environ")
		if err != nil {
			return err
		}
		for _, f := range files {
			if env, err := os.ReadFile(f); err == nil && strings.Contains(string(env), "CNI_CONTAINERID="+b.id) {
				return fmt.Errorf("%s still runs for %s", f, b)
			}
		}
		return nil
	})
	time.Sleep(200 * time.Millisecond) // its requests to the API
	return err
}

// name gives the pod an address with the handle that Calico 2 would have used: every DEL
// with the pod's name finds it.
func (s *sequence) name(pod string) error {
	conf := map[string]any{}
	if err := json.Unmarshal([]byte(s.ways[0].config), &conf); err != nil {
		return err
	}
	conf["name"] = s.Namespace
	a, err := s.ask("/opt/cni/bin/calico-ipam", conf, []string{"CNI_COMMAND=ADD", "CNI_CONTAINERID=" + pod, "CNI_NETNS=/run/netns/none"}, 0)
	if err != nil || a.code != 0 {
		return fmt.Errorf("an address for the name %s: %d, %s, %w", pod, a.code, a.out, err)
	}
	s.named[pod] = true
	s.add("address by name")
	s.tell("%s has an address by name", pod)
	return nil
}

// create creates a pod that is bound to the node: no kubelet runs it.
func (s *sequence) create(ctx context.Context, pod string) error {
	text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q},"spec":{"nodeName":%q,"tolerations":[{"operator":"Exists"}],"containers":[{"name":"main","image":%q}]}}`,
		pod, s.n.Name, build.WorkloadImage)
	b, err := s.Do(ctx, http.MethodPost, "/api/v1/namespaces/"+s.Namespace+"/pods", text)
	if err != nil {
		return err
	}
	var made lab.Pod
	err = json.Unmarshal(b, &made)
	s.uid[pod] = made.Metadata.UID
	return err
}

// replace replaces a pod by another with the same name.
func (s *sequence) replace(ctx context.Context, pod string) error {
	if _, err := s.Do(ctx, http.MethodDelete, "/api/v1/namespaces/"+s.Namespace+"/pods/"+pod+"?gracePeriodSeconds=0", ""); err != nil {
		return err
	}
	s.tell("%s is another pod now", pod)
	delete(s.last, pod)
	return s.create(ctx, pod)
}
