package ralph_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const module = "github.com/ralph-sdk/ralph"

// Packages know each other in one direction only:
//
//	cmd/ralph ─> loop ─> rules ─> schema
//	    │         ├───> state ─> schema    files of a project
//	    │         ├───> internal/store     ralph's own files
//	    └> rules  └───> loop/{host,transcript}
//
// loop/judge is a source of loop that cmd/ralph adds.
//
// The policies and guards in examples are plain files, which loop hands to rules.
func TestImports(t *testing.T) {
	allowed := map[string][]string{
		"internal/jsonedit":      {"schema"},
		"internal/nearest":       {},
		"internal/store":         {"internal/syserr"},
		"internal/syserr":        {},
		"internal/regexpsize":    {},
		"schema":                 {"internal/nearest", "internal/regexpsize"},
		"state":                  {"internal/jsonedit", "internal/syserr", "schema"},
		"rules/internal/source":  {},
		"rules/internal/solve":   {},
		"rules":                  {"internal/nearest", "rules/internal/form", "rules/internal/solve", "rules/internal/source", "schema"},
		"rules/internal/form":    {},
		"rules/format":           {"rules", "rules/internal/source"},
		"rules/testfile":         {"internal/nearest", "rules", "rules/internal/source"},
		"loop/host":              {},
		"loop/transcript":        {},
		"loop/judge":             {"loop", "rules", "schema"},
		"loop/simulate":          {"loop", "loop/host", "rules", "schema", "state"},
		"loop/replay":            {"loop", "rules", "schema"},
		"loop/policytest":        {"examples", "internal/nearest", "loop", "loop/host", "loop/transcript", "rules", "rules/testfile", "schema", "state"},
		"loop":                   {"examples", "internal/store", "loop/host", "loop/transcript", "rules", "schema", "state"},
		"examples":               {},
		"examples/embed/minimal": {"loop", "rules"},
		"examples/embed/source":  {"loop", "rules", "schema", "state"},
		"cmd/ralph": {
			"examples", "internal/jsonedit", "internal/store", "loop", "loop/host", "loop/judge", "loop/policytest", "loop/replay", "loop/simulate",
			"rules", "rules/format", "rules/testfile", "schema", "state",
		},
	}
	for pkg, imports := range imported(t) {
		may, known := allowed[pkg]
		if !known {
			t.Errorf("the package %s has no place in the graph: say here what it may import", pkg)
			continue
		}
		for _, name := range imports {
			if own, ok := strings.CutPrefix(name, module+"/"); ok && !slices.Contains(may, own) {
				t.Errorf("%s imports %s", pkg, own)
			}
		}
	}
}

// What a package does not import it cannot do: decisions are made by packages that
// reach neither files nor processes, and only the judge reaches the network.
func TestPurePackages(t *testing.T) {
	world := []string{"os", "os/exec", "os/signal", "os/user", "path/filepath", "net", "net/http", "crypto/tls", "plugin", "unsafe", "C"}
	network := []string{"net", "net/http", "crypto/tls", "plugin", "C"}
	denied := map[string][]string{
		"internal/jsonedit":     world,
		"internal/nearest":      world,
		"schema":                world,
		"rules":                 world,
		"rules/internal/source": world,
		"rules/internal/solve":  world,
		"rules/internal/form":   world,
		"rules/format":          world,
		"rules/testfile":        world,
		"loop/host":             slices.Concat(world, []string{"time"}),
		"loop/transcript":       network,
		"internal/store":        network,
		"state":                 network,
		"loop":                  network,
		"cmd/ralph": {
			"examples", "loop", "loop/host", "loop/policytest", "loop/replay", "loop/simulate",
			"rules", "rules/testfile", "schema", "state",
		},
	}
	for pkg, imports := range imported(t) {
		for _, name := range imports {
			if slices.Contains(denied[pkg], name) {
				t.Errorf("%s imports %s", pkg, name)
			}
		}
	}
}

// An importer pays for what it uses: what a package links, through whatever it
// imports, leaves these out.
func TestLinks(t *testing.T) {
	for pkg, denied := range map[string][]string{
		"rules": {"net/http", "crypto/tls", "os/exec"},
		"loop":  {"net/http", "crypto/tls"},
	} {
		out, err := exec.Command("go", "list", "-deps", "./"+pkg).Output()
		if err != nil {
			t.Fatal(err)
		}
		linked := strings.Fields(string(out))
		if len(linked) < 10 {
			t.Errorf("%s links %q", pkg, linked)
		}
		for _, name := range denied {
			if slices.Contains(linked, name) {
				t.Errorf("%s links %s", pkg, name)
			}
		}
	}
}

// Each dependency is linked in one place, so that replacing it, or paying for its
// start, is the business of one package.
func TestDependencies(t *testing.T) {
	got := map[string][]string{}
	for pkg, imports := range imported(t) {
		for _, name := range imports {
			host, _, _ := strings.Cut(name, "/")
			if !strings.Contains(host, ".") || strings.HasPrefix(name, module) {
				continue
			}
			lib := strings.Join(strings.SplitN(name, "/", 4)[:min(3, strings.Count(name, "/")+1)], "/")
			if !slices.Contains(got[lib], pkg) {
				got[lib] = append(got[lib], pkg)
			}
		}
	}
	for _, pkgs := range got {
		slices.Sort(pkgs)
	}
	want := map[string][]string{
		"github.com/bmatcuk/doublestar":         {"state"},
		"github.com/expr-lang/expr":             {"rules"},
		"github.com/gofrs/flock":                {"internal/store"},
		"github.com/mattn/go-isatty":            {"cmd/ralph"},
		"github.com/santhosh-tekuri/jsonschema": {"schema"},
		"github.com/spf13/cobra":                {"cmd/ralph"},
		"github.com/spf13/pflag":                {"cmd/ralph"},
		"go.yaml.in/yaml/v3":                    {"cmd/ralph", "rules/internal/source", "state"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("who imports what (-want +got)\n%s", diff)
	}
}

// imported lists what the files of each package import, without its tests, by the
// folder of the package.
func imported(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		switch {
		case d.IsDir() && name != "." && (strings.HasPrefix(base, ".") || base == "testdata" || base == "tools"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(base, ".go") || strings.HasSuffix(base, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		pkg := path.Dir(filepath.ToSlash(name))
		if out[pkg] == nil {
			out[pkg] = []string{}
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if !slices.Contains(out[pkg], imported) {
				out[pkg] = append(out[pkg], imported)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) == 0 {
		t.Fatal("no packages were found")
	}
	return out
}
