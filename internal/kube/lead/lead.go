// Package lead elects one of several controllers by a Lease. It is alone with client-go's whole
// clientset, which its library needs.
package lead

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"regexp"
	"time"

	leases "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"

	"plumbline.dev/plumbline/internal/kube"
)

// How long a Lease holds without being renewed, after which time without a renewal its holder stops,
// and how often it is renewed.
const (
	holds  = 15 * time.Second
	stops  = 10 * time.Second
	renews = 2 * time.Second
)

const leaseName = "plumbline-controller"

// An Election is one candidate's part.
type Election struct {
	Client    *kube.Client
	Namespace string
	Name      string // of the candidate: unique, as its pod's name
	// Annotations are those of the Lease while the candidate holds it.
	Annotations map[string]string
	// Lead is called when the candidate is elected; its context ends when it is the leader no longer.
	Lead func(ctx context.Context)
	// Elected is told who leads.
	Elected func(name string)
	Log     *slog.Logger
}

// annotated are Leases that have the annotations of whoever wrote them last, who holds them.
type annotated struct {
	coordinationv1.LeasesGetter
	annotations map[string]string
}

func (a annotated) Leases(namespace string) coordinationv1.LeaseInterface {
	return annotatedLeases{a.LeasesGetter.Leases(namespace), a.annotations}
}

type annotatedLeases struct {
	coordinationv1.LeaseInterface
	annotations map[string]string
}

func (a annotatedLeases) Create(ctx context.Context, l *leases.Lease, o metav1.CreateOptions) (*leases.Lease, error) {
	return a.LeaseInterface.Create(ctx, a.with(l), o)
}

func (a annotatedLeases) Update(ctx context.Context, l *leases.Lease, o metav1.UpdateOptions) (*leases.Lease, error) {
	return a.LeaseInterface.Update(ctx, a.with(l), o)
}

func (a annotatedLeases) with(l *leases.Lease) *leases.Lease {
	own := l.DeepCopy()
	if own.Annotations == nil {
		own.Annotations = map[string]string{}
	}
	maps.Copy(own.Annotations, a.annotations)
	return own
}

// Run takes part until ctx ends or the candidate, once elected, leads no longer: then its process is
// to end, so that nothing of what it held stays.
func (e *Election) Run(ctx context.Context) error {
	if err := kube.CheckNames(e.Namespace, e.Name); err != nil {
		return err
	}
	leases := `^/apis/coordination\.k8s\.io/v1/namespaces/` + regexp.QuoteMeta(e.Namespace) + `/leases`
	create, one := regexp.MustCompile(leases+`$`), regexp.MustCompile(leases+`/`+leaseName+`$`)
	cfg, hc, err := e.Client.Guarded(func(method, path string) bool {
		switch method {
		case http.MethodPost:
			return create.MatchString(path)
		case http.MethodGet, http.MethodPut:
			return one.MatchString(path)
		default:
			return false
		}
	})
	if err != nil {
		return err
	}
	hc.Timeout = stops / 2
	klog.SetSlogLogger(e.Log) // the library's own log
	client, err := coordinationv1.NewForConfigAndClient(cfg, hc)
	if err != nil {
		return err
	}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:          &resourcelock.LeaseLock{LeaseMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: leaseName}, Client: annotated{client, e.Annotations}, LockConfig: resourcelock.ResourceLockConfig{Identity: e.Name}},
		LeaseDuration: holds, RenewDeadline: stops, RetryPeriod: renews, Name: leaseName,
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: e.Lead, OnStoppedLeading: func() {}, OnNewLeader: e.Elected},
	})
	if err != nil {
		return err
	}
	elector.Run(ctx)
	return nil
}
