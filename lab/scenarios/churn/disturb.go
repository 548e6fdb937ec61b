package churn

import (
	"context"
	"fmt"
	"time"

	"plumbline.dev/plumbline/lab"
)

// comeAndGo: a node joins, runs a few pods, is drained, switched off and deleted.
func (c *churner) comeAndGo(ctx context.Context) error {
	i := c.Nodes + 1
	n, err := c.AddNode(ctx, i)
	if err != nil {
		return err
	}
	for k := range 3 {
		if err := c.plain(ctx, n.Name, 900000+int(c.nodes.Load())*10+k); err != nil {
			return err
		}
	}
	if err := c.RemoveNode(ctx, i); err != nil {
		return err
	}
	c.nodes.Add(1)
	time.Sleep(20 * time.Second)
	return nil
}

// disturb restarts Calico's components and makes the API slow, in turn, with a pause.
func (c *churner) disturb(ctx context.Context, i int) error {
	time.Sleep(8 * time.Second)
	c.parts.Add(1)
	switch i % 3 {
	case 0:
		n, err := c.Node(ctx, 1+i/3%c.Nodes)
		if err != nil {
			return err
		}
		return n.Restart(ctx, lab.Felix)
	case 1:
		return c.RestartKubeControllers(ctx)
	default:
		return c.slowAPI(ctx)
	}
}

// slowAPI stops the API server for a moment, repeatedly, for ten seconds.
func (c *churner) slowAPI(ctx context.Context) error {
	for range 10 {
		if err := c.FreezeAPIServer(ctx); err != nil {
			return fmt.Errorf("slow API: %w", err)
		}
		time.Sleep(500 * time.Millisecond)
		if err := c.ThawAPIServer(ctx); err != nil {
			return fmt.Errorf("slow API: %w", err)
		}
		time.Sleep(500 * time.Millisecond)
	}
	return nil
}
