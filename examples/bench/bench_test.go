// Package bench decides by the same conditions in three ways: as a policy of ralph, and as programs of cel-go and of expr that are run one
// after the other; over a flat map, and over one with a nested state. Its packages make one decision in six ways. It is a module of its own, so that no importer depends on cel-go.
//
//	go test -bench . -count 10
package bench

import (
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"

	"cel.dev/cel-go/cel"
	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"

	ofcel "github.com/ralph-sdk/ralph/examples/bench/cel"
	"github.com/ralph-sdk/ralph/rules"
)

// types are the fields of the state, by their types in JSON Schema.
var types = map[string]string{
	"phase": "string", "taskIndex": "integer", "totalTasks": "integer", "iteration": "integer", "maxIterations": "integer", "enabled": "boolean", "awaitingApproval": "boolean",
}

func state() map[string]any {
	return map[string]any{"phase": "execution", "taskIndex": 3, "totalTasks": 10, "iteration": 4, "maxIterations": 100, "enabled": true, "awaitingApproval": false}
}

// fields are names of the state in a condition.
var fields = regexp.MustCompile(`\b(phase|taskIndex|totalTasks|iteration|maxIterations|enabled|awaitingApproval)\b`)

// conditions are those of n rules of which only the last one holds. They are the same in the three languages.
func conditions(n int, nested bool) []string {
	out := flat(n)
	for i := range out {
		if nested {
			out[i] = fields.ReplaceAllString(out[i], "state.$1")
		}
	}
	return out
}

func flat(n int) []string {
	out := []string{
		`!enabled`, `phase != "execution"`, `taskIndex >= totalTasks`, `iteration >= maxIterations`, `awaitingApproval`,
		`taskIndex == 0 && iteration > 1`, `phase == "execution" && taskIndex > totalTasks`,
	}
	for i := len(out); i < n-1; i++ {
		out = append(out, fmt.Sprintf(`phase == "execution" && taskIndex < totalTasks && iteration > %d`, 100+i))
	}
	return append(out, `phase == "execution" && taskIndex < totalTasks && !stop_hook_active`)
}

func Benchmark8Flat(b *testing.B)    { benchmark(b, 8, false) }
func Benchmark30Flat(b *testing.B)   { benchmark(b, 30, false) }
func Benchmark8Nested(b *testing.B)  { benchmark(b, 8, true) }
func Benchmark30Nested(b *testing.B) { benchmark(b, 30, true) }

func benchmark(b *testing.B, n int, nested bool) {
	whens, env := conditions(n, nested), map[string]any{"stop_hook_active": false}
	if nested {
		env["state"] = state()
	} else {
		maps.Copy(env, state())
	}
	for name, decide := range map[string]func() (int, error){"ralph": ofRalph(b, whens, !nested), "cel": ofCEL(b, whens, env), "expr": ofExpr(b, whens, env)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if i, err := decide(); err != nil || i != n-1 {
					b.Fatalf("rule %d decides: %v", i, err)
				}
			}
		})
	}
}

// ofRalph decides by a policy. Besides the conditions it counts, renders the text, and says why.
func ofRalph(b *testing.B, whens []string, inline bool) func() (int, error) {
	var src strings.Builder
	fmt.Fprintf(&src, "ralph: 1\nfacts:\n  state:\n    value: the state of the program\n    inline: %v\n    schema:\n      properties:\n", inline)
	for name, t := range types {
		fmt.Fprintf(&src, "        %s: {type: %s}\n", name, t)
	}
	src.WriteString("rules:\n")
	for i, when := range whens {
		fmt.Fprintf(&src, "  - {name: rule%d, when: '%s', continue: text}\n", i, when)
	}
	p, err := rules.Parse("policy.yaml", []byte(src.String()))
	if err != nil {
		b.Fatal(err)
	}
	in, last := rules.Input{Values: map[string]any{"state": state()}}, fmt.Sprintf("rule%d", len(whens)-1)
	return func() (int, error) {
		v, err := p.Eval(b.Context(), in)
		if v.Rule != last {
			return -1, err
		}
		return len(whens) - 1, err
	}
}

func ofCEL(b *testing.B, whens []string, env map[string]any) func() (int, error) {
	options := []cel.EnvOption{cel.Variable("stop_hook_active", cel.BoolType), cel.Variable("state", cel.MapType(cel.StringType, cel.DynType))}
	for name, t := range types {
		options = append(options, cel.Variable(name, map[string]*cel.Type{"string": cel.StringType, "integer": cel.IntType, "boolean": cel.BoolType}[t]))
	}
	e, err := cel.NewEnv(options...)
	if err != nil {
		b.Fatal(err)
	}
	var programs []cel.Program
	for _, when := range whens {
		p, err := ofcel.Compile(e, when)
		if err != nil {
			b.Fatal(err)
		}
		programs = append(programs, p)
	}
	return func() (int, error) {
		vars, err := cel.NewActivation(env)
		if err != nil {
			return -1, err
		}
		for i, p := range programs {
			if v, _, err := p.Eval(vars); err != nil || v.Value() == true {
				return i, err
			}
		}
		return -1, nil
	}
}

func ofExpr(b *testing.B, whens []string, env map[string]any) func() (int, error) {
	var programs []*vm.Program
	for _, when := range whens {
		p, err := expr.Compile(when, expr.Env(env), expr.AsBool())
		if err != nil {
			b.Fatal(err)
		}
		programs = append(programs, p)
	}
	return func() (int, error) {
		var machine vm.VM
		for i, p := range programs {
			if v, err := machine.Run(p, env); err != nil || v == true {
				return i, err
			}
		}
		return -1, nil
	}
}
