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
	"strconv"
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
	line, refused, err := f.dial(q.Context(), namespace, pod)
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
	if err != nil {
		why := line.why()
		_ = line.Close()
		return nil, errors.Join(why, err)
	}
	resp.Body = forwarded{resp.Body, line}
	return resp, nil
}

// dial connects to the agent's port in the pod. An answer is returned if the API server
// refused.
func (f forwarder) dial(ctx context.Context, namespace, pod string) (*line, *http.Response, error) {
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
	case resp.StatusCode != http.StatusSwitchingProtocols:
		return nil, resp, nil
	}
	raw, ok := resp.Body.(io.ReadWriteCloser)
	if !ok {
		return nil, nil, errors.Join(errors.New("port-forward: the API server did not change the protocol"), resp.Body.Close())
	}
	l, err := newLine(raw)
	if err != nil {
		return nil, nil, fmt.Errorf("port-forward: %w", err)
	}
	return l, nil, nil
}

// A line is the connection of one port-forward.
type line struct {
	*spdystream.Stream // data
	raw                io.Closer
	troubles           chan string // what the kubelet says when it cannot reach the port; closed at its end
}

func newLine(raw io.ReadWriteCloser) (*line, error) {
	conn, err := spdystream.NewConnection(rawConn{raw}, false)
	if err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	go conn.Serve(spdystream.NoOpStreamHandler)
	head := http.Header{}
	head.Set("port", strconv.Itoa(agentPort))
	head.Set("requestID", "0")
	head.Set("streamType", "error")
	said, err := conn.CreateStream(head, nil, false)
	if err == nil {
		err = said.Close() // we send nothing on it
	}
	if err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	head.Set("streamType", "data")
	l := &line{raw: raw, troubles: make(chan string, 1)}
	if l.Stream, err = conn.CreateStream(head, nil, false); err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	go func() {
		defer close(l.troubles)
		b, _ := io.ReadAll(io.LimitReader(said, 1<<10))
		l.troubles <- string(b)
	}()
	return l, nil
}

// Close ends the whole port-forward. HTTP closes it too, after the last byte.
func (l *line) Close() error {
	if err := l.raw.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// why is what the kubelet said about a port that it could not reach, if it says so soon.
func (l *line) why() error {
	select {
	case said := <-l.troubles:
		if said != "" {
			return errors.New("port-forward: " + Readable(said))
		}
	case <-time.After(200 * time.Millisecond):
	}
	return nil
}

// forwarded is a body whose end is the end of its port-forward.
type forwarded struct {
	io.ReadCloser
	line *line
}

func (b forwarded) Close() error { return errors.Join(b.ReadCloser.Close(), b.line.Close()) }

// A rawConn is the upgraded connection. Deadlines are those of the request's context, whose end
// closes it.
type rawConn struct{ io.ReadWriteCloser }

func (rawConn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (rawConn) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (rawConn) SetDeadline(time.Time) error      { return nil }
func (rawConn) SetReadDeadline(time.Time) error  { return nil }
func (rawConn) SetWriteDeadline(time.Time) error { return nil }
