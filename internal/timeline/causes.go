package timeline

import (
	"fmt"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// brings lists the findings that a cause can lead to.
var brings = map[Cause][]finding.Code{
	LateDel:          {finding.PL1002, finding.PL1003, finding.PL2001, finding.PL2003, finding.PL2010, finding.PL3003, finding.PL3004, finding.PL3005},
	RetriedDel:       {finding.PL4001, finding.PL4003, finding.PL4006},
	AddressMoved:     {finding.PL1002, finding.PL2001, finding.PL2003, finding.PL2004, finding.PL2010, finding.PL3003},
	AddWithoutDel:    {finding.PL1001, finding.PL2002, finding.PL3001},
	DelNeverCame:     {finding.PL1001, finding.PL2002, finding.PL3001},
	TeardownBlocked:  {finding.PL4001, finding.PL4002, finding.PL4003, finding.PL4004, finding.PL4005, finding.PL4006},
	ReleasedInUse:    {finding.PL1002, finding.PL2001, finding.PL2010},
	DuplicateAddress: {finding.PL2010},
	NoGateway:        {finding.PL3005},
	StaleNodename:    {finding.PL1003, finding.PL2001, finding.PL2002, finding.PL5003},
}

// SetCauses gives each finding of the lists the verdicts that explain it.
func SetCauses(verdicts []Verdict, files []File, lists ...[]finding.Finding) {
	for _, fs := range lists {
		for i := range fs {
			fs[i].Causes = causesOf(&fs[i], verdicts, files)
		}
	}
}

// causesOf gives the verdicts that explain a finding: they are about the same pod, address,
// sandbox or node, and their cause can lead to a finding of that code.
func causesOf(f *finding.Finding, verdicts []Verdict, files []File) []finding.Cause {
	var out []finding.Cause
	for i := range verdicts {
		v := &verdicts[i]
		if !slices.Contains(brings[v.Cause], f.Code) || !v.about(f) {
			continue
		}
		c := finding.Cause{Says: string(v.Cause) + ": " + v.Says, Certainty: string(v.Certainty), At: model.At(v.At), NotShown: v.NotShown}
		for _, p := range v.Lines {
			if int(p.File) < len(files) {
				c.Lines = append(c.Lines, files[p.File].At(p.Line))
			}
		}
		out = append(out, c)
	}
	return out
}

// Secrets gives a finding for every file in which verdicts found a credential.
func Secrets(verdicts []Verdict, files []File) []finding.Finding {
	lines := map[uint16][]uint32{}
	said := map[uint16]string{}
	for i := range verdicts {
		if v := &verdicts[i]; v.Cause == Credential {
			for _, p := range v.Lines {
				if int(p.File) < len(files) && !slices.Contains(lines[p.File], files[p.File].Number(p.Line)) {
					lines[p.File] = append(lines[p.File], files[p.File].Number(p.Line))
					said[p.File] = v.Says
				}
			}
		}
	}
	var out []finding.Finding
	for n := range files {
		at := lines[uint16(n)]
		if len(at) == 0 {
			continue
		}
		slices.Sort(at)
		f := &files[n]
		ref := model.Ref{Kind: model.KindLog, Name: f.Name}
		out = append(out, finding.Finding{
			Code: finding.PL9002, Severity: finding.Warning, Subject: ref, Class: finding.Now, State: finding.Confirmed, Node: f.Node,
			Summary:  fmt.Sprintf("%d of its lines contain a credential", len(at)),
			Evidence: []finding.Evidence{{Ref: ref, Says: fmt.Sprintf("line %d: %s", at[0], said[uint16(n)])}},
		})
	}
	return out
}

// about reports whether a verdict and a finding are about the same object.
func (v *Verdict) about(f *finding.Finding) bool {
	refs := slices.Concat([]model.Ref{f.Subject}, f.About)
	for _, e := range f.Evidence {
		refs = append(refs, e.Ref)
	}
	return slices.ContainsFunc(refs, v.concerns)
}

// concerns reports whether the verdict names the object: as its pod, one of its addresses, its
// sandboxes or their handles; its node only if the node's name is the cause.
func (v *Verdict) concerns(r model.Ref) bool {
	switch r.Kind {
	case model.KindPod:
		return v.Pod != "" && r.Name == v.Pod || slices.Contains(v.Pods, r.Name)
	case model.KindAddress:
		return v.Was.IsValid() && r.Name == v.Was.String() || v.Is.IsValid() && r.Name == v.Is.String()
	case model.KindHandle, model.KindSandbox:
		return slices.ContainsFunc([]string{v.Culprit, v.Victim}, func(id string) bool { return len(id) >= minID && strings.Contains(r.Name, id) })
	case model.KindNode, model.KindMachine:
		return v.Cause == StaleNodename && v.Node != "" && r.Name == v.Node
	default:
		return false
	}
}
