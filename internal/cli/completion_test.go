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
	} {
		words := strings.Fields(args)
		last := ""
		if strings.HasSuffix(args, " -") {
			words, last = words[:len(words)-1], "--l"
		}
		if r := run(t, 0, append(append([]string{"__complete"}, words...), last)...); r.code != 0 || !strings.Contains(r.out, want) {
			t.Errorf("%s: %q", args, r.out)
		}
	}
}
