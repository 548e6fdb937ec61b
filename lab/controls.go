package lab

import (
	"context"
	"net/http"
	"syscall"
	"time"
)

// RestartKubeControllers stops calico-kube-controllers gracefully and starts it again.
func (l *Lab) RestartKubeControllers(ctx context.Context) error {
	if err := l.sup.Stop(ctx, KubeControllers, 10*time.Second); err != nil {
		return err
	}
	return l.sup.Again(ctx, KubeControllers)
}

// RestartAPIServer stops the API server gracefully, starts it again, and waits until it
// is ready.
func (l *Lab) RestartAPIServer(ctx context.Context) error {
	if err := l.sup.Stop(ctx, "kube-apiserver", 10*time.Second); err != nil {
		return err
	}
	if err := l.sup.Again(ctx, "kube-apiserver"); err != nil {
		return err
	}
	return l.await(ctx, "kube-apiserver", func(ctx context.Context) error {
		_, err := l.Do(ctx, http.MethodGet, "/readyz", "")
		return err
	})
}

// FreezeAPIServer stops the API server's process (SIGSTOP); it answers no request.
func (l *Lab) FreezeAPIServer(ctx context.Context) error {
	return l.sup.Signal(ctx, "kube-apiserver", syscall.SIGSTOP)
}

// ThawAPIServer continues it.
func (l *Lab) ThawAPIServer(ctx context.Context) error {
	return l.sup.Signal(ctx, "kube-apiserver", syscall.SIGCONT)
}
