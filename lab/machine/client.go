package machine

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"plumbline.dev/plumbline/lab/guest/frame"
)

// A Client talks to the process that runs a machine, by its socket.
type Client string

func (c Client) http() *http.Client {
	via := &http.Transport{
		Protocols: new(http.Protocols),
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", string(c))
		},
	}
	via.Protocols.SetUnencryptedHTTP2(true)
	return &http.Client{Transport: via}
}

func (c Client) post(ctx context.Context, path, command string, body io.Reader) (*http.Response, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://machine"+path, body)
	if err != nil {
		return nil, err
	}
	q.Header.Set(frame.Header, command)
	resp, err := c.http().Do(q)
	if err != nil {
		return nil, fmt.Errorf("reach the machine: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		why, _ := io.ReadAll(io.LimitReader(resp.Body, 4096))
		_ = resp.Body.Close()
		return nil, fmt.Errorf("reach the machine: %s", strings.TrimSpace(string(why)))
	}
	return resp, nil
}

// Exec runs a command in the machine and returns its exit code. An error means that the
// command may not have run.
func (c Client) Exec(ctx context.Context, cmd frame.Command, stdin io.Reader, stdout, stderr io.Writer) (int, error) {
	b, err := json.Marshal(cmd)
	if err != nil {
		return 0, err
	}
	resp, err := c.post(ctx, "/exec", string(b), stdin)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	return frame.Copy(resp.Body, stdout, stderr)
}

// PowerCut resets the machine: nothing that it had not written is left.
func (c Client) PowerCut(ctx context.Context) error { return c.power(ctx, "/power-cut") }

// Pause stops the machine's processors and its clock.
func (c Client) Pause(ctx context.Context) error { return c.power(ctx, "/pause") }

// Resume continues a paused machine.
func (c Client) Resume(ctx context.Context) error { return c.power(ctx, "/resume") }

func (c Client) power(ctx context.Context, path string) error {
	resp, err := c.post(ctx, path, "", nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
