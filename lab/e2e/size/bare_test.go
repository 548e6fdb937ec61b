//go:build e2e

package size

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/mem"
)

// bare repeats the calls of a script, with the same concurrency, and discards the
// answers. That is what check would cost if it did nothing with the data that it reads.
func bare(ctx context.Context, j job) (int64, error) {
	s, err := newStub(j.Servers)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make([]chan struct{}, len(j.Calls))
	for i := range done {
		done[i] = make(chan struct{})
	}
	for i, c := range j.Calls {
		go func() {
			defer close(done[i])
			for _, k := range c.After {
				<-done[k]
			}
			if err := s.make(ctx, c); err != nil {
				cancel(fmt.Errorf("%s: %w", c.URI, err))
			}
		}()
	}
	for _, d := range done {
		<-d
	}
	return s.read.Load(), context.Cause(ctx)
}

// A stub has connections to both servers.
type stub struct {
	servers map[string]server
	http    map[string]*http.Client // by protocol
	etcd    *grpc.ClientConn
	read    atomic.Int64
}

func newStub(servers map[string]server) (*stub, error) {
	s := &stub{servers: servers, http: map[string]*http.Client{}}
	for _, proto := range []string{"HTTP/1.1", "HTTP/2.0"} {
		conf, err := servers[toAPI].tls()
		if err != nil {
			return nil, err
		}
		var p http.Protocols
		p.SetHTTP1(proto == "HTTP/1.1")
		p.SetHTTP2(proto == "HTTP/2.0")
		s.http[proto] = &http.Client{Transport: &http.Transport{TLSClientConfig: conf, Protocols: &p, DisableCompression: true, MaxIdleConnsPerHost: 16}}
	}
	at, ok := servers[toEtcd]
	if !ok {
		return s, nil
	}
	conf, err := at.tls()
	if err != nil {
		return nil, err
	}
	_, host, _ := strings.Cut(at.URL, "//")
	s.etcd, err = grpc.NewClient(host, grpc.WithTransportCredentials(credentials.NewTLS(conf)), grpc.WithDefaultCallOptions(grpc.ForceCodecV2(discard{&s.read}), grpc.MaxCallRecvMsgSize(math.MaxInt32)))
	return s, err
}

func (s *stub) make(ctx context.Context, c call) error {
	if c.Store == toEtcd {
		return s.etcd.Invoke(ctx, c.URI, c.Body[5:], nil) // a flag and the length come first
	}
	q, err := http.NewRequestWithContext(ctx, c.Method, s.servers[toAPI].URL+c.URI, nil)
	if err != nil {
		return err
	}
	q.Header = c.Header.Clone()
	resp, err := s.http[c.Proto].Do(q)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode >= http.StatusInternalServerError || resp.StatusCode == http.StatusTooManyRequests {
		return fmt.Errorf("%s", resp.Status)
	}
	n, err := io.Copy(io.Discard, resp.Body)
	s.read.Add(n)
	return err
}

// discard is a codec that passes bytes out and counts what comes in.
type discard struct{ read *atomic.Int64 }

func (discard) Name() string { return "proto" }

func (discard) Marshal(v any) (mem.BufferSlice, error) {
	b, ok := v.([]byte)
	if !ok {
		return nil, fmt.Errorf("%T is not a message", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(b)}, nil
}

func (d discard) Unmarshal(b mem.BufferSlice, _ any) error {
	d.read.Add(int64(b.Len()))
	return nil
}
