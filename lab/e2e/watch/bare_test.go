//go:build e2e

package watch

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protowire"

	"plumbline.dev/plumbline/lab"
)

// The bare watch is a separate process, this binary started again: it watches the same
// events in the same encodings and only records when each arrives.
const roleEnv = "PLUMBLINE_WATCH_ROLE"

// A job has the addresses of the servers.
type job struct {
	API, Etcd place // no etcd if the datastore is KDD
}

// An arrival is when an event arrived, identified by its revision.
type arrival struct {
	Book     string
	Revision int64
	At       int64 // microseconds
}

const (
	ofKubernetes = "kubernetes"
	ofCalico     = "calico"
)

// act is the main of the bare watch. It reports when it watches, and prints the arrivals
// when its standard input ends.
func act() int {
	in := bufio.NewReader(os.Stdin)
	line, err := in.ReadBytes('\n')
	var j job
	if err == nil {
		err = json.Unmarshal(line, &j)
	}
	b := &bare{}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if err == nil {
		err = b.begin(ctx, j)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	_, _ = fmt.Fprintln(os.Stdout, "watching")
	_, _ = io.Copy(io.Discard, in)
	b.mu.Lock()
	defer b.mu.Unlock()
	out := bufio.NewWriter(os.Stdout)
	e := json.NewEncoder(out)
	for _, a := range b.heard {
		if err := e.Encode(a); err != nil {
			return 1
		}
	}
	if err := errors.Join(out.Flush(), b.err); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

type bare struct {
	mu    sync.Mutex
	heard []arrival
	err   error
}

func (b *bare) note(store string, revision int64, at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.heard = append(b.heard, arrival{store, revision, at.UnixMicro()})
}

func (b *bare) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err = err
}

func (b *bare) begin(ctx context.Context, j job) error {
	conf, err := j.API.tls()
	if err != nil {
		return err
	}
	c := &http.Client{Transport: &http.Transport{TLSClientConfig: conf, DisableCompression: true}}
	if err := b.watch(ctx, c, j.API.URL+"/api/v1/pods", "application/vnd.kubernetes.protobuf;stream=watch", framed); err != nil {
		return err
	}
	if j.Etcd.URL == "" {
		return b.watch(ctx, c, j.API.URL+"/apis/crd.projectcalico.org/v1/ipamblocks", "application/json", lined)
	}
	return b.etcd(ctx, j.Etcd)
}

// watch watches a collection from now on.
func (b *bare) watch(ctx context.Context, c *http.Client, url, accept string, cut func(io.Reader, func([]byte)) error) error {
	ask := func(query, accept string) (*http.Response, error) {
		q, err := http.NewRequestWithContext(ctx, http.MethodGet, url+query, nil)
		if err != nil {
			return nil, err
		}
		q.Header.Set("Accept", accept)
		resp, err := c.Do(q)
		if err == nil && resp.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s: %s", url, resp.Status)
		}
		return resp, err
	}
	resp, err := ask("?limit=1", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io")
	if err != nil {
		return err
	}
	var list struct {
		Metadata struct{ ResourceVersion string }
	}
	err = json.NewDecoder(resp.Body).Decode(&list)
	_ = resp.Body.Close()
	if err != nil {
		return err
	}
	last, _ := strconv.ParseInt(list.Metadata.ResourceVersion, 10, 64)
	once := func(begun func()) error {
		resp, err := ask(fmt.Sprintf("?watch=true&timeoutSeconds=3000&resourceVersion=%d", last), accept)
		if err != nil {
			return err
		}
		begun()
		defer func() { _ = resp.Body.Close() }()
		return cut(resp.Body, func(frame []byte) {
			at := time.Now()
			if revision := revisionOf(frame); revision > 0 {
				b.note(ofKubernetes, revision, at)
				last = revision
			}
		})
	}
	watching := make(chan error, 1)
	go func() {
		err := once(func() { watching <- nil })
		for errors.Is(err, io.EOF) && ctx.Err() == nil { // the server ends the watch of a slow client
			err = once(func() {})
		}
		b.fail(fmt.Errorf("%s: %w", url, err))
		watching <- err
	}()
	return <-watching
}

// lined splits JSON events.
func lined(r io.Reader, f func([]byte)) error {
	in := bufio.NewReaderSize(r, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return err
		}
		f(line)
	}
}

