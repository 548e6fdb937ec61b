package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
	"plumbline.dev/plumbline/internal/scrub"
)

// Events reads the events of pods that fail to start or to stop: of all, or of one.
type Events struct {
	Client *Client
	Of     string // NAMESPACE/NAME of a pod; empty means all
}

// Name is the name in progress output.
func (Events) Name() string { return "events" }

// Tables lists the tables that it fills.
func (Events) Tables() []model.Table { return []model.Table{model.Events} }

// reasons are requested one by one, the rarest first: there is no selector for several, and
// a busy cluster has more events than pods.
var reasons = []string{"FailedKillPod", "ExceededGracePeriod", "FailedCreatePodSandBox", "SandboxChanged", "FailedMount"}

const (
	maxEvents  = 2000
	maxMessage = 1 << 10
)

var errEnough = errors.New("enough")

// Collect reads events of the reasons above. Too many are truncated, and coverage reports
// it.
func (c Events) Collect(ctx context.Context, b *model.Builder) (observe.ReadInfo, error) {
	var out []model.Event
	var seen observe.ReadInfo
	cut := false
	path, each := "/api/v1/events", reasons
	ns, name, one := strings.Cut(c.Of, "/")
	if one { // a pod has few
		path, each = "/api/v1/namespaces/"+url.PathEscape(ns)+"/events", []string{""}
	}
	for i, reason := range each {
		most := room(i)
		a, err := c.Client.List(ctx, path, eventQuery(reason, name), func(item []byte) error {
			e, pod, err := parseEvent(item)
			switch {
			case err != nil || !pod || !slices.Contains(reasons, e.Reason):
				return err
			case len(out) >= most:
				return errEnough
			}
			out = append(out, e)
			return nil
		})
		if errors.Is(err, errEnough) {
			cut, err = true, nil
		}
		if err != nil {
			return observe.ReadInfo{}, err
		}
		if seen.At.IsZero() {
			seen.At, seen.Revision = a.At, a.Revision
		}
	}
	seen.Rows = len(out)
	b.Add(func(s *model.Snapshot) { s.Events = out })
	if cut {
		return seen, fmt.Errorf("more than %d events: %w", len(out), observe.ErrPartial)
	}
	return seen, nil
}

// room is how many events may be kept after the i-th reason, so that the following reasons
// still have room.
func room(i int) int { return maxEvents - (len(reasons)-1-i)*maxEvents/20 }

func eventQuery(reason, pod string) url.Values {
	selector := "involvedObject.kind=Pod"
	if reason != "" {
		selector += ",reason=" + reason
	}
	if pod != "" {
		selector += ",involvedObject.name=" + pod
	}
	return url.Values{
		"fieldSelector": {selector},
		"limit":         {strconv.Itoa(pageSize)}, // events come from etcd, not from the server's cache
	}
}

// parseEvent reads an event of either API: with a count, or with a series. It reports
// whether the event is about a pod.
func parseEvent(b []byte) (model.Event, bool, error) {
	var o struct {
		Metadata       ObjectMeta `json:"metadata"`
		InvolvedObject struct {
			Kind      string `json:"kind"`
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
			UID       string `json:"uid"`
		} `json:"involvedObject"`
		Reason  string `json:"reason"`
		Message string `json:"message"`
		Source  struct {
			Host string `json:"host"`
		} `json:"source"`
		ReportingComponent string     `json:"reportingComponent"`
		ReportingInstance  string     `json:"reportingInstance"`
		FirstTimestamp     model.Time `json:"firstTimestamp"`
		LastTimestamp      model.Time `json:"lastTimestamp"`
		EventTime          model.Time `json:"eventTime"`
		Count              int        `json:"count"`
		Series             *struct {
			Count            int        `json:"count"`
			LastObservedTime model.Time `json:"lastObservedTime"`
		} `json:"series"`
	}
	if err := json.Unmarshal(b, &o); err != nil {
		return model.Event{}, false, fmt.Errorf("event %s/%s: %w", o.Metadata.Namespace, o.Metadata.Name, err)
	}
	e := model.Event{
		Namespace: o.InvolvedObject.Namespace, Pod: o.InvolvedObject.Name, UID: o.InvolvedObject.UID, Node: o.Source.Host,
		Reason: o.Reason, Message: Readable(shortened(scrub.String(o.Message))), Count: max(o.Count, 1),
		First: earliest(o.FirstTimestamp, o.EventTime, o.Metadata.CreationTimestamp),
		Last:  max(o.LastTimestamp, o.EventTime, o.FirstTimestamp),
	}
	if o.Series != nil {
		e.Count, e.Last = max(e.Count, o.Series.Count), max(e.Last, o.Series.LastObservedTime)
	}
	if e.Node == "" && o.ReportingComponent == "kubelet" {
		e.Node = o.ReportingInstance
	}
	e.Last = max(e.Last, e.First)
	return e, o.InvolvedObject.Kind == "Pod", nil
}

// shortened cuts a long message in its middle: an error begins with who called, and ends with why.
func shortened(s string) string {
	if len(s) <= maxMessage {
		return s
	}
	const dots = " … "
	return s[:maxMessage/4] + dots + s[len(s)-maxMessage*3/4+len(dots):]
}

// earliest is the first of the known times.
func earliest(times ...model.Time) model.Time {
	for _, t := range times {
		if !t.IsZero() {
			return t
		}
	}
	return 0
}

// Readable cuts a text between characters and removes control characters.
func Readable(s string) string {
	if most := maxMessage; len(s) > most {
		for most > 0 && !utf8.RuneStart(s[most]) {
			most--
		}
		s = s[:most]
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == utf8.RuneError {
			return ' '
		}
		return r
	}, s))
}
