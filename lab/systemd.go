package lab

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"time"

	"plumbline.dev/plumbline/lab/supervise"
)

// systemd does with the units of a machine what the lab's supervisor does with the parts
// of a namespace node.
type systemd struct{ n *Node }

// unitMark tells the lab's units from the distribution's.
const unitMark = "# a part of the lab"

func (s systemd) ctl(ctx context.Context, args ...string) error {
	_, err := s.n.Exec(ctx, append([]string{"systemctl", "--quiet"}, args...)...)
	return err
}

// Start writes a unit and starts it. Like the services of a real node it comes back
// after a reboot.
func (s systemd) Start(ctx context.Context, p supervise.Part) (supervise.Status, error) {
	st := supervise.Status{Name: p.Name, Log: p.Log}
	if err := s.n.WriteFile("/etc/systemd/system/"+p.Name+".service", unit(p)); err != nil {
		return st, err
	}
	if err := s.ctl(ctx, "daemon-reload"); err != nil {
		return st, err
	}
	return st, s.ctl(ctx, "enable", "--now", p.Name)
}

func unit(p supervise.Part) string {
	var u strings.Builder
	u.WriteString(unitMark + "\n[Unit]\nAfter=containerd.service plumbline-net.service\nStartLimitIntervalSec=0\n[Service]\nRestart=always\nRestartSec=1\nTimeoutStopSec=15\nExecStart=")
	for i, a := range p.Argv {
		if i > 0 {
			u.WriteByte(' ')
		}
		u.WriteString(strconv.Quote(strings.ReplaceAll(a, "%", "%%")))
	}
	for _, e := range p.Env {
		if !strings.HasPrefix(e, "PATH=") {
			u.WriteString("\nEnvironment=" + strconv.Quote(strings.ReplaceAll(e, "%", "%%")))
		}
	}
	u.WriteString("\n[Install]\nWantedBy=multi-user.target\n")
	return u.String()
}

// Again starts a stopped unit.
func (s systemd) Again(ctx context.Context, name string) error { return s.ctl(ctx, "start", name) }

// Signal signals the unit's main process. After SIGTERM or SIGKILL it is not restarted.
func (s systemd) Signal(ctx context.Context, name string, sig syscall.Signal) error {
	if sig == syscall.SIGTERM {
		return s.ctl(ctx, "stop", "--no-block", name)
	}
	err := s.ctl(ctx, "kill", "--kill-who=main", "--signal="+strconv.Itoa(int(sig)), name)
	if sig == syscall.SIGKILL && err == nil {
		return s.ctl(ctx, "stop", "--no-block", name)
	}
	return err
}

// Stop stops the unit; systemd kills it if it does not end by itself.
func (s systemd) Stop(ctx context.Context, name string, _ time.Duration) error {
	return s.ctl(ctx, "stop", name)
}

// Kill ends the unit at once.
func (s systemd) Kill(ctx context.Context, name string) error {
	if err := s.ctl(ctx, "kill", "--kill-who=main", "--signal=KILL", name); err != nil {
		return err
	}
	return s.ctl(ctx, "stop", name)
}

// List returns the state of the lab's units and of containerd.
func (s systemd) List(ctx context.Context) ([]supervise.Status, error) {
	out, err := s.n.Exec(ctx, "sh", "-c", `cd /etc/systemd/system && exec systemctl show --property=Id,ActiveState,MainPID,NRestarts,Result,ExecMainStatus containerd.service $(grep -lx "$0" *.service)`, unitMark)
	if err != nil {
		return nil, err
	}
	var all []supervise.Status
	for block := range strings.SplitSeq(strings.TrimSpace(out), "\n\n") {
		st, err := unitStatus(block)
		if err != nil {
			return nil, err
		}
		all = append(all, st)
	}
	return all, nil
}

// unitStatus reads what systemctl show prints about one unit.
func unitStatus(block string) (supervise.Status, error) {
	v := map[string]string{}
	for line := range strings.Lines(block) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		v[key] = value
	}
	st := supervise.Status{
		Name:    strings.TrimSuffix(v["Id"], ".service"),
		Running: v["ActiveState"] != "inactive" && v["ActiveState"] != "failed",
		Down:    v["ActiveState"] == "inactive" && v["Result"] == "success",
	}
	if !st.Running {
		st.Exit = fmt.Sprintf("%s, exit code %s", v["Result"], v["ExecMainStatus"])
	}
	restarts, err := strconv.Atoi(v["NRestarts"])
	if err != nil {
		return st, fmt.Errorf("read the state of unit %q: %w", v["Id"], err)
	}
	st.Starts = restarts + 1
	st.PID, err = strconv.Atoi(v["MainPID"])
	return st, err
}
