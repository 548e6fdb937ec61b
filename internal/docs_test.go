package internal_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// What README and docs show was printed by a command (make screens), and what they link to
// is there.
func TestDocs(t *testing.T) {
	t.Parallel()
	for _, wrong := range docsWrong(os.DirFS("..")) {
		t.Error(wrong)
	}
}

var (
	screen = regexp.MustCompile("(?s)<!-- screen: (\\S+) -->\n```text\n(.*?)```\n")
	link   = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
)

func docsWrong(tree fs.FS) (out []string) {
	files := []string{"README.md", "CONTRIBUTING.md"}
	err := fs.WalkDir(tree, "docs", func(p string, _ fs.DirEntry, err error) error {
		if err == nil && path.Ext(p) == ".md" {
			files = append(files, p)
		}
		return err
	})
	if err != nil {
		return []string{err.Error()}
	}
	for _, file := range files {
		text, err := fs.ReadFile(tree, file)
		if err != nil {
			out = append(out, err.Error())
			continue
		}
		for _, m := range screen.FindAllStringSubmatch(string(text), -1) {
			want, err := fs.ReadFile(tree, "docs/screens/"+m[1]+".txt")
			if err != nil || string(want) != m[2] {
				out = append(out, file+": the screen "+m[1]+" is not what docs/screens/"+m[1]+".txt has: paste it again")
			}
		}
		if n := strings.Count(string(text), "<!-- screen:"); n != len(screen.FindAllString(string(text), -1)) {
			out = append(out, file+": a screen is not followed by a block ```text")
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if _, err := fs.Stat(tree, path.Join(path.Dir(file), m[1])); err != nil && strings.IndexByte(m[1], ' ') < 0 {
				out = append(out, file+": links to "+m[1]+", which is not there")
			}
		}
	}
	return out
}

func TestDocsAreRead(t *testing.T) {
	t.Parallel()
	tree := fstest.MapFS{
		"README.md":          {Data: []byte("<!-- screen: a -->\n```text\nold\n```\n[x](docs/none.md) [y](docs/a.md#part)\n")},
		"CONTRIBUTING.md":    {Data: []byte("<!-- screen: a -->\n```text\nnew\n```\n")},
		"docs/a.md":          {Data: []byte("<!-- screen: a -->\nnothing\n")},
		"docs/screens/a.txt": {Data: []byte("new\n")},
	}
	if got := docsWrong(tree); len(got) != 3 {
		t.Errorf("%q", got)
	}
}
