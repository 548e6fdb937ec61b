package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// healthyWithin is how long an agent may take to start answering.
const healthyWithin = 60 * time.Second

// healthy asks the agent at a host, on the port of --listen, until it answers. helm test runs it.
func healthy(ctx context.Context, e Env, f flags) error {
	_, port, err := net.SplitHostPort(f.listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	at := "https://" + net.JoinHostPort(f.host, port) + "/healthz"
	ctx, cancel := context.WithTimeout(ctx, healthyWithin)
	defer cancel()
	// Only whether it answers is asked; nothing is sent.
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}}} //nolint:gosec // see above
	for {
		err := askHealth(ctx, client, at)
		if err == nil {
			_, err = fmt.Fprintln(e.Stdout, "the agent at "+at+" answers")
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("no answer within %s: %w", healthyWithin, err)
		case <-time.After(time.Second):
		}
	}
}

func askHealth(ctx context.Context, client *http.Client, at string) error {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := client.Do(q)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<10))
	err = errors.Join(err, resp.Body.Close())
	if resp.StatusCode != http.StatusOK {
		err = errors.Join(err, errors.New(resp.Status))
	}
	return err
}
