package detect

import (
	"fmt"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL5001 finds what failed nodes have in common: a volume or an image that landed on each of
// them shortly before. Every failed node reports it; the reports are merged into one finding.
var PL5001 = &Detector{
	Code: finding.PL5001, Title: "nodes fail in the order in which a workload lands on them", Severity: finding.Error, Class: finding.Now,
	Each:  []model.Table{model.Nodes},
	Needs: []model.Table{model.Nodes, model.Pods, model.PodNode, model.PodStatus},
	Uses:  []model.Table{model.Runtimes, model.Mounts},
	Since: "0.2", Run: poison,
}

func poison(p *Pass, _ model.Table, row int32) {
	n := p.Node(row)
	own, failed := fallOf(p, n)
	if !failed {
		return
	}
	var volumes, images []string
	for pod := range p.PodsOn(n.Name) {
		if own.after(pod) {
			volumes, images = append(volumes, hanging(pod.Volumes)...), append(images, pod.Images...)
		}
	}
	if len(volumes) == 0 && len(images) == 0 {
		return
	}
	o, ok := outageOf(p)
	if !ok {
		return
	}
	for _, what := range distinct(volumes) {
		if s := o.weigh(p, what); s.guilty(o) {
			accuse(p, o, s, model.KindVolume, "volume/"+sourceOf(what))
		}
	}
	for _, what := range distinct(images) {
		if s := o.weigh(p, what); s.guilty(o) && !explained(p, o, s) {
			accuse(p, o, s, model.KindImage, "image/"+what)
		}
	}
}

// hanging are the volumes that can hang: the node's own directories cannot.
func hanging(volumes []string) []string {
	return slices.DeleteFunc(slices.Clone(volumes), func(v string) bool { return strings.HasPrefix(v, model.RuntimeDir) })
}

// explained reports whether a better candidate explains the image: a volume of the same
// pods, or another image of them that sorts before it.
func explained(p *Pass, o outage, s candidate) bool {
	var better []string
	for _, l := range s.fallen {
		better = append(better, hanging(l.pod.Volumes)...)
		for _, image := range l.pod.Images {
			if image < s.what {
				better = append(better, image)
			}
		}
	}
	return slices.ContainsFunc(distinct(better), func(what string) bool {
		other := o.weigh(p, what)
		return other.guilty(o)
	})
}

func accuse(p *Pass, o outage, s candidate, kind model.Kind, name string) {
	const few = 16
	f := finding.Finding{Subject: model.Ref{Kind: kind, Name: plain(name, 2*maxName)}}
	var nodes, owners []string
	for i, l := range s.fallen {
		fall := o.falls[l.node]
		if !fall.byAPI {
			f.Class = finding.Transient
		}
		nodes = append(nodes, l.node)
		owners = append(owners, fmt.Sprintf("%s of %s", orDash(l.pod.Owner), l.pod.Namespace))
		if i < few {
			f.Evidence = append(f.Evidence, finding.Evidence{
				Ref:  model.Ref{Kind: model.KindNode, Name: l.node},
				Says: fmt.Sprintf("%s/%s landed at %s; %s since %s", l.pod.Namespace, l.pod.Name, l.at, fall.how, fall.at), Since: fall.at,
			})
			f.About = append(f.About, l.pod.Ref(), model.Ref{Kind: model.KindNode, Name: l.node})
		}
	}
	owners = distinct(owners)
	last := o.falls[nodes[len(nodes)-1]].at
	f.Evidence = append(f.Evidence, finding.Evidence{Ref: f.Subject, Says: "used by " + some(owners), Since: last})
	f.Summary = fmt.Sprintf("%d nodes failed in the order in which it landed on them: %s", len(nodes), some(nodes))
	if len(s.healthy) > 0 {
		var next []string
		for _, l := range s.healthy {
			next = append(next, l.node)
		}
		slices.Sort(next)
		f.Evidence = append(f.Evidence, finding.Evidence{Ref: f.Subject, Says: "also on " + strings.Join(next[:min(few, len(next))], ", "), Since: last})
		f.Summary += "; may fail next: " + some(next)
	}
	p.Report(f)
}

// sourceOf is the source of a volume, without its kind.
func sourceOf(volume string) string {
	if _, source, ok := strings.Cut(volume, ":"); ok && source != "" {
		return source
	}
	return volume
}

func distinct(names []string) []string {
	names = slices.Clone(names)
	slices.Sort(names)
	return slices.Compact(names)
}
