package ralph_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A circle of definitions can only be understood as a whole.
const (
	maxCircle      = 20
	maxCircleLines = 500
)

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	Standard                bool
}

// TestCircles asserts that no package has a large circle: a strongly connected component of its package-level functions,
// methods and types, where a method does not belong to its type.
func TestCircles(t *testing.T) {
	pkgs := listExports(t)
	exports := map[string]string{}
	for _, p := range pkgs {
		exports[p.ImportPath] = p.Export
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	checked := 0
	for _, p := range pkgs {
		if p.Standard || !strings.HasPrefix(p.ImportPath, module) || strings.HasPrefix(p.ImportPath, module+"/next/") {
			continue
		}
		checked++
		for _, circle := range circles(t, fset, imports, p) {
			if len(circle.names) > maxCircle || circle.lines > maxCircleLines {
				t.Errorf("%s: a circle of %d definitions and %d lines; split it where one part need not know the other:\n\t%s",
					p.ImportPath, len(circle.names), circle.lines, strings.Join(circle.names, "\n\t"))
			}
		}
	}
	if checked < 20 {
		t.Errorf("only %d packages were checked", checked)
	}
}

// listExports builds every package and returns what go list says of them and of what they import.
func listExports(t *testing.T) []listed {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Standard", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	var pkgs []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}

type circle struct {
	names []string
	lines int
}

// circles returns the strongly connected components of p with more than one definition.
func circles(t *testing.T, fset *token.FileSet, imports types.Importer, p listed) []circle {
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: imports}
	if _, err := conf.Check(p.ImportPath, fset, files, info); err != nil {
		t.Fatal(err)
	}

	defs := map[types.Object]ast.Node{}
	for _, f := range files {
		for _, decl := range f.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				defs[info.Defs[d.Name]] = d
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if s, ok := spec.(*ast.TypeSpec); ok {
						defs[info.Defs[s.Name]] = s
					}
				}
			}
		}
	}
	uses := map[types.Object][]types.Object{}
	for obj, node := range defs {
		ast.Inspect(node, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				used := info.Uses[id]
				if f, ok := used.(*types.Func); ok {
					used = f.Origin()
				}
				if _, ok := defs[used]; ok && used != obj {
					uses[obj] = append(uses[obj], used)
				}
			}
			return true
		})
	}

	var found []circle
	for _, component := range components(slices.SortedFunc(maps.Keys(defs), func(a, b types.Object) int { return int(a.Pos() - b.Pos()) }), uses) {
		if len(component) < 2 {
			continue
		}
		var c circle
		for _, obj := range component {
			node := defs[obj]
			pos, end := fset.Position(node.Pos()), fset.Position(node.End())
			c.lines += end.Line - pos.Line + 1
			c.names = append(c.names, fmt.Sprintf("%s:%d: %s", filepath.Base(pos.Filename), pos.Line, obj.Name()))
		}
		slices.Sort(c.names)
		found = append(found, c)
	}
	return found
}

// components returns the strongly connected components of a graph (Tarjan 1972).
func components(nodes []types.Object, edges map[types.Object][]types.Object) [][]types.Object {
	var (
		found [][]types.Object
		stack []types.Object
		index = map[types.Object]int{}
		low   = map[types.Object]int{}
		open  = map[types.Object]bool{}
		visit func(types.Object)
	)
	visit = func(n types.Object) {
		index[n] = len(index) + 1
		low[n] = index[n]
		stack, open[n] = append(stack, n), true
		for _, m := range edges[n] {
			if index[m] == 0 {
				visit(m)
				low[n] = min(low[n], low[m])
			} else if open[m] {
				low[n] = min(low[n], index[m])
			}
		}
		if low[n] != index[n] {
			return
		}
		at := slices.Index(stack, n)
		for _, m := range stack[at:] {
			open[m] = false
		}
		found = append(found, slices.Clone(stack[at:]))
		stack = stack[:at]
	}
	for _, n := range nodes {
		if index[n] == 0 {
			visit(n)
		}
	}
	return found
}
