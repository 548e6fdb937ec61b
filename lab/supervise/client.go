package supervise

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"
)

// A Client sends requests to the supervisor that listens at the path.
type Client string

// Start runs p; it is an error if a part of that name is already running.
func (c Client) Start(ctx context.Context, p Part) (Status, error) {
	st, err := c.ask(ctx, request{Op: opStart, Part: &p})
	if err != nil {
		return Status{}, err
	}
	return st[0], nil
}

// Again restarts a part that has exited, as it was first started.
func (c Client) Again(ctx context.Context, name string) error {
	_, err := c.ask(ctx, request{Op: opAgain, Name: name})
	return err
}

// Signal sends sig to the part. After SIGTERM or SIGKILL the part is not restarted.
func (c Client) Signal(ctx context.Context, name string, sig syscall.Signal) error {
	_, err := c.ask(ctx, request{Op: opSignal, Name: name, Signal: sig})
	return err
}

// List returns the status of every part, in the order in which they were first started.
func (c Client) List(ctx context.Context) ([]Status, error) {
	return c.ask(ctx, request{Op: opStatus})
}

// Status returns the status of one part.
func (c Client) Status(ctx context.Context, name string) (Status, error) {
	all, err := c.List(ctx)
	if err != nil {
		return Status{}, err
	}
	for _, s := range all {
		if s.Name == name {
			return s, nil
		}
	}
	return Status{}, fmt.Errorf("no part %q was ever started", name)
}

// Stop ends the part with SIGTERM, and with SIGKILL if it has not exited after grace.
func (c Client) Stop(ctx context.Context, name string, grace time.Duration) error {
	if err := c.Signal(ctx, name, syscall.SIGTERM); err != nil {
		return err
	}
	if c.gone(ctx, name, grace) {
		return nil
	}
	return c.Kill(ctx, name)
}

// Kill ends the part with SIGKILL and waits until it has exited.
func (c Client) Kill(ctx context.Context, name string) error {
	if err := c.Signal(ctx, name, syscall.SIGKILL); err != nil {
		return err
	}
	if c.gone(ctx, name, time.Minute) {
		return nil
	}
	return fmt.Errorf("kill %s: still running after SIGKILL", name)
}

func (c Client) gone(ctx context.Context, name string, within time.Duration) bool {
	for end := time.Now().Add(within); time.Now().Before(end) && ctx.Err() == nil; {
		if s, err := c.Status(ctx, name); err == nil && !s.Running {
			return true
		}
		time.Sleep(20 * time.Millisecond)
	}
	return false
}

func (c Client) ask(ctx context.Context, q request) ([]Status, error) {
	d := net.Dialer{Timeout: 5 * time.Second}
	conn, err := d.DialContext(ctx, "unix", string(c))
	if err != nil {
		return nil, fmt.Errorf("reach the supervisor: %w", err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	if err := json.NewEncoder(conn).Encode(q); err != nil {
		return nil, fmt.Errorf("send to the supervisor: %w", err)
	}
	var r response
	if err := json.NewDecoder(conn).Decode(&r); err != nil {
		return nil, fmt.Errorf("read the supervisor's answer: %w", err)
	}
	if r.Error != "" {
		return nil, errors.New(r.Error)
	}
	return r.Status, nil
}
