package write

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// How long a lease is valid without renewal, as others read it.
const leaseSeconds = 30

// microTime is the time format of Kubernetes' own clients.
const microTime = "2006-01-02T15:04:05.000000Z07:00"

type leaseObject struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Metadata   leaseMeta `json:"metadata"`
	Spec       leaseSpec `json:"spec"`
}

type leaseMeta struct {
	identity
	Annotations map[string]string `json:"annotations,omitempty"`
}

type leaseSpec struct {
	HolderIdentity       string `json:"holderIdentity,omitempty"`
	LeaseDurationSeconds int    `json:"leaseDurationSeconds,omitempty"`
	AcquireTime          string `json:"acquireTime,omitempty"`
	RenewTime            string `json:"renewTime,omitempty"`
	LeaseTransitions     int    `json:"leaseTransitions,omitempty"`
}

func readLease(b []byte) (leaseObject, error) {
	var o leaseObject
	if err := json.Unmarshal(b, &o); err != nil {
		return o, fmt.Errorf("read the lease: %w", err)
	}
	if o.Metadata.Name != leaseName || o.Metadata.UID == "" || o.Metadata.ResourceVersion == "" {
		return o, errors.New("the answer is not a lease")
	}
	return o, nil
}

// free reports whether nobody holds it at that time of the server's clock. A lease without
// a renewal time may be held.
func (o *leaseObject) free(now time.Time) bool {
	if o.Spec.HolderIdentity == "" {
		return true
	}
	renewed, err := time.Parse(time.RFC3339Nano, o.Spec.RenewTime)
	seconds := o.Spec.LeaseDurationSeconds
	if seconds <= 0 {
		seconds = leaseSeconds
	}
	return err == nil && now.After(renewed.Add(time.Duration(seconds)*time.Second))
}

// taken is the lease with this holder.
func (o leaseObject) taken(holder string, now time.Time) leaseObject {
	at := now.UTC().Format(microTime)
	o.APIVersion, o.Kind = "coordination.k8s.io/v1", "Lease"
	if o.Spec.HolderIdentity != holder {
		if o.Metadata.UID != "" {
			o.Spec.LeaseTransitions++
		}
		o.Spec.HolderIdentity, o.Spec.AcquireTime = holder, at
	}
	o.Spec.LeaseDurationSeconds, o.Spec.RenewTime = leaseSeconds, at
	return o
}
