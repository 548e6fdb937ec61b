package planner

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/detect"
)

// A person reads the last words of a line, and pastes them.
var hurts = map[string]*regexp.Regexp{
	"calicoctl checks nothing before it releases":          regexp.MustCompile(`calicoctl ipam release`),
	"an unmount by force loses what pods have not written": regexp.MustCompile(`umount -[fl]`),
	"a garbage collector that starts releases addresses":   regexp.MustCompile(`restart calico-kube-controllers`),
	"rebuilding is one step of a procedure":                regexp.MustCompile(`plan --rebuild`),
	"pods lose what they have not written":                 regexp.MustCompile(`--force|--grace-period=0`),
}

// No advice names a command that hurts in a situation in which the advice is printed.
func TestAdviceIsSafe(t *testing.T) {
	t.Parallel()
	for _, d := range detect.All {
		for why, bad := range hurts {
			if a := advice(d.Code); bad.MatchString(a) {
				t.Errorf("%s: %s: %s", d.Code, why, a)
			}
		}
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			for why, bad := range hurts {
				if strings.Contains(line, "Advice:") && !strings.HasSuffix(file, "_test.go") && bad.MatchString(line) {
					t.Errorf("%s: %s: %s", file, why, line)
				}
			}
		}
	}
}
