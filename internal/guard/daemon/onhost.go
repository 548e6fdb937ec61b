package daemon

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"syscall"
)

const hostPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// onHost runs a program in the host's root file system and waits for it.
func (k *daemon) onHost(ctx context.Context, s *stage, stdin []byte, env []string, program string, args ...string) (out []byte, words string, err error) {
	said, errs := &bounded{most: maxSaid}, &bounded{most: maxSaid}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = "/", append([]string{"PATH=" + hostPath, "CNI_PATH=" + strings.Join(s.binDirs, ":")}, env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), said, errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if k.Root != "/" {
		cmd.SysProcAttr.Chroot = k.Root
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = farewell
	err = cmd.Run()
	return said.Bytes(), errs.String(), err
}

// A bounded buffer keeps the beginning of what is written to it.
type bounded struct {
	bytes.Buffer
	most int
}

func (b *bounded) Write(p []byte) (int, error) {
	if room := b.most - b.Len(); room > 0 {
		_, _ = b.Buffer.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}
