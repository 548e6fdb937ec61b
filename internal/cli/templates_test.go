package cli_test

import (
	"strings"
	"testing"
)

// Templates print what kubectl would print of the same document; they are read before the cluster is.
func TestTemplates(t *testing.T) {
	t.Parallel()
	path := bundle(t, "PL2010", nil)
	for format, want := range map[string]string{
		"jsonpath={.kind}":          "CheckReport",
		"jsonpath={.no.such.field}": "",
		`jsonpath={range .findings[*]}{.code}{"\t"}{.name}{"\n"}{end}`: "PL1002\tPL1002/10.0.0.11\nPL2010\tPL2010/10.0.0.1\n",
		`jsonpath={.findings[?(@.severity=="error")].code}`:            "PL1002 PL2010",
		"go-template={{len .findings}} {{(index .findings 0).code}}":   "2 PL1002",
		"go-template={{.no}}": "<no value>",
	} {
		if r := run(t, 80, "check", "--bundle", path, "-o", format); r.out != want || r.code != 1 {
			t.Errorf("%s: exit %d, %q, %s", format, r.code, r.out, r.err)
		}
	}
	if r := run(t, 80, "version", "-o", "go-template={{.kind.x}}"); r.code != 2 || !strings.Contains(r.err, "can't evaluate field x") {
		t.Error(r)
	}
	if r := run(t, 80, "explain", "PL2010", "-o", "yaml"); !strings.Contains(r.out, "kind: CodePage\n") {
		t.Error(r)
	}
}
