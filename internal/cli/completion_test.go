package cli_test

import (
	"strings"
	"testing"
)

func TestCompletion(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"check -o":         "yaml",
		"guard status -o":  "wide",
		"--datastore":      "etcd",
		"plan --code":      "PL1001\taddress allocated, nobody uses it",
		"explain":          "PL2001\t",
		"explain PL2001":   ":4",
		"check --context":  ":4", // no kubeconfig, no error
		"timeline pod x -": "--logs",
		"timeline":         "sandbox",
		"explain node":     ":4", // no cluster, no error
		"schema":           "FleetReport",

		"--kubeconfig testdata/contexts.yaml check --contexts prod,t -": "prod,test",
		"--kubeconfig testdata/contexts.yaml --context p -":             "prod\n",
		"check -o ": "jsonpath=",
	} {
		words := strings.Fields(args)
		last := ""
		if strings.HasSuffix(args, " -") { // the word before it, or a flag, is not complete
			words, last = words[:len(words)-1], "--l"
			if strings.Contains(args, "context") {
				words, last = words[:len(words)-1], words[len(words)-1]
			}
		}
		if r := run(t, 0, append(append([]string{"__complete"}, words...), last)...); r.code != 0 || !strings.Contains(r.out, want) {
			t.Errorf("%s: %q", args, r.out)
		}
	}
	if r := run(t, 0, "__complete", "--kubeconfig", "testdata/contexts.yaml", "--context", ""); strings.Contains(r.out, "touch") {
		t.Errorf("a name that a shell would run: %q", r.out)
	}
}