// framed splits protobuf events.
func framed(r io.Reader, f func([]byte)) error {
	in := bufio.NewReaderSize(r, 1<<16)
	var head [4]byte
	var buf []byte
	for {
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return err
		}
		n := int(binary.BigEndian.Uint32(head[:]))
		if cap(buf) < n {
			buf = make([]byte, n)
		}
		if _, err := io.ReadFull(in, buf[:n]); err != nil {
			return err
		}
		f(buf[:n])
	}
}

// revisionOf reads no more than it must.
func revisionOf(frame []byte) (revision int64) {
	if frame[0] == '{' {
		_, rest, _ := bytes.Cut(frame, []byte(`"resourceVersion":"`))
		text, _, _ := bytes.Cut(rest, []byte(`"`))
		revision, _ = strconv.ParseInt(string(text), 10, 64)
		return revision
	}
	// WatchEvent: object (2), raw (1), envelope: raw (2), metadata (1), resourceVersion (6).
	b := inside(inside(frame, 2), 1)
	b = inside(bytes.TrimPrefix(b, magic), 2)
	revision, _ = strconv.ParseInt(string(inside(inside(b, 1), 6)), 10, 64)
	return revision
}

func inside(b []byte, want protowire.Number) (out []byte) {
	_ = each(b, func(n protowire.Number, v []byte, _ uint64) {
		if n == want && out == nil {
			out = v
		}
	})
	return out
}

// etcd watches the blocks in Calico's own etcd.
func (b *bare) etcd(ctx context.Context, p place) error {
	s, err := open(p)
	if err != nil {
		return err
	}
	stream, err := s.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, "/etcdserverpb.Watch/Watch")
	if err != nil {
		return err
	}
	prefix := []byte(ipam + "assignment/ipv4/block/")
	end := bytes.Clone(prefix)
	end[len(end)-1]++
	if err := stream.SendMsg(field(nil, 1, field(field(nil, 1, prefix), 2, end))); err != nil {
		return err
	}
	var created []byte
	if err := stream.RecvMsg(&created); err != nil {
		return err
	}
	go func() {
		for {
			var answer []byte
			if err := stream.RecvMsg(&answer); err != nil {
				b.fail(err)
				return
			}
			at := time.Now()
			_ = each(answer, func(n protowire.Number, v []byte, _ uint64) {
				if n == 11 {
					b.note(ofCalico, keyValue(inside(v, 2)).revision, at)
				}
			})
		}
	}()
	return nil
}

// watchBare starts the bare watch; end returns the arrivals.
func watchBare(t *testing.T, l *lab.Lab) (end func() map[string]map[int64]time.Time) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	j := job{API: apiOf(t, l)}
	if l.Datastore == lab.Etcd {
		_, j.Etcd = placesOf(l)
	}
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), roleEnv+"=bare")
	var diag strings.Builder
	cmd.Stderr = &diag
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write(append(text, '\n')); err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(stdout)
	if line, err := out.ReadString('\n'); err != nil || line != "watching\n" {
		_ = cmd.Wait()
		t.Fatalf("the bare watch: %q, %v: %s", line, err, diag.String())
	}
	return func() map[string]map[int64]time.Time {
		_ = in.Close()
		heard := map[string]map[int64]time.Time{ofKubernetes: {}, ofCalico: {}}
		for d := json.NewDecoder(out); ; {
			var a arrival
			if d.Decode(&a) != nil {
				break
			}
			heard[a.Book][a.Revision] = time.UnixMicro(a.At)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("the bare watch: %v: %s", err, diag.String())
		}
		return heard
	}
}
