package timeline

import (
	"fmt"

	"plumbline.dev/plumbline/internal/finding"
)

// credentials reports that lines of the story contain credentials (PL9002).
func credentials(s *Story, _ []*instance) []Verdict {
	v := Verdict{Cause: Credential, Certainty: Proven}
	for i := range s.Events {
		e := &s.Events[i]
		if e.Kind != CredentialSeen {
			continue
		}
		if v.Lines == nil {
			v.Node, v.At, v.Error = e.Node, e.At, ""
			v.Says = orSecret(e.Note)
		}
		v.Lines = append(v.Lines, s.lines(i)...)
	}
	if v.Lines == nil {
		return nil
	}
	v.Lines = tidy(v.Lines)
	v.Count = len(v.Lines)
	v.Says = fmt.Sprintf("%s: %d of these lines contain %s; it is not shown", finding.PL9002, v.Count, v.Says)
	return []Verdict{v}
}

func orSecret(note string) string {
	if note == "" {
		return "a credential"
	}
	return "a credential (" + note + ")"
}
