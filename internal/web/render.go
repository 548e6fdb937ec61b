package web

import (
	"html/template"
	"io"
	"net/http"
	"strings"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/ladder"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/page"
	"plumbline.dev/plumbline/internal/plain"
)

var templates = parse()

// parse reads a template for each page, each within the frame.
func parse() map[string]*template.Template {
	funcs := template.FuncMap{
		"clean": plain.Line, "short": func(s string) string { return plain.ShortIDs(plain.Line(s)) },
		"count": plain.Count, "thousands": plain.Thousands,
		"time":  func(t model.Time) string { return t.String() },
		"age":   ageOf,
		"title": titleOf,
		"pod":   func(r model.Ref) bool { return r.Kind == model.KindPod },
		"kind":  func(r model.Ref) string { return string(r.Kind) },
		"dict":  dict,
		"stamp": plain.Stamp,
	}
	frame := template.Must(template.New("frame").Funcs(funcs).ParseFS(files, "templates/frame.html", "templates/parts.html"))
	out := map[string]*template.Template{}
	entries, err := files.ReadDir("templates")
	if err != nil {
		panic(err) // it is embedded
	}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".html")
		if name != "frame" && name != "parts" {
			out[name] = template.Must(template.Must(frame.Clone()).ParseFS(files, "templates/"+e.Name()))
		}
	}
	return out
}

// dict gives a template several values.
func dict(pairs ...any) map[string]any {
	out := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		out[pairs[i].(string)] = pairs[i+1] //nolint:forcetypeassert // our own templates; each is executed by a test
	}
	return out
}

func ageOf(now, since model.Time) string {
	if since.IsZero() {
		return "-"
	}
	return plain.Age(now.Sub(since))
}

func titleOf(c finding.Code) string {
	if d := detect.ByCode(c); d != nil {
		return d.Title
	}
	return ""
}

// A framed page is what the frame shows around it.
type framed struct {
	*look
	Page   string
	Data   any
	Where  string
	Live   bool
	Serial uint64
	Totals string
	GUID   string
	Notice string
	Doing  string // before the first judgement

	Repaired bool // there is a page of repairs
}

func (l *look) render(w io.Writer, name string, data any) error {
	f := framed{look: l, Page: name, Data: data, Where: l.site.Where, Live: l.site.Live, Serial: l.serial, Repaired: l.site.Repairs != nil}
	l.site.State.mu.Lock()
	f.Notice, f.Doing = l.site.State.notice, l.site.State.reading
	l.site.State.mu.Unlock()
	if f.Notice != "" && !l.unlimited { // errors may name anything
		f.Notice = "following was interrupted"
	}
	if l.Report != nil {
		f.Totals, f.GUID = l.Totals("finding"), l.View.Snapshot().Meta.GUID
	}
	return templates[name].ExecuteTemplate(w, "frame.html", &f)
}

// Headline is how many findings there are; that there are none is said only of what was checked.
func (f *framed) Headline() string {
	if len(audit.NotJudged(f.Skipped)) > 0 || f.Unread([]string{"kubernetes", "calico"}) {
		return strings.Replace(f.Totals, "No findings", "No findings in what was checked", 1)
	}
	return f.Totals
}

// Unlimited tells that who asks may see everything.
func (l *look) Unlimited() bool { return l.unlimited }

// Command is a command line that does what a page is about.
func (l *look) Command(verb string, args ...string) string {
	out := l.site.Program + " " + verb
	for _, a := range args {
		out += " " + plain.Quoted(a)
	}
	return strings.TrimSpace(out + " " + l.flags)
}

// static serves the embedded files. The stylesheet is the one of all pages, with that of the ladder and the UI's own.
func static() http.Handler {
	own, err := files.ReadFile("static/ui.css")
	if err != nil {
		panic(err) // it is embedded
	}
	css := page.Style + ladder.Style() + string(own)
	serve := http.FileServerFS(files)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/static/style.css" {
			w.Header().Set("Content-Type", "text/css; charset=utf-8")
			_, _ = io.WriteString(w, css) // who asked may be gone
			return
		}
		if strings.HasSuffix(r.URL.Path, "/") {
			http.NotFound(w, r)
			return
		}
		serve.ServeHTTP(w, r)
	})
}
