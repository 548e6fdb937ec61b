package kube

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Bounds of one question to a kubelet.
const (
	maxNodeLog     = 8 << 20
	maxPattern     = 6 << 10          // it travels in the address
	nodeLogWithin  = 30 * time.Second // as long as kubelets let journalctl run
	nodeLogWindow  = "2006-01-02T15:04:05Z07:00"
	nodeLogService = " kubelet containerd "
)

// Why a kubelet gave no lines.
var (
	// ErrNoLogQuery means that it takes no such questions.
	ErrNoLogQuery = errors.New("its kubelet takes no log queries: they need the feature NodeLogQuery, enableSystemLogHandler and enableSystemLogQuery")
	// ErrNotInJournal means that the service does not log there.
	ErrNotInJournal = errors.New("journald has nothing of it")
)

// A NodeLogQuery is what a kubelet is asked for out of journald.
type NodeLogQuery struct {
	Node    string
	Service string // kubelet or containerd
	// Since is zero for all that there is. The kubelet hands the time of day to journalctl,
	// which takes it for the node's own: it must be in the node's zone.
	Since   time.Time
	Needles []string // lines have at least one of them
}

// NodeLog asks the kubelet of a node for what journald has of a service: UTC, no year. Not
// scrubbed. Whether more was to be had is cut.
//
// It goes with the caller's own rights to get nodes/proxy, which lead to much more: nothing
// of ours grants them, and this client lets nothing else through to a node.
func (c *Client) NodeLog(ctx context.Context, q NodeLogQuery) (text []byte, cut bool, err error) {
	r, err := nodeLogRequest(q)
	if err != nil {
		return nil, false, err
	}
	cfg, err := c.loader().ClientConfig()
	if err != nil {
		return nil, false, fmt.Errorf("read kubeconfig: %w", err)
	}
	hc, err := through(cfg, c.base, mayNodeLog)
	if err != nil {
		return nil, false, err
	}
	ctx, cancel := context.WithTimeout(ctx, nodeLogWithin)
	defer cancel()
	resp, err := c.send(ctx, hc, r)
	if err != nil {
		return nil, false, fmt.Errorf("ask the kubelet of %s for %s: %w", q.Node, q.Service, nodeLogError(err))
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxNodeLog+1))
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return nil, false, fmt.Errorf("ask the kubelet of %s for %s: %w", q.Node, q.Service, err)
	}
	text, cut, err = nodeLogText(resp.Header.Get("Content-Type"), body)
	if err != nil {
		return nil, false, fmt.Errorf("ask the kubelet of %s for %s: %w", q.Node, q.Service, err)
	}
	return text, cut, nil
}

var nodeLogPath = regexp.MustCompile(`^/api/v1/nodes/` + dnsName + `/proxy/logs/$`)

// mayNodeLog lets through the one path of kubelets that only reads logs.
func mayNodeLog(method, path string) bool {
	return method == http.MethodGet && nodeLogPath.MatchString(path)
}

func nodeLogRequest(q NodeLogQuery) (request, error) {
	if err := named(q.Node); err != nil {
		return request{}, err
	}
	if !strings.Contains(nodeLogService, " "+q.Service+" ") {
		return request{}, fmt.Errorf("%.40q is not asked of kubelets", q.Service)
	}
	var quoted []string
	for _, n := range q.Needles {
		if n != "" && !slices.Contains(quoted, regexp.QuoteMeta(n)) {
			quoted = append(quoted, regexp.QuoteMeta(n))
		}
	}
	pattern := strings.Join(quoted, "|")
	if pattern == "" || len(pattern) > maxPattern {
		return request{}, fmt.Errorf("%d bytes of pattern for the kubelet of %s", len(pattern), q.Node)
	}
	v := url.Values{"query": {q.Service}, "pattern": {pattern}}
	// No untilTime, for some kubelets take it for sinceTime; no tailLines, which turns the
	// order around where there is a pattern.
	if !q.Since.IsZero() {
		v.Set("sinceTime", q.Since.Format(nodeLogWindow))
	}
	return request{method: http.MethodGet, path: "/api/v1/nodes/" + q.Node + "/proxy/logs/", query: v, accept: "text/plain, */*"}, nil
}

// nodeLogError words a refusal.
func nodeLogError(err error) error {
	switch {
	case errors.Is(err, ErrForbidden):
		return fmt.Errorf("%w (it takes get on nodes/proxy, which leads to more than logs and is not Plumbline's to give)", err)
	case errors.Is(err, ErrNotFound), strings.Contains(err.Error(), "405"):
		return fmt.Errorf("%w: %s", ErrNoLogQuery, err.Error()) // not "there is no such node": an error of ours would be taken for that
	default:
		return err
	}
}

// What kubelets and journalctl write where lines should be.
var nodeLogSays = []struct {
	text string
	err  error
}{
	{"query resolved to log files for", ErrNotInJournal},
	{"log not found for ", ErrNotInJournal},
	{"-- No entries --", nil},
	{"Compiled without pattern matching support", errors.New("its journalctl cannot search for patterns")},
	{"error: journal output not available", errors.New("its journald gives nothing")},
	{"error getting log for ", ErrNotInJournal},
	{"failed to get logging cmd", errors.New("its kubelet cannot run journalctl")},
	{"No journal files were found", ErrNotInJournal},
	{"Failed to add match", errors.New("its journalctl refuses")},
}

// nodeLogText takes an answer for what it is. A kubelet without log queries shows the
// directory instead, and says so by nothing but its type.
func nodeLogText(contentType string, body []byte) (text []byte, cut bool, err error) {
	if strings.HasPrefix(contentType, "text/html") || bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) {
		return nil, false, ErrNoLogQuery
	}
	if len(body) > maxNodeLog {
		body, cut = body[:maxNodeLog], true
		body = body[:bytes.LastIndexByte(body, '\n')+1]
	}
	out := make([]byte, 0, len(body))
	lines := 0
	for line := range bytes.Lines(body) {
		says, complaint := complains(line)
		if complaint != nil && lines == 0 {
			return nil, false, complaint
		}
		cut = cut || complaint != nil
		if says || len(bytes.TrimSpace(line)) == 0 || bytes.HasPrefix(line, []byte("-- ")) { // -- Boot …, -- Logs begin …
			continue
		}
		lines++
		out = append(out, line...)
	}
	return out, cut, nil
}

// complains tells that a line is a word of the kubelet's to us. A stamp begins every other.
func complains(line []byte) (bool, error) {
	if len(line) > 15 && line[3] == ' ' && line[9] == ':' && line[12] == ':' {
		return false, nil
	}
	for _, s := range nodeLogSays {
		if bytes.Contains(line, []byte(s.text)) {
			return true, s.err
		}
	}
	return false, nil
}
