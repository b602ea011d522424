package docs_test

import (
	"errors"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// constants evaluates the package-level constants of a package of this module, by name. Whatever is no constant is not
// looked at, so that nothing has to be compiled.
func constants(t *testing.T, pkg string) map[string]constant.Value {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root(t), filepath.FromSlash(pkg), "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no files: %v", pkg, err)
	}
	fset := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, file)
	}
	config := types.Config{
		Importer:         onlyTime{},
		IgnoreFuncBodies: true,
		Error:            func(error) {}, // of what is not imported
	}
	checked, _ := config.Check(path.Base(pkg), fset, parsed, nil)
	out := map[string]constant.Value{}
	for _, name := range checked.Scope().Names() {
		if c, ok := checked.Scope().Lookup(name).(*types.Const); ok && c.Val().Kind() != constant.Unknown {
			out[name] = c.Val()
		}
	}
	return out
}

// onlyTime imports the units of time and nothing else.
type onlyTime struct{}

func (onlyTime) Import(name string) (*types.Package, error) {
	if name != "time" {
		return nil, errors.New("not imported")
	}
	pkg := types.NewPackage("time", "time")
	for unit, d := range map[string]time.Duration{"Millisecond": time.Millisecond, "Second": time.Second, "Minute": time.Minute, "Hour": time.Hour} {
		pkg.Scope().Insert(types.NewConst(token.NoPos, pkg, unit, types.Typ[types.UntypedInt], constant.MakeInt64(int64(d))))
	}
	pkg.MarkComplete()
	return pkg, nil
}
