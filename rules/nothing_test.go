package rules_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
)

// Nothing public panics on nil and zero values, on either side: every function and every
// method is called with them, and what cannot be used is an error, a finding or a fault.
func TestNothingPublicPanics(t *testing.T) {
	funcs := map[string]any{
		"rules.Check": rules.Check, "rules.Diff": rules.Diff, "rules.Load": rules.Load, "rules.LoadBytes": rules.LoadBytes, "rules.PolicySchema": rules.PolicySchema,
		"rules.SourceKinds": rules.SourceKinds, "rules.ValueOf": rules.ValueOf, "rules.Values": rules.Values,
		"schema.Compile": schema.Compile, "schema.FromValue": schema.FromValue, "schema.ParseJSON": schema.ParseJSON, "schema.PointerOf": schema.PointerOf[any],
		"schema.Shipped": schema.Shipped, "schema.ShippedNames": schema.ShippedNames, "schema.SplitPointer": schema.SplitPointer,
	}
	types := []any{
		new(rules.Action), rules.Budget{}, rules.Capabilities{}, &rules.Comparison{}, rules.Config{}, rules.Side{}, rules.Diagnostic{}, rules.Diagnostics{},
		rules.Difference{}, &rules.Effect{}, rules.EffectDecl{}, rules.EffectKind(""), rules.Expression{}, &rules.Fact{}, rules.FactRead{}, rules.Cause(""), rules.File{}, rules.Function{}, &rules.Index{}, rules.Input{},
		rules.Limit{}, rules.Limits{}, rules.LoadLimits{}, &rules.Loop{}, &rules.LoopInfo{}, &rules.Measure{}, &rules.Memory{}, rules.OperandStep{}, rules.Options{}, rules.Outcome(""), rules.Outline{}, rules.Part{}, rules.Pos{}, rules.Problem{},
		&rules.Program{}, rules.Read{}, rules.Related{}, &rules.Rule{}, rules.Said{}, rules.Severity(0), rules.SourceKind{}, rules.SourceOption{}, rules.SourceValue{}, rules.StartFile{}, rules.Status(""), rules.Step{},
		&rules.Trace{}, rules.TraceLevel(0), &rules.Unless{}, rules.Use{}, rules.Uses{}, rules.Value{}, &rules.Verdict{}, rules.Await{}, &rules.Waiting{}, rules.Word{}, &rules.Situation{}, &rules.PanicError{}, (*rules.Facts)(nil), (*rules.ConcurrentFacts)(nil),
		&schema.CompileError{}, schema.Document{}, schema.Kind(0), schema.Result{}, &schema.Schema{}, &schema.SyntaxError{}, &schema.Schema{}, schema.Violation{}, schema.Widening{},
	}
	// What is silent gives an empty answer to nothing: an empty list, the zero value.
	silent := map[string]bool{}
	for _, name := range strings.Fields(`rules.Diff rules.PolicySchema rules.SourceKinds rules.Values schema.PointerOf schema.Shipped schema.ShippedNames schema.SplitPointer`) {
		silent[name] = true
	}
	called := map[string]bool{}
	call := func(name string, f reflect.Value) {
		called[name] = true
		defer func() {
			if r := recover(); r != nil {
				t.Errorf("%s: %v", name, r)
			}
		}()
		var args []reflect.Value
		for i := range f.Type().NumIn() {
			if f.Type().IsVariadic() && i == f.Type().NumIn()-1 {
				break
			}
			args = append(args, reflect.Zero(f.Type().In(i)))
		}
		results := f.Call(args)
		if _, isFunc := funcs[name]; isFunc && !silent[name] && !slices.ContainsFunc(results, loud) {
			t.Errorf("%s says nothing of nothing: %v", name, results)
		}
	}
	for name, f := range funcs {
		call(name, reflect.ValueOf(f))
	}
	for _, v := range types {
		at := reflect.ValueOf(v)
		name := strings.TrimPrefix(at.Type().String(), "*")
		called[name] = true
		all := []reflect.Value{at}
		if at.Kind() == reflect.Pointer {
			all = append(all, reflect.Zero(at.Type()))
		}
		for _, at := range all {
			for i := range at.NumMethod() {
				if at.Kind() == reflect.Pointer && at.IsNil() && valueMethod(at.Type(), i) {
					continue // Go itself refuses those
				}
				switch method := at.Type().Method(i).Name; {
				case method == "Analyze", method == "HasOnlyHead", method == "WithoutShortcuts": // of the tests
				case method == "Error" && at.Kind() == reflect.Pointer && at.IsNil(): // there is no error
				default:
					call(name+"."+method, at.Method(i))
				}
			}
		}
	}
	want := map[string]bool{}
	for dir, pkg := range map[string]string{".": "rules", "../schema": "schema"} {
		exported(t, dir, pkg, want)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(called))); diff != "" {
		t.Errorf("what is public (-want +called)\n%s", diff)
	}
}

