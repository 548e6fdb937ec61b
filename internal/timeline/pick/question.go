// Package pick finds the lines of a node's logs that are about a pod, an address or a
// container. It runs in the agent, which sends nothing else, and on journals that a kubelet
// returns; it knows the spellings of names and IDs, and does not interpret messages.
package pick

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Bounds of one question.
const (
	maxIDs       = 64
	maxAddresses = 16
	shortestID   = 12
)

// A Question is what lines of a node's logs are asked for: those about a pod, about
// addresses, about containers. At least one of the three is named.
type Question struct {
	Namespace, Pod string
	UIDs           []string // of the pod, as far as they are known
	Addresses      []netip.Addr
	Sandboxes      []string // container IDs, at least 12 digits of each
	Since, Until   time.Time
}

var (
	podLabel    = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
	podNamed    = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$`)
	podUID      = regexp.MustCompile(`^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32})$`)
	containerID = regexp.MustCompile(`^[0-9a-f]{12,64}$`)
)

// Values is the question as it is sent.
func (q *Question) Values() url.Values {
	v := url.Values{}
	if q.Pod != "" {
		v.Set("pod", q.Namespace+"/"+q.Pod)
	}
	for _, uid := range q.UIDs {
		v.Add("uid", uid)
	}
	for _, ip := range q.Addresses {
		v.Add("address", ip.Unmap().String())
	}
	for _, id := range q.Sandboxes {
		v.Add("sandbox", id)
	}
	for name, t := range map[string]time.Time{"since": q.Since, "until": q.Until} {
		if !t.IsZero() {
			v.Set(name, t.UTC().Format(time.RFC3339))
		}
	}
	return v
}

// OnlyPod reports whether the question names a pod and nothing else whose lines it asks for.
func (q *Question) OnlyPod() bool {
	return q.Pod != "" && q.Namespace != "" && len(q.UIDs)+len(q.Addresses)+len(q.Sandboxes) == 0
}

var asked = []string{"pod", "uid", "address", "sandbox", "since", "until"}

// ParseQuestion reads a question. What it does not know it refuses: half of a question
// would get the wrong lines.
func ParseQuestion(v url.Values) (Question, error) {
	var q Question
	for name := range v {
		if !slices.Contains(asked, name) {
			return q, fmt.Errorf("%.40q is not asked for", name)
		}
	}
	if pod := v.Get("pod"); pod != "" {
		q.Namespace, q.Pod, _ = strings.Cut(pod, "/")
	}
	q.UIDs, q.Sandboxes = v["uid"], v["sandbox"]
	for _, text := range v["address"] {
		ip, err := netip.ParseAddr(text)
		if err != nil {
			return q, fmt.Errorf("address: %.60q is none", text)
		}
		q.Addresses = append(q.Addresses, ip.Unmap())
	}
	for name, t := range map[string]*time.Time{"since": &q.Since, "until": &q.Until} {
		text := v.Get(name)
		if text == "" {
			continue
		}
		var err error
		if *t, err = time.Parse(time.RFC3339, text); err != nil {
			return q, fmt.Errorf("%s: %.60q is no time", name, text)
		}
	}
	return q, q.Check()
}

// Check tells what is wrong with a question.
func (q *Question) Check() error {
	if err := q.checkShape(); err != nil {
		return err
	}
	for _, uid := range q.UIDs {
		if !podUID.MatchString(uid) {
			return fmt.Errorf("uid: %.60q is none", uid)
		}
	}
	for _, id := range q.Sandboxes {
		if !containerID.MatchString(id) {
			return fmt.Errorf("sandbox: %.80q is not %d to 64 digits of an ID", id, shortestID)
		}
	}
	for _, ip := range q.Addresses {
		if !ip.IsValid() || ip.Zone() != "" || ip.IsLinkLocalUnicast() || ip.IsUnspecified() {
			return fmt.Errorf("address: %s is no pod's", ip)
		}
	}
	return nil
}

// checkShape checks what is asked for, not yet the UIDs, IDs and addresses.
func (q *Question) checkShape() error {
	switch {
	case q.Pod == "" && len(q.Addresses)+len(q.Sandboxes) == 0:
		return errors.New("ask about pod=NAMESPACE/NAME, address=ADDRESS or sandbox=ID")
	case q.Pod != "" && (!podLabel.MatchString(q.Namespace) || !podNamed.MatchString(q.Pod)):
		return errors.New("pod: not NAMESPACE/NAME")
	case len(q.UIDs) > maxIDs || len(q.Sandboxes) > maxIDs || len(q.Addresses) > maxAddresses:
		return fmt.Errorf("at most %d UIDs, %d sandboxes and %d addresses", maxIDs, maxIDs, maxAddresses)
	case !q.Since.IsZero() && !q.Until.IsZero() && q.Until.Before(q.Since):
		return errors.New("until is before since")
	}
	return nil
}

// With is the question with what an agent's answer has taught: IDs and UIDs.
func (q Question) With(learned []string) Question {
	q.UIDs, q.Sandboxes = slices.Clone(q.UIDs), slices.Clone(q.Sandboxes)
	for _, id := range learned {
		switch {
		case podUID.MatchString(id) && len(q.UIDs) < maxIDs && !slices.Contains(q.UIDs, id):
			q.UIDs = append(q.UIDs, id)
		case containerID.MatchString(id) && !podUID.MatchString(id) && len(q.Sandboxes) < maxIDs && !slices.Contains(q.Sandboxes, id):
			q.Sandboxes = append(q.Sandboxes, id)
		}
	}
	return q
}
