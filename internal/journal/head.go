package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"plumbline.dev/plumbline/internal/repair"
)

const (
	format  = 1
	maxPlan = 256 << 20
)

// A head is the first record of a log. It binds the log to its plan by size and checksum: a
// damaged or edited plan is not continued.
type head struct {
	Journal int    `json:"journal"` // version of the format
	Cluster string `json:"cluster"`
	Plan    string `json:"plan"`
	Size    int64  `json:"size"`
	SHA256  string `json:"sha256"`
}

// encodePlan gives the bytes of the plan and their head. It decodes them again as a check: a
// plan that cannot be read could not be undone.
func encodePlan(p *repair.Plan) ([]byte, head, error) {
	raw, err := json.Marshal(p)
	if err != nil {
		return nil, head{}, fmt.Errorf("write plan %s: %w", p.ID, err)
	}
	raw = append(raw, '\n')
	if len(raw) > maxPlan {
		return nil, head{}, fmt.Errorf("plan %s has %d bytes, the limit is %d", p.ID, len(raw), maxPlan)
	}
	sum := sha256.Sum256(raw)
	h := head{Journal: format, Cluster: p.Cluster, Plan: p.ID, Size: int64(len(raw)), SHA256: hex.EncodeToString(sum[:])}
	_, err = h.decode(raw)
	return raw, h, err
}

// decode parses the plan that the head describes.
func (h *head) decode(raw []byte) (*repair.Plan, error) {
	sum := sha256.Sum256(raw)
	if hex.EncodeToString(sum[:]) != h.SHA256 {
		return nil, fmt.Errorf("%w: plan %s has another checksum than the log expects", errDamaged, h.Plan)
	}
	// The schema first: a plan of another one has other fields, which strictly refuses.
	var of struct {
		Schema int `json:"schema"`
	}
	if err := json.Unmarshal(raw, &of); err != nil {
		return nil, fmt.Errorf("read plan %s: %w", h.Plan, err)
	}
	if of.Schema != repair.Schema {
		return nil, fmt.Errorf("read plan %s: it has schema %d, this version reads %d: continue or undo it with the version that made it", h.Plan, of.Schema, repair.Schema)
	}
	p := new(repair.Plan)
	if err := strictly(raw, p); err != nil {
		return nil, fmt.Errorf("read plan %s: %w", h.Plan, err)
	}
	if p.ID != h.Plan || p.Cluster != h.Cluster {
		return nil, fmt.Errorf("%w: its plan is %q of cluster %q", errDamaged, p.ID, p.Cluster)
	}
	return p, nil
}

// head reads the first record of a log.
func (r *reader) head() (head, error) {
	var h head
	text, err := r.next()
	if errors.Is(err, errTorn) || errors.Is(err, io.EOF) { // the head is written before the journal gets its name
		err = fmt.Errorf("%w: the log has no head", errDamaged)
	}
	if err == nil {
		err = ofFormat(text)
	}
	if err == nil {
		err = strictly(text, &h)
	}
	switch {
	case err != nil:
		return h, fmt.Errorf("read head: %w", err)
	case h.Size < 0 || h.Size > maxPlan:
		return h, fmt.Errorf("read head: plan has %d bytes, the limit is %d", h.Size, maxPlan)
	}
	return h, nil
}

// ofFormat checks the version of a head before its other fields, which may be others.
func ofFormat(text []byte) error {
	var of struct {
		Journal int `json:"journal"`
	}
	if err := json.Unmarshal(text, &of); err != nil {
		return err
	}
	if of.Journal != format {
		return fmt.Errorf("the journal has format %d, this version reads %d: use the version that wrote it", of.Journal, format)
	}
	return nil
}

// entries reads all following records. Those before an error are valid.
func (r *reader) entries() ([]repair.Entry, error) {
	var out []repair.Entry
	for {
		text, err := r.next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		var e repair.Entry
		if err := strictly(bytes.Clone(text), &e); err != nil {
			return out, fmt.Errorf("read record %d: %w", r.seq-1, err)
		}
		out = append(out, e)
	}
}
