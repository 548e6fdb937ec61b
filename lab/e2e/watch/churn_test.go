//go:build e2e

package watch

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"

	"plumbline.dev/plumbline/lab"
)

// A target is an object that is changed back and forth. If it has a name, a finding of
// that name appears with every other change, and disappears with the next.
type target struct {
	name   string
	key    string
	states [2]func(n int) ([]byte, error) // stored values
	path   string                         // in the API
	patch  [2]func(n int) string          // what creates the change
	made   []int64                        // revisions
	at     []time.Time                    // when they were written
}

// How many objects are changed, whatever the cluster's size; each is changed again after
// seconds, before an unconfirmed finding is rechecked.
const (
	blockTargets = 240
	podTargets   = 2000
	plainTargets = 5000
)

// targets returns the objects to change: blocks that get an allocation without an owner,
// pods whose address annotation a DEL has emptied, and pods whose change is irrelevant.
func (b *stores) targets(t *testing.T) (blocks, pods, plain []*target) {
	t.Helper()
	all, err := b.calico.below(t.Context(), b.blocks())
	if err != nil {
		t.Fatal(err)
	}
	step := max(1, len(all)/blockTargets)
	for i := 0; i < len(all) && len(blocks) < blockTargets; i += step {
		x, err := b.blockTarget(all[i], i)
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, x)
	}
	all = nil
	for i := 0; i < 200 && len(all) < podTargets+plainTargets; i++ { // one namespace at a time: all would be a gigabyte
		some, err := b.kubernetes.below(t.Context(), podKey(fmt.Sprintf("team-%03d/", i)))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, some[:min(len(some), 200)]...)
	}
	for _, w := range all {
		switch {
		case b.mode == lab.KDD && len(pods) < podTargets:
			x, err := podTarget(w)
			if err != nil {
				t.Fatal(err)
			}
			pods = append(pods, x)
		case len(plain) < plainTargets:
			plain = append(plain, plainTarget(w))
		}
	}
	return blocks, pods, plain
}

func constant(v []byte) func(int) ([]byte, error) { return func(int) ([]byte, error) { return v, nil } }

func (b *stores) blockTarget(w write, i int) (*target, error) {
	x := &target{key: w.key}
	handle := fmt.Sprintf("k8s-pod-network.%064x", i)
	var patches [2]string
	keep := func(s map[string]any) string {
		part, _ := json.Marshal(map[string]any{"spec": map[string]any{"allocations": s["allocations"], "attributes": s["attributes"], "unallocated": s["unallocated"]}})
		return string(part)
	}
	was, err := edit(w.value, func(s map[string]any) error { patches[0] = keep(s); return nil })
	if err != nil {
		return nil, err
	}
	hurt, err := edit(w.value, func(s map[string]any) error {
		node, _ := s["affinity"].(string)
		a, err := claim(s, handle, map[string]any{
			"namespace": "team-000", "node": strings.TrimPrefix(node, "host:"), "pod": fmt.Sprintf("never-%05d", i), "timestamp": "2026-01-01 00:00:00.000000001 +0000 UTC",
		})
		x.name, patches[1] = "PL1001/"+a.String(), keep(s)
		return err
	})
	x.states = [2]func(int) ([]byte, error){constant(was), constant(hurt)}
	x.path = "/apis/crd.projectcalico.org/v1/ipamblocks/" + w.key[strings.LastIndexByte(w.key, '/')+1:]
	x.patch = [2]func(int) string{func(int) string { return patches[0] }, func(int) string { return patches[1] }}
	return x, err
}

func podTarget(w write) (*target, error) {
	pod := strings.TrimPrefix(w.key, podKey(""))
	ns, name, _ := strings.Cut(pod, "/")
	ip := ""
	hurt, err := editPod(w.value, func(p *corev1.Pod) { ip = p.Annotations["cni.projectcalico.org/podIP"]; annotate(p, "") })
	patch := func(ip string) func(int) string {
		text := fmt.Sprintf(`{"metadata":{"annotations":{"cni.projectcalico.org/podIP":%q,"cni.projectcalico.org/podIPs":%q}}}`, ip, ip)
		return func(int) string { return text }
	}
	return &target{
		name: "PL2001/" + pod, key: w.key, states: [2]func(int) ([]byte, error){constant(w.value), constant(hurt)},
		path: "/api/v1/namespaces/" + ns + "/pods/" + name, patch: [2]func(int) string{patch(ip), patch("")},
	}, err
}

