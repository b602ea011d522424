package house

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const module = "github.com/ralph-sdk/ralph/"

// What a package does not import it cannot do. The table lists, from the bottom to the top, what each package imports of this module, and of
// the standard library what reaches files, clocks, processes or the network. Imports run one way: a package imports only what stands
// above it. An import that is not listed fails, and so does one that no file has.
var imports = []struct{ name, imports string }{
	{"internal/fatal", ""},
	{"internal/text", ""},
	{"internal/process", "os os/exec path/filepath syscall time"},
	{"internal/git", "internal/process os path/filepath time"},
	{"schema", "internal/text"},
	{"state", "os path/filepath schema syscall time"},
	{"rules", "internal/text schema time"},
	{"loop", "internal/git internal/process internal/text os os/exec path/filepath rules state syscall time"},
	{"loop/judge", "internal/process internal/text loop net/http os rules schema"},
	{"loop/looptest", "loop testing"},
	{"policytest", "internal/text loop os path/filepath rules testing time"},
	{"host", "internal/text loop os path/filepath rules state time"},
	{"run", "host internal/process internal/text loop os path/filepath rules time"},
	{"examples", ""},
	{"internal/project", "examples host internal/git internal/process internal/text loop loop/judge os path/filepath rules run state syscall time"},
	{"internal/view", "internal/project loop net net/http run time"},
	{"cmd/ralph", "examples host internal/fatal internal/process internal/project internal/text internal/view loop os os/signal path/filepath policytest rules run syscall time"},
}

// reaching are the packages of the standard library that reach beyond a computation.
var reaching = []string{"net", "net/http", "os", "os/exec", "os/signal", "path/filepath", "syscall", "testing", "time", "unsafe"}

func TestImports(t *testing.T) {
	var above []string
	for _, row := range imports {
		got := importsOf(t, row.name)
		if diff := cmp.Diff(strings.Fields(row.imports), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.name, diff)
		}
		for _, name := range got {
			if !slices.Contains(above, name) && !slices.Contains(reaching, name) {
				t.Errorf("%s imports %s, which does not stand above it", row.name, name)
			}
		}
		above = append(above, row.name)
	}
}

// importsOf returns what the files of a package import that the table lists, sorted.
func importsOf(t *testing.T, name string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(name), "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no files: %v", name, err)
	}
	got := []string{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range f.Imports {
			p, _ := strconv.Unquote(spec.Path.Value)
			p, own := strings.CutPrefix(p, module)
			if (own || slices.Contains(reaching, p)) && !slices.Contains(got, p) && p != "unsafe" {
				got = append(got, p)
			}
		}
	}
	slices.Sort(got)
	return got
}

// Each package with code is in the table, or is an example or a test.
func TestEachPackageHasARow(t *testing.T) {
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); file != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "contrib") {
				return fs.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		if path.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") || name == "." || strings.HasPrefix(name, "examples/") {
			return nil
		}
		if !slices.ContainsFunc(imports, func(row struct{ name, imports string }) bool { return row.name == name }) {
			t.Errorf("%s has no row in the table of imports", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
