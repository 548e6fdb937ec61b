package cluster

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/capacity"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// Rows are a judgement as lines of JSON: a head with how many rows follow, then one line for each finding. What is
// incomplete is not a judgement: a line that is missing must not look like a finding that is gone.
type Rows struct {
	head rowsHead
	of   [4][]finding.Finding // confirmed, unconfirmed, suppressed, folded
}

// rowsKind distinguishes them from the document of a check, which has its findings inside.
const rowsKind = "CheckRows"

// A rowsHead is the first line. What is absent is not zero.
type rowsHead struct {
	CheckReport                     // without findings
	Counts      *[4]int             `json:"counts"` // of findings: confirmed, unconfirmed, suppressed, folded
	Checked     *Checked            `json:"checked"`
	Codes       []string            `json:"codes"` // that were judged, or are listed as not judged
	Read        []model.Table       `json:"read"`  // tables of Kubernetes and Calico
	Agents      bool                `json:"agents"`
	Calico      detect.Calico       `json:"calico"`
	Names       Names               `json:"names"`
	Pools       []capacity.Forecast `json:"pools,omitempty"` // that grow, as far as is known
	AgeSeconds  *float64            `json:"ageSeconds"`      // of the judgement, when it was sent
}

// Names of what a cluster has: a typo must not look healthy.
type Names struct {
	Namespaces []string `json:"namespaces"` // with pods
	Nodes      []string `json:"nodes"`
}

// Checked is how much was judged.
type Checked struct {
	Pods   int `json:"pods"`
	Nodes  int `json:"nodes"`
	Seen   int `json:"seenNodes"` // with node state
	Blocks int `json:"blocks"`
}

// Told is what a controller said of its last judgement.
type Told struct {
	*audit.Report // without rows of the cluster
	Checked       Checked
	Names         Names
	Pools         []capacity.Forecast
	Age           time.Duration
	By            string // its pod
	Pattern       *audit.Pattern
	Predating     *audit.Predating
}

// CheckedOf counts what a report is about; of one namespace or node, if they are named.
func CheckedOf(r *audit.Report, namespace, node string) (c Checked) {
	s := r.View.Snapshot()
	for i := range s.Pods {
		p := &s.Pods[i]
		if (namespace == "" || p.Namespace == namespace) && (node == "" || p.Node == node) {
			c.Pods++
		}
	}
	for i := range s.Nodes {
		if node != "" && s.Nodes[i].Name != node {
			continue
		}
		c.Nodes++
		if r.View.Sees(s.Nodes[i].Name, model.Links, model.Paths, model.Sandboxes) {
			c.Seen++
		}
	}
	c.Blocks = len(s.Blocks)
	return c
}

// RowsOf keeps of a report what its rows need, and not the cluster.
func RowsOf(r *audit.Report, pools []capacity.Forecast) *Rows {
	head := *r
	head.Findings, head.Unconfirmed, head.Suppressed = nil, nil, nil
	rows := &Rows{of: [4][]finding.Finding{r.Findings, r.Unconfirmed, r.Suppressed, r.Folded}}
	checked := CheckedOf(r, "", "")
	rows.head = rowsHead{CheckReport: ReportOf(&head), Checked: &checked, Agents: r.View.Agents(), Calico: r.Calico, Names: namesOf(r.View.Snapshot()), Pools: pools, Counts: new([4]int)}
	rows.head.Kind, rows.head.Pattern, rows.head.Predating = rowsKind, r.Pattern(), r.Predating()
	for i, fs := range rows.of {
		rows.head.Counts[i] = len(fs)
	}
	for _, d := range detect.All {
		rows.head.Codes = append(rows.head.Codes, string(d.Code))
	}
	for _, t := range audit.Sources {
		if r.View.State(t, "").Seen() {
			rows.head.Read = append(rows.head.Read, t)
		}
	}
	return rows
}

func namesOf(s *model.Snapshot) (n Names) {
	for i := range s.Pods { // sorted by namespace
		if i == 0 || s.Pods[i].Namespace != s.Pods[i-1].Namespace {
			n.Namespaces = append(n.Namespaces, s.Pods[i].Namespace)
		}
	}
	for i := range s.Nodes {
		n.Nodes = append(n.Nodes, s.Nodes[i].Name)
	}
	return n
}

