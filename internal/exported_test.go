package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// A name is exported for somebody: another package uses it (an external test is one), or it
// is part of what another exported name of its package is declared with.
func TestExportedNamesAreUsed(t *testing.T) {
	t.Parallel()
	for _, name := range unusedNames(os.DirFS(".."), "internal/", "cmd/", "lab/", "deploy/") {
		t.Errorf("%s is exported and used by no other package: unexport or delete it", name)
	}
}

// unusedNames reads every Go file below the roots and gives the exported package-level names
// below internal/ that nobody else uses, as PACKAGE.NAME.
func unusedNames(tree fs.FS, roots ...string) []string {
	declared, used := map[string]bool{}, map[string]bool{}
	err := fs.WalkDir(tree, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, ".go") || !slices.ContainsFunc(roots, func(r string) bool { return strings.HasPrefix(p, r) }) {
			return err
		}
		src, err := fs.ReadFile(tree, p)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), p, src, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		mentions(f, used)
		if dir := path.Dir(p); strings.HasPrefix(dir, "internal/") && !strings.HasSuffix(p, "_test.go") {
			for name, decl := range exportedDecls(f) {
				if !strings.Contains(name, ".") { // methods go with their type
					declared[module+"/"+dir+"."+name] = true
				}
				signature(decl, name, module+"/"+dir, used)
			}
		}
		return nil
	})
	if err != nil {
		return []string{err.Error()}
	}
	var out []string
	for name := range declared {
		if !used[name] {
			out = append(out, strings.TrimPrefix(name, module+"/"))
		}
	}
	slices.Sort(out)
	return out
}

// mentions notes every name that a file uses of a package that it imports.
func mentions(f *ast.File, used map[string]bool) {
	imports := map[string]string{}
	for _, i := range f.Imports {
		p := strings.Trim(i.Path.Value, `"`)
		name := path.Base(p)
		if i.Name != nil {
			name = i.Name.Name
		}
		imports[name] = p
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && imports[x.Name] != "" {
				used[imports[x.Name]+"."+s.Sel.Name] = true
			}
		}
		return true
	})
}

// exportedDecls gives the exported declarations of a file; a method is called TYPE.METHOD.
// The constants of an exported type are part of it.
func exportedDecls(f *ast.File) map[string]ast.Node {
	out := map[string]ast.Node{}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			switch {
			case !d.Name.IsExported():
			case d.Recv == nil:
				out[d.Name.Name] = d.Type
			default:
				out["."+d.Name.Name] = d.Type
			}
		case *ast.GenDecl:
			exportedSpecs(d, out)
		}
	}
	return out
}

func exportedSpecs(d *ast.GenDecl, out map[string]ast.Node) {
	typed := false
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			if s.Name.IsExported() {
				out[s.Name.Name] = s.Type
			}
		case *ast.ValueSpec:
			if id, ok := s.Type.(*ast.Ident); ok {
				typed = id.IsExported()
			}
			for _, n := range s.Names {
				if n.IsExported() && (d.Tok != token.CONST || !typed) {
					out[n.Name] = s
				}
			}
		}
	}
}

// signature notes the names of the own package that an exported declaration is made of.
func signature(decl ast.Node, own, pkg string, used map[string]bool) {
	ast.Inspect(decl, func(n ast.Node) bool {
		if t, ok := n.(*ast.StructType); ok {
			for _, f := range t.Fields.List {
				if len(f.Names) == 0 || slices.ContainsFunc(f.Names, (*ast.Ident).IsExported) {
					signature(f.Type, own, pkg, used)
				}
			}
			return false
		}
		if id, ok := n.(*ast.Ident); ok && id.IsExported() && id.Name != own {
			used[pkg+"."+id.Name] = true
		}
		return true
	})
}

func TestUnusedNamesAreSeen(t *testing.T) {
	t.Parallel()
	tree := fstest.MapFS{
		"internal/a/a.go":   {Data: []byte("package a\ntype Used struct{ F Part; hidden Hidden }\ntype Part int\ntype Hidden int\nfunc Lost() {}\nconst Local = 1\n")},
		"internal/b/b.go":   {Data: []byte("package b\nimport \"" + module + "/internal/a\"\nvar x a.Used\n")},
		"internal/a/a2.go":  {Data: []byte("package a\nvar y = Local\n")},
		"internal/a/_x.txt": {Data: []byte("not Go")},
	}
	if got, want := unusedNames(tree, "internal/"), []string{"internal/a.Hidden", "internal/a.Local", "internal/a.Lost"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
