// Package cri asks the node's container runtime what it has: sandboxes, containers, and
// how long each answer takes. It only asks; the one call that changes something is Remove.
package cri

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
	"unicode"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

const (
	maxMessage = 32 << 20
	// patience is how long one reading may take, all its calls together.
	patience = 2 * time.Second
)

// A Client asks one runtime.
type Client struct {
	conn *grpc.ClientConn
	api  runtime.RuntimeServiceClient
	bad  error // the connection could not even be described

	sandboxes  known[sandboxDetail]
	containers known[containerDetail]
}

// Open describes the way to the runtime behind a unix socket. It does not go there yet,
// and goes again by itself when the runtime comes back.
func Open(socket string) *Client {
	c := &Client{}
	c.conn, c.bad = grpc.NewClient("passthrough:///runtime",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		}),
		grpc.WithAuthority("localhost"), // older servers refuse what they cannot read as a host
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{
			// A socket on the same machine: waiting for minutes, as is usual, would hide that it is back.
			Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second},
			MinConnectTimeout: patience,
		}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)),
		grpc.WithDisableServiceConfig(),
		grpc.WithUserAgent("plumbline"),
	)
	if c.bad != nil {
		c.bad = fmt.Errorf("runtime at %s: %w", socket, c.bad)
		return c
	}
	c.api = runtime.NewRuntimeServiceClient(c.conn)
	return c
}

// Close ends the connection, and with it every call under way.
func (c *Client) Close() error {
	if c.conn == nil {
		return nil
	}
	return c.conn.Close()
}

// within gives the time for one reading: less than the caller has, so that what was
// learned of a silent runtime still reaches him.
func within(ctx context.Context) (context.Context, context.CancelFunc) {
	d := patience
	if end, ok := ctx.Deadline(); ok {
		d = min(d, time.Until(end)*9/10)
	}
	return context.WithTimeout(ctx, d)
}

// errSilent means that the runtime took the call and did not answer.
var errSilent = errors.New("the runtime does not answer")

// plain turns gRPC's error into one for people: short, and without control characters.
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