// WriteHead writes the first line, with the age of the evaluation.
func (rows *Rows) WriteHead(w io.Writer, age time.Duration) error {
	head := rows.head
	seconds := age.Seconds()
	head.AgeSeconds = &seconds
	return json.NewEncoder(w).Encode(&head)
}

// Write writes them, with the age of the judgement.
func (rows *Rows) Write(w io.Writer, age time.Duration) error {
	b := bufio.NewWriterSize(w, 64<<10)
	e := json.NewEncoder(b)
	if err := rows.WriteHead(b, age); err != nil {
		return err
	}
	for _, fs := range rows.of {
		for i := range fs {
			if err := e.Encode(NamedFinding{fs[i].Key(), fs[i]}); err != nil {
				return err
			}
		}
	}
	return b.Flush()
}

// maxRows bounds the findings of an answer.
const maxRows = 5_000_000

var errCut = errors.New("the answer is incomplete")

// ReadRows reads a judgement that Write wrote, which may come from a stranger. The report has no rows of the cluster.
func ReadRows(from io.Reader) (*Told, error) {
	d := json.NewDecoder(from)
	t, head, err := readHead(d)
	if err != nil {
		return nil, err
	}
	for i, into := range []*[]finding.Finding{&t.Findings, &t.Unconfirmed, &t.Suppressed, &t.Folded} {
		if n := head.Counts[i]; n < 0 || n > maxRows {
			return nil, fmt.Errorf("the answer has %d findings", n)
		}
		for range head.Counts[i] {
			var f NamedFinding
			if err := d.Decode(&f); err != nil {
				return nil, fmt.Errorf("%w: %w", errCut, err)
			}
			*into = append(*into, f.Finding)
		}
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the answer has more lines than it says")
	}
	return t, nil
}

// readHead reads the first line: all but the findings.
func readHead(d *json.Decoder) (*Told, *rowsHead, error) {
	var head rowsHead
	if err := d.Decode(&head); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errCut, err)
	}
	if head.Kind != rowsKind || head.APIVersion != APIVersion || head.Counts == nil || head.Checked == nil || head.AgeSeconds == nil ||
		len(head.Findings)+len(head.Unconfirmed)+len(head.Suppressed) > 0 {
		return nil, nil, fmt.Errorf("the answer is %.40q of %.40q: another version of Plumbline", head.Kind, head.APIVersion)
	}
	t := &Told{
		Checked: *head.Checked, Names: head.Names, Pools: head.Pools, Age: time.Duration(min(max(0, *head.AgeSeconds), 1e9) * float64(time.Second)),
		Pattern: head.Pattern, Predating: head.Predating,
	}
	t.Report = &audit.Report{View: head.view(), Taken: head.Taken, Calico: head.Calico, Skipped: head.NotJudged, Gaps: head.NotChecked, MassChanges: head.Headlines}
	for _, one := range detect.All {
		if !slices.Contains(head.Codes, string(one.Code)) {
			t.Skipped = append(t.Skipped, detect.Skip{Code: one.Code, Why: "the controller is older than this program, and does not know it"})
		}
	}
	return t, &head, nil
}

// view is that of a cluster without rows, of which is known what was read.
func (h *rowsHead) view() *model.View {
	s := &model.Snapshot{Meta: model.Meta{Schema: model.Schema, GUID: h.Cluster.GUID, Taken: h.Taken}}
	s.Info = []model.Info{{Kubernetes: h.Cluster.Kubernetes, Calico: h.Cluster.Calico, Datastore: h.Cluster.Datastore, Ready: true}}
	for _, t := range h.Read {
		s.Coverage = append(s.Coverage, model.Coverage{Table: t, State: model.Complete})
	}
	if h.Agents {
		s.Coverage = append(s.Coverage, model.Coverage{Table: model.Links, Node: "unknown", State: model.Complete})
	}
	return model.Seal(s)
}
