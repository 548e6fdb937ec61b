package internal_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// metricsOf are those that a package makes with internal/metrics: name, labels and help are literals there.
func metricsOf(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(dir + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if row := metricRow(n); row != "" {
				rows = append(rows, row)
			}
			return true
		})
	}
	if slices.Sort(rows); len(rows) < 10 {
		t.Fatalf("%d metrics in %q", len(rows), files)
	}
	return "| metric | what |\n|---|---|\n" + strings.Join(rows, "")
}

// metricRow is what a call of metrics.NewGauge, NewCounter or NewHistogram says; empty for anything else.
func metricRow(n ast.Node) string {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return ""
	}
	of, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains([]string{"NewGauge", "NewCounter", "NewHistogram"}, of.Sel.Name) {
		return ""
	}
	var words []string
	for _, a := range call.Args {
		if l, ok := a.(*ast.BasicLit); ok && l.Kind == token.STRING {
			w, _ := strconv.Unquote(l.Value)
			words = append(words, w)
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "| `plumbline_%s", words[0])
	if labels := words[2:]; len(labels) > 0 {
		fmt.Fprintf(&b, "{%s}", strings.Join(labels, ","))
	}
	what := words[1]
	if of.Sel.Name == "NewHistogram" {
		what = "Histogram: " + what
	}
	fmt.Fprintf(&b, "` | %s |\n", what)
	return b.String()
}
