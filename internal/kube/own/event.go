package own

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"plumbline.dev/plumbline/api/v1alpha1"
	"plumbline.dev/plumbline/internal/kube"
)

// Tell creates an Event about a finding.
func (s *Store) Tell(ctx context.Context, f *v1alpha1.Finding, bad bool, reason, says string, at time.Time) error {
	e := corev1.Event{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Event"},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: v1alpha1.Group + "/" + v1alpha1.Version, Kind: "Finding", Name: f.Name, UID: f.UID, ResourceVersion: f.ResourceVersion,
		},
		Type: corev1.EventTypeNormal, Reason: reason, Message: says, Count: 1,
		FirstTimestamp: metav1.NewTime(at), LastTimestamp: metav1.NewTime(at),
		Source:              corev1.EventSource{Component: "plumbline-controller"},
		ReportingController: "plumbline.dev/controller", ReportingInstance: s.name,
	}
	e.Namespace = eventsIn
	e.Name = strings.TrimRight(f.Name[:min(len(f.Name), 220)], "-.") + "." + strings.ToLower(rand.Text()[:16])
	if bad {
		e.Type = corev1.EventTypeWarning
	}
	body, err := json.Marshal(&e)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, writeWithin)
	defer cancel()
	return s.send(ctx, kube.Request{Method: http.MethodPost, Path: eventsAt, Body: body}, nil)
}
