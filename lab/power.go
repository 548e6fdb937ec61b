package lab

import (
	"context"
	"errors"
	"fmt"
	"time"
)

var errNoMachine = errors.New("a machine (lab up --machines)")

// Reboot reboots the machine as an operator does, and waits until it runs again.
func (n *Node) Reboot(ctx context.Context) error {
	return n.rebooted(ctx, func() error {
		_, err := n.Exec(ctx, "systemctl", "--no-block", "reboot")
		return err
	})
}

// PowerCut resets the machine in the middle of whatever it does, and waits until it runs
// again.
func (n *Node) PowerCut(ctx context.Context) error {
	return n.rebooted(ctx, func() error { return n.machine.PowerCut(ctx) })
}

func (n *Node) rebooted(ctx context.Context, do func() error) error {
	if !n.IsMachine() {
		return fmt.Errorf("%s: that needs %w", n.Name, errNoMachine)
	}
	last, err := n.bootID(ctx)
	if err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	return n.booted(ctx, last)
}

// Pause stops the machine's processors; its clock stands still too, as after a live
// migration that took long.
func (n *Node) Pause(ctx context.Context) error {
	if !n.IsMachine() {
		return fmt.Errorf("%s: that needs %w", n.Name, errNoMachine)
	}
	return n.machine.Pause(ctx)
}

// Resume continues a paused machine.
func (n *Node) Resume(ctx context.Context) error {
	if !n.IsMachine() {
		return fmt.Errorf("%s: that needs %w", n.Name, errNoMachine)
	}
	return n.machine.Resume(ctx)
}

// SetClock sets the machine's clock to the host's plus an offset.
func (n *Node) SetClock(ctx context.Context, offset time.Duration) error {
	if !n.IsMachine() {
		return fmt.Errorf("%s: that needs %w", n.Name, errNoMachine)
	}
	_, err := n.Exec(ctx, "date", "--utc", "--set="+time.Now().Add(offset).UTC().Format(time.RFC3339Nano))
	return err
}
