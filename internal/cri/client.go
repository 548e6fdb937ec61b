// Package cri reads the node's container runtime: sandboxes, containers, and how long each
// answer takes. The only call that changes something is Remove.
package cri

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plumbline.dev/plumbline/internal/hostfile"
)

const (
	maxMessage = 32 << 20
	// patience is how long one read may take, with all its calls, if its caller sets no limit.
	patience = 2 * time.Second
)

// A Client is a connection to one runtime.
type Client struct {
	conn *grpc.ClientConn
	api  runtime.RuntimeServiceClient
	bad  error // why the connection could not be configured
	way  way

	sandboxes  known[sandboxDetail]
	containers known[containerDetail]

	bins atomic.Pointer[[]string] // directories of CNI plugins, as last named
}

// Open configures a connection to the runtime behind a unix socket, a path of the node below
// root. It does not connect yet, and reconnects by itself when the runtime comes back.
func Open(root string, socket Socket) *Client {
	c := &Client{way: way{node: hostfile.Root(root), where: socket}}
	c.conn, c.bad = grpc.NewClient("passthrough:///runtime",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return c.way.dial(ctx) }),
		grpc.WithAuthority("localhost"), // older servers refuse an authority that is not a host name
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{
			// A socket on the same machine: the usual back-off of minutes would hide that
			// it is back.
			Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second},
			MinConnectTimeout: patience,
		}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)),
		grpc.WithDisableServiceConfig(),
		grpc.WithUserAgent("plumbline"),
	)
	if c.bad != nil {
		c.bad = fmt.Errorf("container runtime: %w", c.bad)
		return c
	}
	c.api = runtime.NewRuntimeServiceClient(c.conn)
	return c
}

// Close ends the connection and all its calls.
func (c *Client) Close() error {
	if c.conn == nil {
		return nil
	}
	return c.conn.Close()
}

// within returns the time for one read: less than the caller has, so that the result of a
// runtime that does not answer still reaches the caller.
func within(ctx context.Context) (context.Context, context.CancelFunc) {
	d := patience
	if end, ok := ctx.Deadline(); ok {
		d = time.Until(end) * 9 / 10
	}
	return context.WithTimeout(ctx, d)
}

// errSilent means that the runtime accepted the call and did not answer.
var errSilent = errors.New("the runtime does not answer")

// plain turns a gRPC error into a short text without control characters.
func plain(err error) error {
	if err == nil {
		return nil
	}
	s, ok := status.FromError(err)
	if !ok {
		return err
	}
	switch s.Code() {
	case codes.DeadlineExceeded, codes.Canceled:
		return errSilent
	default:
		return fmt.Errorf("%s: %s", s.Code(), clean(s.Message()))
	}
}

const maxText = 300

func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, s[:min(len(s), maxText)])
	return strings.TrimSpace(s)
}
