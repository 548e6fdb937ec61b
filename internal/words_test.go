package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// What users read is written in the words of Kubernetes and Calico (docs/glossary.md). These
// are the words of a dialect that was ours alone, and what to say instead. A common word
// stands here only in the phrases of the dialect.
var dialect = words([]struct{ pattern, say string }{
	{`\bbooks?\b`, "source"},
	{`\bledger\b`, "Calico IPAM"},
	{`\bsuspect(ed|s)?\b|\bsuspicions?\b`, "unconfirmed"},
	{`\bdecided by\b|\bcan be decided\b`, "recheck after"},
	{`\bbears? witness\b|\bwitness(es)?\b|\bthe word of\b`, "live verification by the agent on NODE"},
	{`\bliving (pods?|sandbox(es)?|one)\b|\b(pod|sandbox) (lives|is alive|dies|died)\b|\bwhat lives\b`, "running, in use"},
	{`\bits sight\b|\bseen in full\b|\bnot looked at\b|\bsecond look\b`, "coverage, not checked, reread"},
	{`\bsame breath\b`, "atomically"},
	{`\b(the|Calico's|its) collector\b`, "IPAM garbage collector"},
	{`\bcollector's grace\b`, "garbage-collection grace period"},
	{`\bkeepers?\b`, "guard daemon"},
	{`\bflight rec`, "event log"},
	{`\bendless DELs?\b`, "retried DEL"},
	{`\bshared address(es)?\b`, "duplicate address"},
	{`\bmake .* say what\b`, "rebuild IPAM from running pods"},
	{`\bcircuit breaker\b|\bbreaker\b|\bmistake of ours\b`, "mass-change limit"},
	{`\brobbed\b|\brobs\b`, "lost its endpoint"},
	{`\(I[0-9]{1,2}\b|\bI[0-9]{1,2} (to|and) I?[0-9]|\bseed 00[0-9]\b|(^|[^-/a-z])(design|safety|calico|harm)\.md\b`, "no identifiers of our own planning"},
})

type word struct {
	pattern *regexp.Regexp
	say     string
}

func words(list []struct{ pattern, say string }) (out []word) {
	for _, w := range list {
		out = append(out, word{regexp.MustCompile(`(?i)` + w.pattern), w.say})
	}
	return out
}

// Each exception says why the word stands there.
var wordExceptions = map[string]string{
	"internal/words_test.go":        "this list",
	"internal/cli/check/options.go": "the error of a value that was given up names it",
	"internal/guard/daemon/lock.go": "the lock of an older guard daemon is taken too",
	"internal/timeline/parse/":      "lines as Calico and kubelet print them",
	"internal/timeline/loggen/":     "lines as Calico and kubelet print them",
	"CHANGELOG.md":                  "tells which names were given up",
	"docs/formats.md":               "tells which names were given up",
	"docs/glossary.md":              "tells which words were given up",
}

func TestWordsOfTheDialect(t *testing.T) {
	t.Parallel()
	for _, hit := range dialectIn(os.DirFS("..")) {
		t.Error(hit)
	}
}

// dialectIn gives the places where users would read a word of the dialect.
func dialectIn(tree fs.FS) []string {
	var out []string
	look := func(p string, line int, text string) {
		for _, d := range dialect {
			if m := d.pattern.FindString(text); m != "" {
				out = append(out, p+":"+strconv.Itoa(line)+`: "`+m+`": say `+d.say)
			}
		}
	}
	err := fs.WalkDir(tree, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && p != "." && (strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"testdata", "bin", "dist", "lab", "tools"}, d.Name())) {
			return skipUnless(err)
		}
		if d.IsDir() || excepted(p) {
			return nil
		}
		switch path.Ext(p) {
		case ".md", ".yaml", ".txt", ".html", ".tpl", ".json":
			b, err := fs.ReadFile(tree, p)
			if err != nil {
				return err
			}
			for i, l := range strings.Split(string(b), "\n") {
				look(p, i+1, l)
			}
		case ".go":
			if strings.HasSuffix(p, "_test.go") {
				return nil
			}
			return literals(tree, p, look)
		}
		return nil
	})
	if err != nil {
		out = append(out, err.Error())
	}
	return out
}

func skipUnless(err error) error {
	if err != nil {
		return err
	}
	return fs.SkipDir
}

func excepted(p string) bool {
	for prefix := range wordExceptions {
		if strings.HasPrefix(p, prefix) {
			return true
		}
	}
	return false
}

// literals looks at every string of a Go file but its imports and tags.
func literals(tree fs.FS, p string, look func(p string, line int, text string)) error {
	src, err := fs.ReadFile(tree, p)
	if err != nil {
		return err
	}
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, p, src, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			if n.Tag != nil {
				n.Tag = nil
			}
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				look(p, set.Position(n.Pos()).Line, n.Value)
			}
		}
		return true
	})
	return nil
}

func TestDialectIsSeen(t *testing.T) {
	t.Parallel()
	tree := fstest.MapFS{
		"README.md":            {Data: []byte("Fine.\nThree books describe it.\n")},
		"internal/a/a.go":      {Data: []byte("package a\n// a witness in a comment\nvar x = \"the word of w17\" // `json:\"ledger\"`\ntype t struct { F int `json:\"ledger\"` }\n")},
		"internal/a/b.go":      {Data: []byte("package a\nvar y = \"a garbage collector\"\n")},
		"internal/a/t_test.go": {Data: []byte("package a\nvar z = \"ledger\"\n")},
	}
	got := dialectIn(tree)
	if len(got) != 2 || !strings.HasPrefix(got[0], "README.md:2") || !strings.HasPrefix(got[1], "internal/a/a.go:3") {
		t.Errorf("%q", got)
	}
}
