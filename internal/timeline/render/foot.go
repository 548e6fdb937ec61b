package render

import (
	"fmt"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/timeline"
)

const footIndent = 10

// verdicts writes the verdicts, the notices and what the lines do not show.
func (p *printer) verdicts() {
	for i := range p.story.Verdicts {
		v := &p.story.Verdicts[i]
		if v.Cause != timeline.Credential {
			p.foot(p.red("VERDICT")+"   ", verdictSays(v)+"  ["+clean(string(v.Certainty))+"]")
			if len(v.Lines) > 0 {
				p.foot("", "lines "+p.o.source(v.Lines, p.o.width()-footIndent-len("lines ")))
			}
		}
	}
	for _, n := range notices(p.story) {
		p.foot(p.yellow("NOTICE")+"    ", n)
	}
	for _, n := range unknowns(p.story) {
		p.foot(p.bold("UNKNOWN")+"   ", n)
	}
}

func (p *printer) foot(word, text string) {
	indent := strings.Repeat(" ", footIndent)
	for i, l := range wrap(text, p.o.width()-footIndent) {
		if i > 0 || word == "" {
			word = indent
		}
		p.line(word + l)
	}
}

// verdictSays gives the cause, the text of the verdict and the error.
func verdictSays(v *timeline.Verdict) string {
	says, cause := clean(v.Says), clean(string(v.Cause))
	if says == "" {
		return cause
	}
	if !strings.HasPrefix(says, cause) {
		says = cause + ": " + says
	}
	if v.Error != "" && !strings.Contains(v.Says, v.Error) {
		says += fmt.Sprintf(", %q", cutRight(clean(v.Error), maxSaid))
	}
	return says
}

// notices reports credentials in the lines.
func notices(s *timeline.Story) []string {
	var out []string
	for i := range s.Verdicts {
		if v := &s.Verdicts[i]; v.Cause == timeline.Credential {
			out = append(out, credentialCode+strings.TrimPrefix(clean(v.Says), credentialCode))
		}
	}
	if len(out) > 0 {
		return out
	}
	lines := map[timeline.Place]bool{}
	for i := range s.Events {
		if s.Events[i].Kind == timeline.CredentialSeen {
			lines[s.Events[i].Place] = true
		}
	}
	switch len(lines) {
	case 0:
		return nil
	case 1:
		return []string{credentialCode + "1 of these lines contains a credential; it is not shown"}
	}
	return []string{fmt.Sprintf("%s%d of these lines contain a credential; it is not shown", credentialCode, len(lines))}
}

// unknowns gives what the lines do not show, of the verdicts and the story, each once.
func unknowns(s *timeline.Story) []string {
	var out []string
	add := func(all []string) {
		for _, n := range all {
			if n = clean(n); n != "" && !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	for i := range s.Verdicts {
		add(s.Verdicts[i].NotShown)
	}
	add(s.NotShown)
	return out
}

// credentialCode begins the lines about credentials.
const credentialCode = string(finding.PL9002) + ": "
