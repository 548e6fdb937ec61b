package lab

import (
	"context"
	"syscall"
	"time"
)

// RestartKubeControllers ends Calico's controllers in good order and runs them again.
func (l *Lab) RestartKubeControllers(ctx context.Context) error {
	if err := l.sup.Stop(ctx, KubeControllers, 10*time.Second); err != nil {
		return err
	}
	return l.sup.Again(ctx, KubeControllers)
}

// FreezeAPIServer stops the API server where it is; nobody gets an answer.
func (l *Lab) FreezeAPIServer(ctx context.Context) error {
	return l.sup.Signal(ctx, "kube-apiserver", syscall.SIGSTOP)
}

// ThawAPIServer lets it go on.
func (l *Lab) ThawAPIServer(ctx context.Context) error {
	return l.sup.Signal(ctx, "kube-apiserver", syscall.SIGCONT)
}
