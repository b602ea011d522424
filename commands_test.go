package ralph_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The command parses, calls and prints: what a project or ralph itself keeps in files is read and written by libraries, which
// in turn know neither the command line nor the terminal. [TestDependencies] says who imports cobra, pflag and term.
func TestCommandsHaveNoFiles(t *testing.T) {
	const command = "cmd/ralph"
	terminal := map[string]bool{"Args": true, "Stdin": true, "Stdout": true, "Stderr": true}
	files := map[string]bool{}
	for name := range strings.FieldsSeq("Open OpenFile OpenRoot OpenInRoot Create CreateTemp ReadFile WriteFile ReadDir DirFS CopyFS Mkdir MkdirAll " +
		"MkdirTemp Rename Remove RemoveAll Link Symlink Truncate Chmod Chown Chtimes WalkDir Walk Glob") {
		files[name] = true
	}
	got := map[string]string{}
	for pkg := range imported(t) {
		if strings.HasPrefix(pkg, "examples") || pkg == "internal/reference" || pkg == "internal/messages" { // programs of their own, and for tests
			continue
		}
		sources, err := filepath.Glob(filepath.FromSlash(pkg) + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range sources {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				of, _ := sel.X.(*ast.Ident)
				switch {
				case of == nil:
				case pkg != command && of.Name == "os" && terminal[sel.Sel.Name], pkg == command && (of.Name == "os" || of.Name == "filepath") && files[sel.Sel.Name]:
					got[filepath.ToSlash(name)] += of.Name + "." + sel.Sel.Name + " "
				}
				return true
			})
		}
	}
	want := map[string]string{
		"internal/process/watch_unix.go": "os.Stdin os.Stdout os.Stderr os.Args ", // a watch is a whole program

		"temporal/cmd/ralph-worker/main.go": "os.Stdout os.Stderr os.Args ", // another command

		"cmd/ralph/input.go": "os.Open os.Open ",  // what the user names: an event, a policy, or a prompt outside the project
		"cmd/ralph/test.go":  "filepath.WalkDir ", // the paths of ralph test, which the user names
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("who reads and writes what (-want +got)\n%s", diff)
	}
}
