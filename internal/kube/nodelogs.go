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

// Bounds of one request to a kubelet.
const (
	maxNodeLog     = 8 << 20
	maxPattern     = 6 << 10          // it is part of the URL
	nodeLogWithin  = 30 * time.Second // as long as kubelets let journalctl run
	nodeLogWindow  = "2006-01-02T15:04:05Z07:00"
	nodeLogService = " kubelet containerd "
)

// Why a kubelet returned no lines.
var (
	// errNoLogQuery means that log queries are not enabled.
	errNoLogQuery = errors.New("the kubelet does not serve log queries: enable the feature gate NodeLogQuery, enableSystemLogHandler and enableSystemLogQuery")
	// errNotInJournal means that the service does not log to journald.
	errNotInJournal = errors.New("journald has no entries of this service")
)

// A NodeLogQuery selects lines of journald on a node.
type NodeLogQuery struct {
	Node    string
	Service string // kubelet or containerd
	// Since is zero for everything. The kubelet passes the time of day to journalctl, which
	// reads it in the node's zone: it must be in that zone.
	Since   time.Time
	Needles []string // lines contain at least one of them
}

// NodeLog asks the kubelet of a node for the journald lines of a service: in UTC, without a
// year, not scrubbed. cut says that there are more.
//
// It uses the caller's own right to get nodes/proxy, which gives access to much more:
// Plumbline grants it to nobody, and this client sends nothing else to a node.
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

var nodeLogPath = regexp.MustCompile(`^/api/v1/nodes/` + NamePattern + `/proxy/logs/$`)

// mayNodeLog admits the one path of kubelets that only reads logs.
func mayNodeLog(method, path string) bool {
	return method == http.MethodGet && nodeLogPath.MatchString(path)
}

func nodeLogRequest(q NodeLogQuery) (Request, error) {
	if err := CheckNames(q.Node); err != nil {
		return Request{}, err
	}
	if !strings.Contains(nodeLogService, " "+q.Service+" ") {
		return Request{}, fmt.Errorf("%.40q is not a service that kubelets are asked for", q.Service)
	}
	var quoted []string
	for _, n := range q.Needles {
		if n != "" && !slices.Contains(quoted, regexp.QuoteMeta(n)) {
			quoted = append(quoted, regexp.QuoteMeta(n))
		}
	}
	pattern := strings.Join(quoted, "|")
	if pattern == "" || len(pattern) > maxPattern {
		return Request{}, fmt.Errorf("the search pattern of %d bytes is too long for the kubelet of %s", len(pattern), q.Node)
	}
	v := url.Values{"query": {q.Service}, "pattern": {pattern}}
	// No untilTime, because some kubelets read it as sinceTime; no tailLines, which
	// reverses the order if there is a pattern.
	if !q.Since.IsZero() {
		v.Set("sinceTime", q.Since.Format(nodeLogWindow))
	}
	return Request{Method: http.MethodGet, Path: "/api/v1/nodes/" + q.Node + "/proxy/logs/", Query: v, Accept: "text/plain, */*"}, nil
}

// nodeLogError explains a refusal.
func nodeLogError(err error) error {
	switch {
	case errors.Is(err, ErrForbidden):
		return fmt.Errorf("%w (this needs get on nodes/proxy, which gives access to more than logs; Plumbline does not grant it)", err)
	case errors.Is(err, errNotFound), strings.Contains(err.Error(), "405"):
		return fmt.Errorf("%w: %s", errNoLogQuery, err.Error()) // not wrapped: callers would take errNotFound for a missing node
	default:
		return err
	}
}

// Texts that kubelets and journalctl write instead of lines.
var nodeLogSays = []struct {
	text string
	err  error
}{
	{"query resolved to log files for", errNotInJournal},
	{"log not found for ", errNotInJournal},
	{"-- No entries --", nil},
	{"Compiled without pattern matching support", errors.New("the node's journalctl cannot search for patterns")},
	{"error: journal output not available", errors.New("the node's journald returns nothing")},
	{"error getting log for ", errNotInJournal},
	{"failed to get logging cmd", errors.New("the kubelet cannot run journalctl")},
	{"No journal files were found", errNotInJournal},
	{"Failed to add match", errors.New("the node's journalctl refuses the query")},
}

// nodeLogText classifies an answer. A kubelet without log queries returns a directory
// listing instead, which only its content type shows.
func nodeLogText(contentType string, body []byte) (text []byte, cut bool, err error) {
	if strings.HasPrefix(contentType, "text/html") || bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) {
		return nil, false, errNoLogQuery
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

// complains reports whether a line is a message of the kubelet itself. Every other line
// begins with a time stamp.
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
