package kube

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/moby/spdystream"
	"k8s.io/client-go/rest"
)

// A forwarder reaches agents by pods/portforward instead of pods/proxy. The API server then
// goes to the kubelet, which it can reach wherever kubectl logs works, and not to the agent's
// port, which a firewall may close. All other requests pass as they are.
//
// The right to pods/portforward reaches every port of the agent's node from the node itself:
// the port is not part of the request that the API server authorizes. It is asked for only
// with --port-forward.
type forwarder struct {
	http.RoundTripper
	prefix  string
	upgrade *http.Client
	at      func(Request) string
}

// mayForward admits the start of a port-forward to a pod.
func mayForward(method, path string) bool {
	return method == http.MethodPost && forwardPath.MatchString(path)
}

// forwarding returns what turns requests to agents into port-forwards, as the kubeconfig's
// user.
func (c *Client) forwarding() (func(http.RoundTripper) http.RoundTripper, error) {
	own := rest.CopyConfig(c.cfg)
	own.NextProtos = []string{"http/1.1"} // HTTP/2 has no upgrade
	hc, err := through(own, c.base, mayForward)
	if err != nil {
		return nil, err
	}
	return func(rt http.RoundTripper) http.RoundTripper {
		return forwarder{RoundTripper: rt, prefix: strings.TrimSuffix(c.base.Path, "/"), upgrade: hc, at: c.at}
	}, nil
}

// through is a client whose requests are all guarded, and those to agents forwarded if the user
// wants it so.
func (c *Client) through(cfg *rest.Config, may func(method, path string) bool) (*http.Client, error) {
	if c.forward != nil {
		cfg = rest.CopyConfig(cfg)
		cfg.Wrap(c.forward) // the guard comes around it
	}
	return through(cfg, c.base, may)
}

func (f forwarder) RoundTrip(q *http.Request) (*http.Response, error) {
	m := agentPath.FindStringSubmatch(strings.TrimPrefix(q.URL.Path, f.prefix))
	if m == nil {
		return f.RoundTripper.RoundTrip(q)
	}
	namespace, pod, path := m[agentPath.SubexpIndex("namespace")], m[agentPath.SubexpIndex("pod")], m[agentPath.SubexpIndex("path")]
	line, refused, err := f.dial(q.Context(), namespace, pod, m[agentPath.SubexpIndex("port")])
	if refused != nil || err != nil {
		return refused, err
	}
	t := &http.Transport{DisableKeepAlives: true, DialTLSContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		// As by the API server's proxy nothing is verified here: the agent's answers are
		// signed where it matters, and the token is of use on this node only.
		secure := tls.Client(line, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}) //nolint:gosec // see above
		return secure, secure.HandshakeContext(ctx)
	}}
	own := q.Clone(q.Context())
	own.URL = &url.URL{Scheme: "https", Host: pod, Path: path, RawQuery: q.URL.RawQuery}
	own.Host, own.Header = "", http.Header{}
	for k, v := range q.Header { // the user's credentials are for the API server
		if strings.HasPrefix(k, "Plumbline-") || k == "Accept" || k == "Content-Type" || k == "User-Agent" {
			own.Header[k] = v
		}
	}
	resp, err := t.RoundTrip(own)
	if err == nil {
		resp.Body = forwarded{resp.Body, line}
		return resp, nil
	}
	why := line.why()
	_ = line.Close()
	if why == "" || q.Context().Err() != nil {
		return nil, err
	}
	// As the proxy answers: it is the agent that was not reached, not the API server.
	return &http.Response{
		Status: "502 Bad Gateway", StatusCode: http.StatusBadGateway, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: q,
		Header: http.Header{}, Body: io.NopCloser(strings.NewReader("port-forward: " + why)),
	}, nil
}

