package rules_test

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The package has three kinds of files. Words are types and helpers that every stage
// may use. Stages are files named STAGE_what.go. Doors call the stages.
//
//	words <── parse <── compile <── eval    <── doors
//	                       └─────── analyze <─────┘
//
// A file refers only to its own kind and to what it is allowed here.
func TestStages(t *testing.T) {
	words := []string{
		"config", "diagnostic", "display", "go_parts", "go_struct", "go_values", "index", "language", "list", "loop_info", "memory", "meter", "mistakes", "names", "options", "private", "problem", "source_kinds", "storable", "uses", "value", "verdict",
	}
	doors := []string{"check", "doc", "load", "policyschema"}
	allowed := map[string][]string{
		"words":   {},
		"parse":   {"words"},
		"compile": {"words", "parse"},
		"eval":    {"words", "parse", "compile"},
		"analyze": {"words", "parse", "compile"},
		"doors":   {"words", "parse", "compile", "eval", "analyze"},
	}
	kind := func(file string) string {
		base := strings.TrimSuffix(file, ".go")
		switch stage, _, _ := strings.Cut(base, "_"); {
		case slices.Contains(words, base):
			return "words"
		case slices.Contains(doors, base):
			return "doors"
		case stage != base && allowed[stage] != nil:
			return stage
		}
		return ""
	}
	files, uses := references(t)
	for _, file := range files {
		if kind(file) == "" {
			t.Errorf("%s is no stage: name it STAGE_what.go, or say here that it is a word or a door", file)
		}
	}
	for _, name := range slices.Concat(words, doors) {
		if !slices.Contains(files, name+".go") {
			t.Errorf("there is no file %s.go any more", name)
		}
	}
	for _, u := range uses {
		from, to := kind(u.from), kind(u.to)
		if from != to && from != "" && to != "" && !slices.Contains(allowed[from], to) {
			t.Errorf("%s: %s refers to %s in %s, and %s must not refer to %s", u.at, u.from, u.name, u.to, from, to)
		}
	}
	if len(uses) < 1000 {
		t.Errorf("only %d references between files were found", len(uses))
	}
}

// use is a name in one file that is declared in another.
type use struct{ from, to, name, at string }

// references type-checks the package and lists its files, without tests, and what
// they use of one another: types, functions, constants, methods and fields.
func references(t *testing.T) (names []string, uses []use) {
	t.Helper()
	out, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		exports[path] = file
	}
	fset := token.NewFileSet()
	found, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range found {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		names, files = append(names, name), append(files, file)
	}
	conf := types.Config{Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("%s was not compiled", path)
		}
		return os.Open(exports[path])
	})}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	pkg, err := conf.Check("rules", fset, files, info)
	if err != nil {
		t.Fatal(err)
	}
	for id, object := range info.Uses {
		if object.Pkg() != pkg {
			continue
		}
		at, declared := fset.Position(id.Pos()), fset.Position(object.Pos())
		if at.Filename != declared.Filename {
			uses = append(uses, use{at.Filename, declared.Filename, id.Name, at.String()})
		}
	}
	slices.SortFunc(uses, func(a, b use) int { return strings.Compare(a.at, b.at) })
	return names, uses
}
