package web

import (
	"net/netip"
	"net/url"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// mostHits bounds what a search shows.
const mostHits = 100

// A hit is something that was searched for.
type hit struct{ Kind, Name, Link, Says string }

// find goes to what was named exactly, and lists what has the text in its name else.
func (l *look) find() (string, any, error) {
	text := strings.TrimSpace(l.q.Get("q"))
	if page, name, value := l.exactly(text); page != nil {
		l.q = url.Values{name: {value}}
		return page(l)
	}
	var hits []hit
	more := 0
	add := func(h hit) {
		if len(hits) == mostHits {
			more++
			return
		}
		hits = append(hits, h)
	}
	low := strings.ToLower(text)
	s := l.View.Snapshot()
	for i := range s.Nodes {
		if strings.Contains(s.Nodes[i].Name, low) {
			add(hit{"node", s.Nodes[i].Name, "node?" + query("name", s.Nodes[i].Name), ""})
		}
	}
	for i := range s.Pods {
		p := &s.Pods[i]
		if name := p.Namespace + "/" + p.Name; strings.Contains(name, low) && l.may(p.Namespace) {
			add(hit{"pod", name, "pod?" + query("name", name), string(p.Phase) + " on " + p.Node})
		}
	}
	found, _ := l.seen(func(f *finding.Finding) bool { return has(f, strings.Fields(low)) })
	for _, f := range found {
		add(hit{"finding", f.Key(), "finding?" + query("name", f.Key()), f.Summary})
	}
	return "find", map[string]any{"Hits": hits, "More": more, "Text": text}, nil
}

// exactly is the page of what has this name, and what it is asked for by; nil if there is none.
func (l *look) exactly(text string) (page func(*look) (string, any, error), name, value string) {
	if ip, err := netip.ParseAddr(text); err == nil {
		return (*look).address, "ip", ip.String()
	}
	if p, err := netip.ParsePrefix(text); err == nil {
		return (*look).ipam, "block", p.String()
	}
	if _, ok := finding.ParseCode(text); ok {
		return (*look).code, "name", text
	}
	if l.named(text) != nil {
		return (*look).finding, "name", text
	}
	if l.View.NodeByName(text) != nil {
		return (*look).node, "name", text
	}
	if ns, pod, ok := strings.Cut(text, "/"); ok && l.View.PodByName(ns, pod) != nil && l.may(ns) {
		return (*look).pod, "name", text
	}
	only, n := (*model.Pod)(nil), 0
	for i := range l.View.Snapshot().Pods {
		if p := &l.View.Snapshot().Pods[i]; p.Name == text && l.may(p.Namespace) {
			only = p
			n++
		}
	}
	if n == 1 {
		return (*look).pod, "name", only.Namespace + "/" + only.Name
	}
	return nil, "", ""
}