func plainTarget(w write) *target {
	pod := strings.TrimPrefix(w.key, podKey(""))
	ns, name, _ := strings.Cut(pod, "/")
	state := func(n int) ([]byte, error) {
		return editPod(w.value, func(p *corev1.Pod) {
			if p.Annotations == nil {
				p.Annotations = map[string]string{}
			}
			p.Annotations["example.com/seen"] = strconv.Itoa(n)
		})
	}
	patch := func(n int) string { return fmt.Sprintf(`{"metadata":{"annotations":{"example.com/seen":"%d"}}}`, n) }
	return &target{key: w.key, states: [2]func(int) ([]byte, error){state, state}, path: "/api/v1/namespaces/" + ns + "/pods/" + name, patch: [2]func(int) string{patch, patch}}
}

// change makes the next change of an object.
func (x *target) change(ctx context.Context, b *stores, api *http.Client, url string) error {
	n := len(x.made) + 1
	var revision int64
	if api != nil && strings.HasPrefix(x.key, "/registry/") {
		var err error
		if revision, err = patched(ctx, api, url+x.path, x.patch[n%2](n)); err != nil {
			return err
		}
	} else {
		value, err := x.states[n%2](n)
		if err != nil {
			return err
		}
		if revision, err = b.of(x.key).commit(ctx, write{x.key, value}); err != nil {
			return err
		}
	}
	x.made, x.at = append(x.made, revision), append(x.at, time.Now())
	return nil
}

func patched(ctx context.Context, c *http.Client, url, patch string) (int64, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodPatch, url, bytes.NewReader([]byte(patch)))
	if err != nil {
		return 0, err
	}
	q.Header.Set("Content-Type", "application/merge-patch+json")
	q.Header.Set("Accept", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io")
	resp, err := c.Do(q)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	var o struct {
		Metadata struct{ ResourceVersion string }
	}
	if err := json.NewDecoder(resp.Body).Decode(&o); err != nil || resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("patch %s: %s: %w", url, resp.Status, err)
	}
	return strconv.ParseInt(o.Metadata.ResourceVersion, 10, 64)
}

func apiOf(t *testing.T, l *lab.Lab) place {
	t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", l.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	p := place{URL: cfg.Host, CA: dir + "/ca", Cert: dir + "/crt", Key: dir + "/key"}
	for path, pem := range map[string][]byte{p.CA: cfg.CAData, p.Cert: cfg.CertData, p.Key: cfg.KeyData} {
		if err := writeFile(path, pem); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

const writers = 8

// blockShare: one of so many changes is of a block. The API server caches a minute of
// them, and each takes a hundred kilobytes.
const blockShare = 20

// churn changes objects at a rate, for a time: every second change is of a pod whose
// change is irrelevant. It returns how many changes it made, and how long that took.
func (b *stores) churn(t *testing.T, l *lab.Lab, blocks, pods, plain []*target) (made int, took time.Duration) {
	t.Helper()
	var api *http.Client
	at := apiOf(t, l)
	if *through == "api" {
		conf, err := at.tls()
		if err != nil {
			t.Fatal(err)
		}
		api = &http.Client{Transport: &http.Transport{TLSClientConfig: conf, MaxIdleConnsPerHost: writers}}
	}
	rest := pods
	if len(pods) == 0 {
		rest = blocks
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	begun := time.Now()
	for w := range writers {
		wg.Go(func() {
			n := 0
			for ; ; n++ {
				due := begun.Add(time.Duration(n*writers+w) * time.Second / time.Duration(*rate))
				if due.Sub(begun) >= *lasting || time.Since(begun) > *lasting+10*time.Second {
					break
				}
				time.Sleep(time.Until(due))
				of, i := plain, n/2
				switch {
				case n%blockShare == 1:
					of, i = blocks, n/blockShare
				case n%2 == 1:
					of = rest
				}
				if err := of[(i*writers+w)%len(of)].change(t.Context(), b, api, at.URL); err != nil {
					t.Error(err)
					break
				}
			}
			mu.Lock()
			defer mu.Unlock()
			made += n
		})
	}
	wg.Wait()
	return made, time.Since(begun)
}
