package repair

import (
	"bytes"
	"encoding/json"
	"fmt"

	"plumbline.dev/plumbline/internal/repair/change"
)

// stepFields are the fields of a step without its change.
type stepFields Step

// MarshalJSON writes the change as one more field of the step, named by its Key.
func (s Step) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // the outer encoder decides
	if err := enc.Encode(stepFields(s)); err != nil || s.Change == nil {
		return b.Bytes(), err
	}
	b.Truncate(bytes.LastIndexByte(b.Bytes(), '}'))
	fmt.Fprintf(&b, ",%q:", s.Change.Key())
	if err := enc.Encode(s.Change); err != nil {
		return nil, err
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON rejects unknown fields and changes: a step that is not understood is not done.
func (s *Step) UnmarshalJSON(raw []byte) error {
	var fields map[string]json.RawMessage
	err := json.Unmarshal(raw, &fields)
	if err != nil {
		return err
	}
	var out stepFields
	if out.Change, err = change.Take(fields); err != nil {
		return fmt.Errorf("step %s: %w", fields["id"], err)
	}
	rest, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(rest))
	d.DisallowUnknownFields()
	if err := d.Decode(&out); err != nil {
		return fmt.Errorf("step %s: %w", fields["id"], err)
	}
	*s = Step(out)
	return nil
}
