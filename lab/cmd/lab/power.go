package main

import (
	"context"
	"fmt"
	"time"
)

// power does to a machine what an operator, a power supply or a hypervisor does.
func power(what string) func(context.Context, env) error {
	return func(ctx context.Context, e env) error {
		l, args, err := inLab(e)
		if err != nil {
			return err
		}
		var d time.Duration
		want := 1
		if what == "pause" || what == "clock" {
			want = 2
		}
		if len(args) == want && want == 2 {
			d, err = time.ParseDuration(args[1])
		}
		if len(args) != want || err != nil {
			return fmt.Errorf("%w: lab %s NODE%s", errUsage, what, map[int]string{2: " DURATION, such as 90s or 5m"}[want])
		}
		n, err := l.NodeByName(ctx, args[0])
		if err != nil {
			return err
		}
		switch what {
		case "reboot":
			return n.Reboot(ctx)
		case "power-cut":
			return n.PowerCut(ctx)
		case "clock":
			return n.SetClock(ctx, d)
		}
		if err := n.Pause(ctx); err != nil {
			return err
		}
		select {
		case <-ctx.Done(): // interrupted: a machine is not left standing
		case <-time.After(d):
		}
		return n.Resume(context.WithoutCancel(ctx))
	}
}
