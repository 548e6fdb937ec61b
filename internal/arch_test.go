// Package internal_test keeps the import direction of design and docs/architecture.md
// true: it reads the files themselves, so no cached result can hide a violation.
package internal_test

import (
	"fmt"
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

const module = "plumbline.dev/plumbline"

// may lists, for each package below internal/, the packages of this module that
// it may import. A package gets its line when it gets its first file.
var may = map[string]string{
	"lossless":            "",
	"calico/object":       "lossless model",
	"repair":              "finding model repair/change",
	"repair/change":       "calico/object lossless model",
	"repair/planner":      "finding calico/object model repair repair/change repair/proven",
	"repair/proven":       "",
	"execute":             "model repair repair/change",
	"execute/executetest": "audit detect execute finding journal calico/object lossless model observe repair repair/change repair/planner",
	"bench/rebuild":       "", // measures: tests only
	"journal":             "hostfile repair repair/change",
	"model":               "",
	"finding":             "model",
	"cnierror":            "",
	"detect":              "cnierror model finding",
	"snapshotio":          "model lossless",
	"observe":             "model",
	"audit":               "model finding detect observe plain",
	"kube":                "model observe scrub",
	"kube/probe":          "kube model observe",
	"kube/write":          "execute kube model observe",
	"cri":                 "execute hostfile model observe",
	"host":                "execute hostfile model observe",
	"hostfile":            "",
	"calico":              "execute calico/object lossless model observe",
	"kernel":              "execute hostfile model observe kernel/podns kernel/rtnl",
	"kernel/podns":        "hostfile model kernel/rtnl",
	"kernel/rtnl":         "model",
	"buildinfo":           "",
	"logformat":           "",
	"memlimit":            "",
	"cli":                 "buildinfo cli/check cli/demo cli/explain cli/guard cli/ipam cli/repair cli/term cli/timeline cli/ui cluster plain",
	"cli/check":           "audit capacity cli/term cluster detect finding model page plain timeline",
	"cli/demo":            "cli/term plain",
	"cli/explain":         "audit cli/term cluster cnierror detect finding ladder model page plain timeline",
	"cli/guard":           "cli/term cluster finding guard plain",
	"cli/ipam":            "cli/term cluster hostfile ipamdiff model plain",
	"ipamdiff":            "model",
	"cli/repair":          "audit cli/term cluster detect finding model plain repair",
	"cli/term":            "audit cluster kube/jsonpath plain timeline timeline/parse",
	"cli/ui":              "audit cli/term cluster detect finding plain repair timeline timeline/render web",
	"plain":               "",
	"page":                "",
	"ladder":              "audit detect finding model plain",
	"ipammap":             "audit finding model plain",
	"web":                 "audit capacity detect finding ipammap ladder model page plain repair",
	"cli/term/termtest":   "cli/term",
	"cli/timeline":        "cli/term cluster plain timeline timeline/parse timeline/render",
	"cluster":             "agent audit calico capacity detect execute finding hostfile journal kube kube/probe kube/write model observe plain repair repair/change repair/planner repair/proven scrub snapshotio timeline timeline/parse timeline/pick timeline/records",
	"controller":          "agent agent/door audit buildinfo cluster capacity controller/objects controller/shadow detect finding kube kube/lead kube/own kube/review logformat metrics model observe web",
	"capacity":            "audit finding model",
	"metrics":             "",
	"controller/objects":  "audit detect finding model repair/planner",
	"controller/shadow":   "audit detect finding model repair",
	"kube/jsonpath":       "",
	"kube/lead":           "kube",
	"kube/own":            "kube observe",
	"eventlog":            "hostfile",
	"agent":               "execute snapshotio eventlog guard model observe timeline/pick",

	"bench/agentcost": "", // measures: tests only
	"bench/agents":    "", // measures: tests only
	"bench/ways":      "", // measures: tests only
	"agent/door":      "agent",
	"agent/server":    "agent agent/door buildinfo cnierror cri execute snapshotio eventlog scrub guard host hostfile kernel kernel/podns logformat metrics model observe timeline/journal timeline/pick",
	"kube/review":     "",

	"timeline":              "cnierror finding model",
	"timeline/journal":      "",
	"timeline/records":      "scrub timeline timeline/journal",
	"timeline/pick":         "timeline/records",
	"timeline/timelinetest": "", // for tests only
	"timeline/parse":        "eventlog timeline timeline/records scrub guard model",
	"scrub":                 "",
	"timeline/render":       "cnierror finding page timeline scrub",
	"timeline/loggen":       "timeline timeline/records timeline/parse",

	"guard":         "",
	"guard/ownerdb": "guard hostfile",
	"guard/cniconf": "hostfile",
	"guard/daemon":  "cri eventlog guard guard/cniconf guard/ownerdb host hostfile kernel/podns logformat model observe",
	"guard/plugin":  "eventlog scrub guard guard/ownerdb hostfile kernel/podns kernel/rtnl model",
}

// Pure packages have no I/O and no clock: reading or changing the world is for the edges.
const (
	pure   = " model cnierror finding detect repair repair/change repair/planner repair/proven timeline guard capacity ipammap ladder plain controller/objects controller/shadow ipamdiff "
	impure = " os os/exec net net/http syscall context log/slog "
)

func TestImportDirection(t *testing.T) {
	t.Parallel()
	for _, v := range violations(os.DirFS(".."), may) {
		t.Error(v)
	}
}

// violations reads every Go file of the module in tree and tells which imports
// the table does not allow.
func violations(tree fs.FS, may map[string]string) []string {
	var out []string
	seen := map[string]bool{}
	err := fs.WalkDir(tree, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && p != "." {
			if _, err := fs.Stat(tree, path.Join(p, "go.mod")); err == nil || strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir // another module, or not ours
			}
		}
		if d.IsDir() || !strings.HasSuffix(p, ".go") {
			return nil
		}
		imports, err := importsOf(tree, p)
		if err != nil {
			return err
		}
		dir := path.Dir(p)
		if pkg, ok := strings.CutPrefix(dir, "internal/"); ok {
			seen[pkg] = true
		}
		for _, i := range imports {
			if why := refuse(dir, i, strings.HasSuffix(p, "_test.go"), may); why != "" {
				out = append(out, fmt.Sprintf("%s imports %s: %s", p, i, why))
			}
		}
		return nil
	})
	if err != nil {
		out = append(out, err.Error())
	}
	for pkg := range may {
		if !seen[pkg] {
			out = append(out, "the table names internal/"+pkg+", which is gone")
		}
	}
	for pkg := range seen {
		if _, ok := may[pkg]; !ok {
			out = append(out, "internal/"+pkg+" is not in the table")
		}
	}
	slices.Sort(out)
	return out
}

