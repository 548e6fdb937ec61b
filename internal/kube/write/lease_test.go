package write

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	coordination "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestWhenALeaseIsFree(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	ago := func(d time.Duration) string { return now.Add(-d).Format(microTime) }
	for name, c := range map[string]struct {
		spec leaseSpec
		free bool
	}{
		"nobody's":        {leaseSpec{RenewTime: ago(0), LeaseDurationSeconds: 30}, true},
		"held":            {leaseSpec{HolderIdentity: "a", RenewTime: ago(10 * time.Second), LeaseDurationSeconds: 30}, false},
		"at its end":      {leaseSpec{HolderIdentity: "a", RenewTime: ago(30 * time.Second), LeaseDurationSeconds: 30}, false},
		"past its end":    {leaseSpec{HolderIdentity: "a", RenewTime: ago(31 * time.Second), LeaseDurationSeconds: 30}, true},
		"a longer one":    {leaseSpec{HolderIdentity: "a", RenewTime: ago(31 * time.Second), LeaseDurationSeconds: 60}, false},
		"of no length":    {leaseSpec{HolderIdentity: "a", RenewTime: ago(20 * time.Second)}, false},
		"never renewed":   {leaseSpec{HolderIdentity: "a", LeaseDurationSeconds: 30}, false},
		"no time at all":  {leaseSpec{HolderIdentity: "a", RenewTime: "yesterday", LeaseDurationSeconds: 30}, false},
		"from the future": {leaseSpec{HolderIdentity: "a", RenewTime: ago(-time.Hour), LeaseDurationSeconds: 30}, false},
	} {
		if o := (leaseObject{Spec: c.spec}); o.free(now) != c.free {
			t.Errorf("%s: %v", name, !c.free)
		}
	}
}

// Kubernetes' own type reads what we write, and writes times as we do.
func TestLeaseAsKubernetesKnowsIt(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 600, time.FixedZone("x", 3600))
	at, _ := json.Marshal(metav1.NewMicroTime(now))
	o := leaseObject{Metadata: leaseMeta{identity: identity{Name: leaseName, Namespace: "kube-system"}}}.taken("me_1", now)
	b, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.DisallowUnknownFields()
	var l coordination.Lease
	if err := d.Decode(&l); err != nil {
		t.Fatal(err)
	}
	if *l.Spec.HolderIdentity != "me_1" || *l.Spec.LeaseDurationSeconds != 30 || !strings.Contains(string(b), `"renewTime":`+string(at)) || l.Spec.LeaseTransitions != nil {
		t.Errorf("%s, want %s", b, at)
	}
	o.Metadata.UID = "u"
	later := o.taken("me_1", now.Add(time.Minute))
	if later.Spec.AcquireTime != o.Spec.AcquireTime || later.Spec.RenewTime == o.Spec.RenewTime || later.Spec.LeaseTransitions != 0 {
		t.Errorf("renewed: %+v", later.Spec)
	}
	other := o.taken("you_2", now.Add(time.Minute))
	if other.Spec.AcquireTime != other.Spec.RenewTime || other.Spec.LeaseTransitions != 1 || other.Spec.HolderIdentity != "you_2" {
		t.Errorf("taken over: %+v", other.Spec)
	}
}

func FuzzLease(f *testing.F) {
	f.Add([]byte(`{"metadata":{"name":"plumbline-apply","uid":"u","resourceVersion":"1"},"spec":{"holderIdentity":"a","renewTime":"2026-01-02T03:04:05.000000Z","leaseDurationSeconds":-1}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := readLease(b)
		if err != nil {
			return
		}
		if o.Spec.HolderIdentity != "" && o.free(time.Time{}) {
			t.Errorf("%s is free at the beginning of time", b)
		}
	})
}

// A machine that was suspended for longer than the lease is valid does not hold it any more, also
// before anybody has noticed.
func TestLeaseInSuspend(t *testing.T) {
	t.Parallel()
	var up time.Duration
	l := &Lease{lost: make(chan struct{}), uptime: func() time.Duration { return up }}
	up = time.Hour
	l.good.Store(int64(up))
	for _, c := range []struct {
		slept time.Duration
		held  bool
	}{{0, true}, {leaseSafe - time.Second, true}, {leaseSafe, false}, {5 * time.Minute, false}} {
		up = time.Hour + c.slept
		if err := l.Held(); (err == nil) != c.held {
			t.Errorf("after %s: %v", c.slept, err)
		}
	}
	up = time.Hour
	close(l.lost)
	if l.Held() == nil {
		t.Error("a lease that was lost is held")
	}
}
