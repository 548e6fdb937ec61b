package web

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// A look is one request for a page: the judgement that it shows, and who asks.
type look struct {
	*audit.Report
	*judgement
	site   *Site
	r      *http.Request
	q      url.Values
	flags  string // of commands
	serial uint64
	may    func(namespace string) bool // list pods there

	unlimited    bool            // in all namespaces
	hides, shows map[string]bool // namespaces, once they were asked for
}

// A missing thing is answered with status 404.
type missing string

func (m missing) Error() string { return string(m) }

// look is a look of who asks at a judgement, which is nil before the first.
func (s *Site) look(r *http.Request, j *judgement, serial uint64) *look {
	may, limited := mayList(r)
	l := &look{judgement: j, site: s, r: r, q: r.URL.Query(), flags: s.Flags, serial: serial, may: may, unlimited: !limited}
	if told := l.q.Get(flagsParam); s.Told && len(told) <= mostFlags {
		l.flags = told
	}
	l.q.Del(flagsParam) // it is not of the page
	if j != nil {
		l.Report = j.look()
	}
	return l
}

// serve answers with a page, whole or not at all.
func (s *Site) serve(w http.ResponseWriter, r *http.Request, page func(*look) (string, any, error)) {
	j, serial, _ := s.State.current()
	l := s.look(r, j, serial)
	name, data, err := "reading", any(nil), error(nil)
	if j != nil {
		name, data, err = page(l)
	}
	var none missing
	status := http.StatusOK
	switch {
	case errors.As(err, &none):
		name, data, status = "missing", string(none), http.StatusNotFound
	case err != nil:
		name, data, status = "missing", err.Error(), http.StatusInternalServerError
	}
	var b bytes.Buffer
	if err := l.render(&b, name, data); err != nil {
		http.Error(w, fmt.Sprintf("this page cannot be shown: %v", err), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // who asked may be gone
}

// sees tells that who asks may list the pods that a finding names, in its objects or in its words.
func (l *look) sees(f *finding.Finding) bool {
	if l.unlimited {
		return true
	}
	if f.Namespace == "" && f.Subject.Kind == model.KindSandbox { // of a pod that is not known: only its DEL is
		return false
	}
	if f.Namespace != "" && !l.may(f.Namespace) || !l.seesRef(f.Subject) || slices.ContainsFunc(f.About, func(r model.Ref) bool { return !l.seesRef(r) }) {
		return false
	}
	if !l.seesText(f.Subject.Name) || !l.seesText(f.Summary) || !l.seesText(f.Why) || slices.ContainsFunc(f.Explains, func(k string) bool { return !l.seesText(k) }) {
		return false
	}
	return !slices.ContainsFunc(f.Evidence, func(e finding.Evidence) bool {
		return !l.seesRef(e.Ref) || !l.seesText(e.Ref.Name) || !l.seesText(e.Says)
	}) &&
		!slices.ContainsFunc(f.Causes, func(c finding.Cause) bool {
			return slices.ContainsFunc(slices.Concat([]string{c.Says}, c.Lines, c.NotShown), func(s string) bool { return !l.seesText(s) })
		})
}

// seesText tells that a text names no namespace whose pods who asks may not list.
func (l *look) seesText(text string) bool {
	l.sort()
	return !names(text, l.hides, l.shows)
}

// Told is an error or a reason, which may name anything, if who asks may see what it names.
func (l *look) Told(text string) string {
	if l.unlimited || l.seesText(text) {
		return text
	}
	return "not shown: it names a namespace whose pods you may not list"
}

// sort tells the namespaces whose pods who asks may not list from the others.
func (l *look) sort() {
	if l.hides != nil {
		return
	}
	l.hides, l.shows = map[string]bool{}, map[string]bool{}
	for _, ns := range l.namespaces() {
		if l.may(ns) {
			l.shows[ns] = true
		} else {
			l.hides[ns] = true
		}
	}
}

// seesRef tells that who asks may list the pods of the namespace that an object is in, or is named after.
func (l *look) seesRef(r model.Ref) bool {
	switch r.Kind {
	case model.KindPod, model.KindEndpoint, model.KindService, model.KindVM:
		return l.may(namespaceOf(r.Name))
	case model.KindHandle:
		ns := handleNamespace(r.Name)
		return ns == "" || l.may(ns)
	default:
		return true
	}
}

// named gives the finding of that name that who asks may see.
func (l *look) named(key string) *finding.Finding {
	if f := l.byKey()[key]; f != nil && l.sees(f) {
		return f
	}
	return nil
}
