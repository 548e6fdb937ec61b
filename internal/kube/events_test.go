package kube

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"plumbline.dev/plumbline/internal/model"
)

// Events are encoded by Kubernetes' own library, in both shapes.
func TestParseEvent(t *testing.T) {
	t.Parallel()
	about := corev1.ObjectReference{Kind: "Pod", Namespace: "shop", Name: "db-0", UID: "u1"}
	for name, c := range map[string]struct {
		event corev1.Event
		want  model.Event
		pod   bool
	}{
		"counted": {
			corev1.Event{
				InvolvedObject: about, Reason: "FailedKillPod", Message: "error killing pod: \x1b[31mDeadlineExceeded\n", Count: 7,
				Source: corev1.EventSource{Component: "kubelet", Host: "w1"}, FirstTimestamp: at(100), LastTimestamp: at(900),
			},
			model.Event{Namespace: "shop", Pod: "db-0", UID: "u1", Node: "w1", Reason: "FailedKillPod", Message: "error killing pod:  [31mDeadlineExceeded", Count: 7, First: 100, Last: 900},
			true,
		},
		"series": {
			corev1.Event{
				InvolvedObject: about, Reason: "FailedMount", EventTime: metav1.NewMicroTime(time.Unix(200, 5000)), ReportingController: "kubelet", ReportingInstance: "w2",
				Series: &corev1.EventSeries{Count: 12, LastObservedTime: metav1.NewMicroTime(time.Unix(800, 9000))},
			},
			model.Event{Namespace: "shop", Pod: "db-0", UID: "u1", Node: "w2", Reason: "FailedMount", Count: 12, First: 200, Last: 800},
			true,
		},
		"once": {
			corev1.Event{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: at(50)}, InvolvedObject: about, Reason: "X"},
			model.Event{Namespace: "shop", Pod: "db-0", UID: "u1", Reason: "X", Count: 1, First: 50, Last: 50},
			true,
		},
		"other": {corev1.Event{InvolvedObject: corev1.ObjectReference{Kind: "Node", Name: "w1"}}, model.Event{Pod: "w1", Count: 1}, false},
	} {
		b, err := json.Marshal(c.event)
		if err != nil {
			t.Fatal(err)
		}
		got, pod, err := parseEvent(b)
		if err != nil || pod != c.pod || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\ngot  %+v, %v, %v\nwant %+v", name, got, pod, err, c.want)
		}
	}
	if _, _, err := parseEvent([]byte(`{"count":"x"}`)); err == nil {
		t.Error("no number, and no error")
	}
	if got := eventQuery("FailedMount", "").Encode(); got != "fieldSelector=involvedObject.kind%3DPod%2Creason%3DFailedMount&limit=500" {
		t.Error(got)
	}
}

func TestRoomForEveryReason(t *testing.T) {
	t.Parallel()
	for i := range reasons {
		if i > 0 && room(i)-room(i-1) < 50 {
			t.Errorf("%s: %d after %d", reasons[i], room(i), room(i-1))
		}
	}
	if room(len(reasons)-1) != maxEvents || room(0) < maxEvents/2 {
		t.Errorf("%d to %d", room(0), room(len(reasons)-1))
	}
}

func TestReadable(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"a\u202eb\x00c\r\n": "a b c", strings.Repeat("ä", 600): strings.Repeat("ä", 512), "x" + strings.Repeat("ä", 600): "x" + strings.Repeat("ä", 511), "\xff\xfe": ""} {
		if got := Readable(in); got != want {
			t.Errorf("%.20q: %q", in, got)
		}
	}
}

func FuzzEvent(f *testing.F) {
	f.Add([]byte(`{"involvedObject":{"kind":"Pod"},"message":"x","series":{"count":-1}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, _, err := parseEvent(b)
		if err != nil {
			return
		}
		if len(e.Message) > maxMessage || !utf8.ValidString(e.Message) || e.Count < 1 || e.Last < e.First {
			t.Errorf("%+v", e)
		}
	})
}