// loud reports whether a result says that something could not be used.
func loud(result reflect.Value) bool {
	switch v := result.Interface().(type) {
	case error:
		return v != nil
	case rules.Diagnostics:
		return v.Err() != nil
	case rules.Value:
		return v.Status != rules.OK
	}
	return false
}

// valueMethod reports whether a method of a pointer is one of the value.
func valueMethod(t reflect.Type, i int) bool {
	_, ok := t.Elem().MethodByName(t.Method(i).Name)
	return ok
}

// exported lists the types, functions and methods of a package.
func exported(t *testing.T, dir, pkg string, all map[string]bool) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatal("no files were found: ", err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				name := d.Name.Name
				if d.Recv != nil {
					of := d.Recv.List[0].Type
					if star, ok := of.(*ast.StarExpr); ok {
						of = star.X
					}
					if !of.(*ast.Ident).IsExported() {
						continue
					}
					name = of.(*ast.Ident).Name + "." + name
				}
				if d.Name.IsExported() {
					all[pkg+"."+name] = true
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if s, ok := spec.(*ast.TypeSpec); ok && s.Name.IsExported() {
						all[pkg+"."+s.Name.Name] = true
					}
				}
			}
		}
	}
}

// foreign answers every question with the same value.
type foreign struct{ value rules.Value }

func (f foreign) Fact(context.Context, *rules.Fact, []string) rules.Value { return f.value }
func (f foreign) Name(context.Context, string) any                        { return f.value.V }

// Invalid Go values are an error and a problem, wherever they come from.
func TestForeignValues(t *testing.T) {
	type loop struct {
		Next *loop `json:"n"`
	}
	circle := &loop{}
	circle.Next = circle
	p := load(t, policy("facts: {f: {json: f.json}}\nrules: [{name: a, when: f.n == 1, continue: x}, {name: b, when: len(cwd) > 99, continue: x}]\n"))
	for name, v := range map[string]rules.Value{
		"a channel":          {V: make(chan int)},
		"a func":             {V: func() {}},
		"a circle":           {V: circle},
		"a channel inside":   {V: map[string]any{"n": []any{make(chan int)}}},
		"a status":           {V: map[string]any{"n": 1}, Status: "good"},
		"keys of other type": {V: map[float64]any{1: 2}},
	} {
		for _, f := range []rules.Facts{foreign{v}, rules.Values(map[string]any{"f": v})} {
			if got := p.Eval(t.Context(), f, rules.Options{}); got.Action != rules.Stop || got.Cause == "" || len(got.Problems) == 0 {
				t.Errorf("%s: %+v", name, got)
			}
		}
	}
}

// Invalid words and counts are refused or reported.
func TestForeignWords(t *testing.T) {
	if b, err := rules.Action(9).MarshalText(); err == nil {
		t.Errorf("an action that is none is %s", b)
	}
	p := load(t, policy("rules: [{name: a, continue: x}]\n"))
	for _, o := range []rules.Options{{Memory: rules.Memory{Streak: -1000, Total: -1000}}, {Session: rules.Memory{Of: map[string]int{"policy.yaml": -1}}}} {
		if v := p.Eval(t.Context(), nil, o); v.Action != rules.Stop || v.Cause != rules.FaultMemory || len(v.Problems) != 1 || v.Changed {
			t.Errorf("after a negative count: %s, %q", said(v), v.Problems)
		}
	}
	if v := p.Eval(t.Context(), rules.Values(map[string]any{"now": 1, "loop.total": 2, "nosuch": 3}), rules.Options{}); len(v.Problems) != 3 {
		t.Errorf("values that nothing takes: %q", v.Problems)
	}
	if files, err := new(rules.Program).Start(t.Context(), nil, rules.Options{}, nil); err == nil {
		t.Errorf("no policy starts: %v", files)
	}
	if c := rules.Diff(p, nil, false); c.Same || len(c.Uncompared) == 0 {
		t.Errorf("nothing is like a policy: %v", c)
	}
}
