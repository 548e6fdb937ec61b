package detect_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Lines that hurt when they are pasted in the wrong situation, and what must come with them.
var risky = []struct {
	name    string
	command *regexp.Regexp
	needs   *regexp.Regexp // in the two lines before, or the line itself
	except  string         // the section that may have it
}{
	{
		"a garbage collector that starts releases addresses whose record names a wrong node",
		regexp.MustCompile(`rollout restart.*calico-kube-controllers`), regexp.MustCompile(`plumbline check --code PL1003,PL5003,PL9006 &&`), "",
	},
	{
		"calicoctl checks nothing before it releases",
		regexp.MustCompile(`calicoctl ipam release --ip`), nil, "## Do not\n## Causes\n",
	},
	{
		"an unmount by force loses what pods have not written",
		regexp.MustCompile(`umount -f`), regexp.MustCompile(`the plan refuses`), "",
	},
	{
		"without kube-proxy's table no Service answers",
		regexp.MustCompile(`nft delete table`), regexp.MustCompile(`Only if its pod is Ready`), "",
	},
	{
		"there is one procedure after a restore",
		regexp.MustCompile(`plan --rebuild.*--allow-mass-change`), nil, "docs/repair.md",
	},
	{
		"a node that runs must not be called out of service",
		regexp.MustCompile(`kubectl taint node .*out-of-service`), regexp.MustCompile(`powered off`), "",
	},
}

// No page prints a command that is dangerous in the situation in which it is printed.
func TestPagesAreSafe(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("doc/*.md")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d pages, %v", len(files), err)
	}
	more, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, file := range append(files, more...) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		section, before := "", []string{"", "", ""}
		for i, line := range strings.Split(string(b), "\n") {
			if strings.HasPrefix(line, "## ") {
				section = line
			}
			for _, r := range risky {
				if !r.command.MatchString(line) {
					continue
				}
				seen[r.name]++
				excepted := r.except != "" && (strings.HasSuffix(file, r.except) || section != "" && strings.Contains(r.except, section+"\n"))
				context := strings.Join(append(before, line), "\n")
				if file = filepath.ToSlash(file); !excepted && (r.needs == nil || !r.needs.MatchString(context)) && !history(file) {
					t.Errorf("%s:%d: %s: %s", file, i+1, r.name, line)
				}
			}
			before = append(before[1:], line)
		}
	}
	for _, r := range risky {
		if seen[r.name] == 0 {
			t.Errorf("no page has %s any more: %s", r.command, r.name)
		}
	}
}

// history reports pages that tell what happened, or compare, and give no advice.
func history(file string) bool {
	for _, name := range []string{"writeups.md", "comparison.md", "bugs.md", "issues.md", "cli.md", "formats.md"} {
		if strings.HasSuffix(file, "/"+name) {
			return true
		}
	}
	return false
}
