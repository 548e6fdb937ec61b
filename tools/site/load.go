package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// A site is what is read of the repository.
type site struct {
	tree  fs.FS
	pages map[string]*doc // by path in the repository
	nav   []chapter
	style string
	icon  []byte
}

// A chapter is a section with its pages.
type chapter struct {
	Title string
	Docs  []*doc
}

// A doc is one page.
type doc struct {
	Path, URL, Title string
	text             []byte
}

// load reads the pages of all sections. Each page is in one of them.
func load(tree fs.FS) (*site, error) {
	s := &site{tree: tree, pages: map[string]*doc{}}
	style, err := fs.ReadFile(tree, "internal/page/style.css")
	if err != nil {
		return nil, err
	}
	s.style = string(style)
	if s.icon, err = fs.ReadFile(tree, "internal/web/static/icon.svg"); err != nil {
		return nil, err
	}
	for _, sec := range nav {
		c := chapter{Title: sec.Title}
		for _, p := range sec.Pages {
			names := []string{p}
			if strings.HasSuffix(p, "/") {
				if names, err = fs.Glob(tree, p+"*.md"); err != nil {
					return nil, err
				}
			}
			for _, name := range names {
				d, err := s.read(name)
				if err != nil {
					return nil, err
				}
				c.Docs = append(c.Docs, d)
			}
		}
		s.nav = append(s.nav, c)
	}
	return s, s.complete()
}

func (s *site) read(name string) (*doc, error) {
	if s.pages[name] != nil {
		return nil, fmt.Errorf("%s is in two sections", name)
	}
	text, err := fs.ReadFile(s.tree, name)
	if err != nil {
		return nil, err
	}
	title, _, _ := bytes.Cut(bytes.TrimPrefix(text, []byte("# ")), []byte("\n"))
	d := &doc{Path: name, URL: urlOf(name), Title: strings.ReplaceAll(string(title), "`", ""), text: text}
	s.pages[name] = d
	return d, nil
}

// urlOf is where a page is on the site: README is its first page.
func urlOf(name string) string {
	if name == "README.md" {
		return "index.html"
	}
	if name == "docs/index.md" {
		return "docs/all.html"
	}
	return strings.TrimSuffix(name, ".md") + ".html"
}

// complete tells whether every page of the repository is in a section.
func (s *site) complete() error {
	var missing []string
	roots, err := fs.Glob(s.tree, "*.md")
	if err != nil {
		return err
	}
	err = fs.WalkDir(s.tree, "docs", func(p string, _ fs.DirEntry, err error) error {
		if path.Ext(p) == ".md" {
			roots = append(roots, p)
		}
		return err
	})
	for _, p := range roots {
		if s.pages[p] == nil {
			missing = append(missing, p)
		}
	}
	if slices.Sort(missing); len(missing) > 0 {
		err = errors.Join(err, fmt.Errorf("in no section of tools/site/nav.go: %s", strings.Join(missing, ", ")))
	}
	return err
}
