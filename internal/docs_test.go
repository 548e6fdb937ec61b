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
	link   = regexp.MustCompile(`\]\(([^)#: ]*)(#[^) ]*)?\)`)
	head   = regexp.MustCompile(`(?m)^#+ (.*)$`)
	named  = regexp.MustCompile("`(Test[A-Z][A-Za-z0-9]*)`")
	tested = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	noSlug = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// headings are the parts of a page that a link can name.
func headings(text []byte) map[string]bool {
	out := map[string]bool{}
	for _, m := range head.FindAllSubmatch(text, -1) {
		out["#"+strings.ReplaceAll(noSlug.ReplaceAllString(strings.ToLower(string(m[1])), ""), " ", "-")] = true
	}
	return out
}

// testsOf are the names of all tests of the tree.
func testsOf(tree fs.FS) (map[string]bool, error) {
	out := map[string]bool{}
	err := fs.WalkDir(tree, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "bin" || d.Name() == "dist" || len(d.Name()) > 1 && d.Name()[0] == '.'):
			return fs.SkipDir
		case !strings.HasSuffix(p, "_test.go"):
			return nil
		}
		text, err := fs.ReadFile(tree, p)
		for _, m := range tested.FindAllSubmatch(text, -1) {
			out[string(m[1])] = true
		}
		return err
	})
	return out, err
}

func docsWrong(tree fs.FS) (out []string) {
	files, err := fs.Glob(tree, "*.md")
	if err != nil {
		return []string{err.Error()}
	}
	err = fs.WalkDir(tree, "docs", func(p string, _ fs.DirEntry, err error) error {
		if err == nil && path.Ext(p) == ".md" {
			files = append(files, p)
		}
		return err
	})
	if err != nil {
		return []string{err.Error()}
	}
	tests, err := testsOf(tree)
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
			to, part := path.Join(path.Dir(file), m[1]), m[2]
			if m[1] == "" {
				to = file
			}
			page, err := fs.ReadFile(tree, to)
			if _, there := fs.Stat(tree, to); there != nil {
				out = append(out, file+": links to "+m[1]+", which is not there")
			} else if part != "" && path.Ext(to) == ".md" && (err != nil || !headings(page)[part]) {
				out = append(out, file+": links to "+m[1]+part+", a part that is not there")
			}
		}
		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			if !tests[m[1]] {
				out = append(out, file+": names the test "+m[1]+", which is not there")
			}
		}
	}
	return out
}

func TestDocsAreRead(t *testing.T) {
	t.Parallel()
	tree := fstest.MapFS{
		"README.md":          {Data: []byte("<!-- screen: a -->\n```text\nold\n```\n[x](docs/none.md) [y](docs/a.md#part) [z](docs/a.md#no-such) `TestGone` `TestThere`\n")},
		"CONTRIBUTING.md":    {Data: []byte("<!-- screen: a -->\n```text\nnew\n```\n")},
		"docs/a.md":          {Data: []byte("<!-- screen: a -->\nnothing\n## Part\n")},
		"a/a_test.go":        {Data: []byte("func TestThere(t *testing.T) {\n")},
		"docs/screens/a.txt": {Data: []byte("new\n")},
	}
	if got := docsWrong(tree); len(got) != 5 {
		t.Errorf("%q", got)
	}
}
