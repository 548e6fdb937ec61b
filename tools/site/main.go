// Command site makes the documentation site from the Markdown of the repository: the pages, and every file that they link
// to. It fails if a page is in no section, or a link leads nowhere.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", ".", "the repository")
	out := flag.String("out", "dist/site", "where the site is written")
	flag.Parse()
	if err := run(*root, *out); err != nil {
		fmt.Fprintln(os.Stderr, "error: "+err.Error())
		os.Exit(1)
	}
}

func run(root, out string) error {
	s, err := load(os.DirFS(root))
	if err != nil {
		return err
	}
	files, err := s.render()
	if err != nil {
		return err
	}
	if err := check(s.tree, files); err != nil {
		return err
	}
	for name, b := range files {
		to := filepath.Join(out, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil { //nolint:gosec // a site is for everybody
			return err
		}
		if err := os.WriteFile(to, b, 0o644); err != nil { //nolint:gosec // a site is for everybody
			return err
		}
	}
	fmt.Printf("%d pages, %d files in all: %s\n", len(s.pages), len(files), out)
	return nil
}