// dial connects to the agent's port in the pod. An answer is returned if the API server
// refused.
func (f forwarder) dial(ctx context.Context, namespace, pod, port string) (*line, *http.Response, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost,
		f.at(Request{Path: "/api/v1/namespaces/" + namespace + "/pods/" + pod + "/portforward"}), http.NoBody)
	if err != nil {
		return nil, nil, err
	}
	q.Header.Set("Connection", "Upgrade")
	q.Header.Set("Upgrade", "SPDY/3.1")
	q.Header.Set("X-Stream-Protocol-Version", "portforward.k8s.io")
	resp, err := f.upgrade.Do(q)
	switch {
	case err != nil:
		return nil, nil, err
	case resp.StatusCode >= 300:
		return nil, resp, nil
	case resp.StatusCode != http.StatusSwitchingProtocols: // whoever answers so is not an agent
		return nil, nil, errors.Join(errors.New("port-forward: the API server answered "+resp.Status), resp.Body.Close())
	}
	raw, ok := resp.Body.(io.ReadWriteCloser)
	if !ok {
		return nil, nil, errors.Join(errors.New("port-forward: the API server did not change the protocol"), resp.Body.Close())
	}
	l, err := newLine(ctx, raw, port)
	if err != nil {
		return nil, nil, fmt.Errorf("port-forward: %w", err)
	}
	return l, nil, nil
}

// A line is the connection of one port-forward.
type line struct {
	*spdystream.Stream // data
	errors             *spdystream.Stream
	raw                io.Closer
	unwatch            func() bool
	troubles           chan string // what the kubelet says when it cannot reach the port; closed at its end
}

// newLine opens the two streams of a port-forward. The end of the context ends it.
func newLine(ctx context.Context, raw io.ReadWriteCloser, port string) (*line, error) {
	l := &line{raw: raw, troubles: make(chan string, 1)}
	l.unwatch = context.AfterFunc(ctx, func() { _ = raw.Close() })
	conn, err := spdystream.NewConnection(rawConn{raw}, false)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	go conn.Serve(spdystream.NoOpStreamHandler)
	if l.errors, err = opened(ctx, conn, "error", port); err == nil {
		err = l.errors.Close() // we send nothing on it
	}
	if err == nil {
		l.Stream, err = opened(ctx, conn, "data", port)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	go func() {
		defer close(l.troubles)
		b, _ := io.ReadAll(io.LimitReader(l.errors, 1<<10))
		l.troubles <- string(b)
	}()
	return l, nil
}

// replyWait is how long the other side may take to accept a stream.
const replyWait = 10 * time.Second

// opened creates a stream and waits until it is accepted or refused: spdystream blocks if nobody
// hears of a refusal.
func opened(ctx context.Context, conn *spdystream.Connection, kind, port string) (*spdystream.Stream, error) {
	head := http.Header{}
	head.Set("streamType", kind)
	head.Set("port", port)
	head.Set("requestID", "0")
	s, err := conn.CreateStream(head, nil, false)
	if err != nil {
		return s, err
	}
	accepted := make(chan error, 1)
	go func() { accepted <- s.WaitTimeout(replyWait) }()
	select {
	case err := <-accepted:
		return s, err
	case <-ctx.Done():
		return s, ctx.Err()
	}
}

// Close ends the whole port-forward. HTTP closes it too, after the last byte. Streams are reset so that
// what nobody reads any more does not block spdystream for ever.
func (l *line) Close() error {
	l.unwatch()
	err := l.raw.Close()
	for _, s := range []*spdystream.Stream{l.Stream, l.errors} {
		if s != nil {
			_ = s.Reset() // the connection is closed
		}
	}
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// why is what the kubelet said about a port that it could not reach, if it says so soon.
func (l *line) why() string {
	select {
	case said := <-l.troubles:
		return said
	case <-time.After(200 * time.Millisecond):
		return ""
	}
}

// forwarded is a body whose end is the end of its port-forward.
type forwarded struct {
	io.ReadCloser
	line *line
}

func (b forwarded) Close() error { return errors.Join(b.ReadCloser.Close(), b.line.Close()) }

// A rawConn is the upgraded connection. It has no deadlines: the end of the context closes it.
type rawConn struct{ io.ReadWriteCloser }

func (rawConn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (rawConn) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (rawConn) SetDeadline(time.Time) error      { return nil }
func (rawConn) SetReadDeadline(time.Time) error  { return nil }
func (rawConn) SetWriteDeadline(time.Time) error { return nil }
