package render

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	look "plumbline.dev/plumbline/internal/page"
	"plumbline.dev/plumbline/internal/timeline"
)

func html(t *testing.T, s *timeline.Story, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, s, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// parsed gives the elements of a page and its text, and fails if they don't nest, if an
// attribute can run a script, or if anything refers to elsewhere.
func parsed(t *testing.T, page string) (elements map[string]int, text string) {
	t.Helper()
	body := page
	for _, own := range []string{script, style} { // their signs are no markup
		if strings.Count(body, own) != 1 {
			t.Fatal("our own style or script does not stand in the page as it is")
		}
		body = strings.Replace(body, own, "", 1)
	}
	d := xml.NewDecoder(strings.NewReader(strings.Replace(body, "<!doctype html>", "", 1)))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	elements = map[string]int{}
	var words strings.Builder
	var open []string
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("the page does not parse: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			elements[token.Name.Local]++
			open = append(open, token.Name.Local)
			for _, a := range token.Attr {
				attribute(t, token.Name.Local, a)
			}
		case xml.EndElement:
			if open[len(open)-1] != token.Name.Local {
				t.Fatalf("%s ends within %s", token.Name.Local, open[len(open)-1])
			}
			open = open[:len(open)-1]
		case xml.CharData:
			words.Write(token)
		case xml.Comment, xml.Directive, xml.ProcInst:
			t.Fatalf("%T in the page", token)
		}
	}
	if len(open) > 0 {
		t.Fatalf("%q stay open", open)
	}
	return elements, words.String()
}

var local = regexp.MustCompile(`^#(e\d+|lines)$`)

func attribute(t *testing.T, element string, a xml.Attr) {
	t.Helper()
	name := strings.ToLower(a.Name.Local)
	switch {
	case strings.HasPrefix(name, "on") || name == "style" || name == "src" || name == "srcdoc" || name == "action":
		t.Errorf("%s has %s=%q", element, name, a.Value)
	case name == "href" && !local.MatchString(a.Value):
		t.Errorf("%s refers to %q", element, a.Value)
	case strings.Contains(a.Value, "url(") && a.Value != "url(#hatch)" && a.Value != "url(#head)":
		t.Errorf("%s has %s=%q", element, name, a.Value)
	}
}

func TestHTML(t *testing.T) {
	t.Parallel()
	page := html(t, seed(), Options{Files: kubeletLog})
	elements, text := parsed(t, page)
	for name, n := range map[string]int{"script": 1, "style": 1, "svg": 7, "article": 5, "h1": 1, "pattern": 1} {
		if elements[name] != n {
			t.Errorf("%d elements %s, want %d", elements[name], name, n)
		}
	}
	for _, want := range []string{
		"lijiaob/stateful-new-pod-0", "dev-slave-107", "2017-12-13", "+08:00", "2 sandboxes", "the DEL of sandbox 41857f70 removed the endpoint and handle of sandbox 247d3c78, 20 s after its ADD",
		"192.168.8.33 became 192.168.8.34", "PL9002: 2 of these lines contain a token", "no line before 10:27:42 was read", "without endpoint, handle", "kubelet.log:373", oldBox, newUID, "guessed: timestamps without a year",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if n := strings.Count(text, "20 s after its ADD"); n != 2 { // in the picture's description, too
		t.Errorf("the first verdict is shown %d times, want 2", n)
	}
	if !strings.Contains(page, `content="`+look.Policy(style, script)+`"`) {
		t.Error("the policy does not let our own style and script in, and nothing else")
	}
	if strings.Contains(page, "http:") || strings.Contains(page, "https:") || strings.Contains(page, "ZgotmplZ") {
		t.Error("the page refers to elsewhere, or the template refused something")
	}
	if page != html(t, seed(), Options{Files: kubeletLog}) {
		t.Error("twice is not the same")
	}
}

func TestHTMLHostile(t *testing.T) {
	t.Parallel()
	want, _ := parsed(t, html(t, hostile(), Options{Files: hostileFiles}))
	tame := hostile()
	tame.Pod = "shop/db-0"
	if got, _ := parsed(t, html(t, tame, Options{Files: hostileFiles})); got["script"] != want["script"] || got["img"] != 0 || want["img"] != 0 {
		t.Errorf("text became markup: %v and %v", got, want)
	}
	if page := html(t, hostile(), Options{Files: hostileFiles}); strings.ContainsAny(page, "\x00\x07\x1b\u202e\u200b") || strings.Contains(page, "eyJ") {
		t.Error("what must not be shown is in the page")
	}
}

func TestHTMLBounded(t *testing.T) {
	t.Parallel()
	s := seed()
	for i := range 20000 {
		s.Events = append(s.Events, timeline.Event{At: clock(11, 0, i), Kind: timeline.AddEnd, Sandbox: newBox, Source: "cni", Place: timeline.Place{Line: uint32(i)}})
	}
	page := html(t, s, Options{Files: kubeletLog})
	_, text := parsed(t, page)
	if len(page) > 4<<20 || !strings.Contains(text, "later marks are not drawn") || !strings.Contains(text, "15015 later events are not in this table") {
		t.Errorf("a story of 20,000 events has %d bytes, or does not say what it leaves out", len(page))
	}
}

func TestHTMLEmpty(t *testing.T) {
	t.Parallel()
	if _, text := parsed(t, html(t, &timeline.Story{Pod: "shop/none"}, Options{})); !strings.Contains(text, "No verdict") {
		t.Error("an empty story does not say so")
	}
}

func TestAxis(t *testing.T) {
	t.Parallel()
	s := looping()
	l := lanesOf(s)
	all := rows(s, l, mostLabelled)
	a := newAxis(all, l.all)
	for i := 1; i < len(a.x); i++ {
		if a.x[i] < a.x[i-1] || a.x[i] > plotRight+0.01 || a.x[i] < plotLeft {
			t.Errorf("stop %d at %v, after %v", i, a.x[i], a.x[i-1])
		}
	}
	last := map[int]float64{}
	for i := range all {
		if x, ok := last[all[i].lane]; ok && a.rows[i]-x < leastStep-0.01 {
			t.Errorf("row %d is %v from the one before in its lane", i, a.rows[i]-x)
		}
		last[all[i].lane] = a.rows[i]
	}
}

func FuzzHTML(f *testing.F) {
	f.Add(nasty, "41857f70", int64(1513132069), uint8(20), uint8(3))
	f.Add("]]></script>\u2028", "", int64(-1), uint8(200), uint8(8))
	f.Fuzz(func(t *testing.T, foreign, id string, at int64, kind, boxes uint8) {
		elements, _ := parsed(t, html(t, fuzzed(foreign, id, at, kind, boxes), Options{Files: []timeline.File{{Name: foreign, Left: []string{foreign}}}}))
		if elements["script"] != 1 || elements["style"] != 1 || elements["img"] != 0 {
			t.Fatalf("text became markup: %v", elements)
		}
	})
}
