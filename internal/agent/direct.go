package agent

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// Direct asks agents without the API server between: at the address of the node, with the certificate
// that the agent published in its Lease. A node is the host of the URL.
type Direct struct {
	Identities Identities
	// Address is where the agent of a node listens; invalid: unknown.
	Address func(node string) netip.AddrPort
	// Headers admit a request.
	Headers func(ctx context.Context, node, path string, query url.Values) (http.Header, error)

	client *http.Client
}

// ErrNotDirect means that an agent cannot be reached directly. It may be reached another way.
var ErrNotDirect = errors.New("the agent cannot be reached directly")

const (
	dialWithin  = 1500 * time.Millisecond
	askWithin   = 3 * time.Second // dial, handshake and, if need be, the Lease
	headWithin  = 4 * time.Second
	maxRefusal  = 1 << 10
	directClose = 90 * time.Second // an idle connection
)

// Connect returns d, ready for use.
func (d *Direct) Connect() *Direct {
	d.client = &http.Client{
		Transport: &http.Transport{
			DialTLSContext: d.dial, ResponseHeaderTimeout: headWithin, IdleConnTimeout: directClose, MaxIdleConnsPerHost: 1,
			ReadBufferSize: 4 << 10, WriteBufferSize: 1 << 10, DisableCompression: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("an agent does not redirect") },
	}
	return d
}

// dial connects to the agent of a node. Its certificate must be the published one, which is read again
// once if it is not: an agent makes a new one at each start.
func (d *Direct) dial(ctx context.Context, network, host string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin) // the transport dials without the request's deadline
	defer cancel()
	node, _, err := net.SplitHostPort(host)
	at := d.Address(node)
	if err != nil || !at.IsValid() {
		return nil, fmt.Errorf("%w: its address is unknown", ErrNotDirect)
	}
	for _, fresh := range []bool{false, true} {
		id, idErr := d.Identities.Identity(ctx, node, fresh)
		if idErr != nil {
			return nil, fmt.Errorf("%w: %w", ErrNotDirect, idErr)
		}
		if len(id.Certificate) != sha256.Size {
			err = fmt.Errorf("%w: it has not published its certificate", ErrNotDirect)
			continue
		}
		var conn net.Conn
		conn, err = dialPinned(ctx, network, at.String(), id.Certificate)
		if err == nil {
			return conn, nil
		}
		if !errors.Is(err, errOtherCertificate) {
			break
		}
	}
	return nil, errors.Join(ErrNotDirect, err)
}

var errOtherCertificate = errors.New("the certificate is not the one that the agent published")

func dialPinned(ctx context.Context, network, address string, pin []byte) (net.Conn, error) {
	dialer := tls.Dialer{
		NetDialer: &net.Dialer{Timeout: dialWithin},
		Config: &tls.Config{
			MinVersion:         tls.VersionTLS12,
			InsecureSkipVerify: true, //nolint:gosec // VerifyConnection is stricter: exactly one certificate is accepted
			VerifyConnection: func(s tls.ConnectionState) error {
				if len(s.PeerCertificates) > 0 {
					if sum := sha256.Sum256(s.PeerCertificates[0].Raw); bytes.Equal(sum[:], pin) {
						return nil
					}
				}
				return errOtherCertificate
			},
		},
	}
	return dialer.DialContext(ctx, network, address)
}

// Get sends a request to the agent of a node; the caller closes the answer.
func (d *Direct) Get(ctx context.Context, node, path string, query url.Values) (io.ReadCloser, error) {
	head, err := d.Headers(ctx, node, path, query)
	if err != nil {
		return nil, err
	}
	u := url.URL{Scheme: "https", Host: node, Path: "/" + path, RawQuery: query.Encode()}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, errors.Join(ErrNotDirect, err)
	}
	r.Header = head
	answer, err := d.client.Do(r)
	if err != nil {
		return nil, errors.Join(ErrNotDirect, err)
	}
	if err := CheckVersion(answer.Header); err != nil {
		return nil, errors.Join(err, answer.Body.Close())
	}
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, maxRefusal))
		return nil, errors.Join(fmt.Errorf("the agent refused: %s: %s", answer.Status, strings.TrimSpace(string(text))), answer.Body.Close())
	}
	if path == PathWatch || path == PathHealth {
		return answer.Body, nil
	}
	return Verified(answer.Body, Expected{Of: node, Path: path, Query: query, Header: head, Key: KeyOf(ctx, d.Identities, node)}), nil
}

// Close ends idle connections.
func (d *Direct) Close() { d.client.CloseIdleConnections() }
