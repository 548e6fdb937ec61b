package main

import (
	"bytes"
	_ "embed"
	"html/template"
	"io/fs"
	"path"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

//go:embed page.html
var pageHTML string

//go:embed site.css
var ownStyle string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{"folded": func(title string) bool { return folded[title] }}).Parse(pageHTML))

// render gives the files of the site: a page for each document, and what documents link to.
func (s *site) render() (map[string][]byte, error) {
	files := map[string][]byte{"style.css": []byte(s.style + ownStyle), "icon.svg": s.icon}
	tables := extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)) // the policy refuses styles
	md := goldmark.New(goldmark.WithExtensions(tables, extension.Linkify, extension.Strikethrough, extension.TaskList), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	for _, c := range s.nav {
		for _, d := range c.Docs {
			tree := md.Parser().Parse(text.NewReader(d.text))
			if err := s.links(d, tree, files); err != nil {
				return nil, err
			}
			var body, page bytes.Buffer
			if err := md.Renderer().Render(&body, d.text, tree); err != nil {
				return nil, err
			}
			html := strings.NewReplacer("<table>", `<div class="scroll" tabindex="0"><table>`, "</table>", "</table></div>", "<pre>", `<pre tabindex="0">`).Replace(body.String())
			err := pageTemplate.Execute(&page, map[string]any{
				"Title": d.Title, "Body": template.HTML(html), "Root": strings.Repeat("../", strings.Count(d.URL, "/")), "Nav": s.nav, "Here": d, "Chapter": c.Title, //nolint:gosec // our own pages
			})
			if err != nil {
				return nil, err
			}
			files[d.URL] = page.Bytes()
		}
	}
	return files, nil
}

// links turns links to documents into links to their pages, and takes other files of the repository along. What is not
// there stays as it is, for check to say.
func (s *site) links(d *doc, tree ast.Node, files map[string][]byte) error {
	return ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		var dest *[]byte
		switch n := n.(type) {
		case *ast.Link:
			dest = &n.Destination
		case *ast.Image:
			dest = &n.Destination
		}
		if dest == nil || !entering || len(*dest) == 0 || strings.Contains(string(*dest), ":") || (*dest)[0] == '#' {
			return ast.WalkContinue, nil
		}
		to, part, _ := strings.Cut(string(*dest), "#")
		target := path.Join(path.Dir(d.Path), to)
		url := target
		switch st, err := fs.Stat(s.tree, target); {
		case s.pages[target] != nil:
			url = s.pages[target].URL
		case err != nil:
		case st.IsDir():
			url = s.listing(target, files)
		default:
			b, err := fs.ReadFile(s.tree, target)
			if err != nil {
				return ast.WalkStop, err
			}
			files[target] = b
		}
		if part != "" {
			part = "#" + part
		}
		*dest = []byte(strings.Repeat("../", strings.Count(d.URL, "/")) + url + part)
		return ast.WalkContinue, nil
	})
}

// listing is where the files of a directory are listed, which are taken along.
func (s *site) listing(dir string, files map[string][]byte) string {
	if first, ok := map[string]string{"docs/codes": "docs/all.html#codes", "docs/adr": "docs/all.html#decisions"}[dir]; ok {
		return first
	}
	url := dir + "/index.html"
	entries, _ := fs.ReadDir(s.tree, dir) // it is there
	var list strings.Builder
	for _, e := range entries {
		if b, err := fs.ReadFile(s.tree, dir+"/"+e.Name()); err == nil && path.Ext(e.Name()) != ".go" {
			files[dir+"/"+e.Name()] = b
			list.WriteString("<li><a href=\"" + template.HTMLEscapeString(e.Name()) + "\">" + template.HTMLEscapeString(e.Name()) + "</a></li>\n")
		}
	}
	var page bytes.Buffer
	_ = pageTemplate.Execute(&page, map[string]any{ // into memory
		"Title": dir, "Body": template.HTML("<h1>" + template.HTMLEscapeString(dir) + "</h1><ul>" + list.String() + "</ul>"), "Root": strings.Repeat("../", strings.Count(url, "/")), "Nav": s.nav, "Here": (*doc)(nil), "Chapter": "", //nolint:gosec // names of our own files
	})
	files[url] = page.Bytes()
	return url
}