func importsOf(tree fs.FS, p string) ([]string, error) {
	src, err := fs.ReadFile(tree, p)
	if err != nil {
		return nil, err
	}
	f, err := parser.ParseFile(token.NewFileSet(), p, src, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, i := range f.Imports {
		out = append(out, strings.Trim(i.Path.Value, `"`))
	}
	return out, nil
}

// refuse says why a file in dir may not import i, or nothing.
func refuse(dir, i string, test bool, may map[string]string) string {
	ours, isOurs := strings.CutPrefix(i, module+"/")
	inLab := dir == "lab" || strings.HasPrefix(dir, "lab/")
	switch {
	case inLab && isOurs && strings.HasPrefix(ours, "internal/"):
		return "the lab imports nothing of the product"
	case !inLab && !test && isOurs && (ours == "lab" || strings.HasPrefix(ours, "lab/")):
		return "only tests use the lab"
	}
	pkg, internal := strings.CutPrefix(dir, "internal/")
	if !internal || test {
		return ""
	}
	if strings.Contains(pure, " "+pkg+" ") && strings.Contains(impure, " "+i+" ") {
		return "internal/" + pkg + " is pure"
	}
	if want, ok := strings.CutPrefix(ours, "internal/"); isOurs && ok && !slices.Contains(strings.Fields(may[pkg]), want) {
		return "the table does not allow it"
	}
	return ""
}

func TestViolationsAreSeen(t *testing.T) {
	t.Parallel()
	file := func(imports ...string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("package p\nimport (\n\"" + strings.Join(imports, "\"\n\"") + "\"\n)\n")}
	}
	table := map[string]string{"model": "", "detect": "model"}
	good := fstest.MapFS{"internal/model/m.go": file("net/netip"), "internal/detect/d.go": file(module + "/internal/model"), "lab/l.go": file("os")}
	if got := violations(good, table); len(got) != 0 {
		t.Fatalf("good tree: %q", got)
	}
	for name, c := range map[string]struct {
		path string
		file *fstest.MapFile
	}{
		"core imports an edge":     {"internal/model/x.go", file(module + "/internal/detect")},
		"core reads the world":     {"internal/detect/x.go", file("os")},
		"lab imports the product":  {"lab/x.go", file(module + "/internal/model")},
		"product imports the lab":  {"internal/detect/x.go", file(module + "/lab/build")},
		"package not in the table": {"internal/util/x.go", file("fmt")},
	} {
		tree := fstest.MapFS{c.path: c.file}
		for k, v := range good {
			tree[k] = v
		}
		if got := violations(tree, table); len(got) == 0 {
			t.Errorf("%s: not seen", name)
		}
	}
	if got := violations(good, map[string]string{"model": "", "detect": "model", "gone": ""}); len(got) != 1 {
		t.Errorf("dead package in the table: %q", got)
	}
}
