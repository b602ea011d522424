package rules_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"

	"github.com/ralph-sdk/ralph/rules"
)

// conditions are those of a policy with n rules over one state, of which only the last one holds.
func conditions(n int) []string {
	own := []string{
		`not enabled`, `phase != "execution"`, `taskIndex >= totalTasks`, `iteration >= maxIterations`, `awaitingApproval`,
		`taskIndex == 0 and iteration > 1`, `phase == "execution" and taskIndex > totalTasks`,
	}
	out := slices.Clone(own)
	for i := len(own); i < n-1; i++ {
		out = append(out, fmt.Sprintf(`phase == "execution" and taskIndex < totalTasks and iteration > %d`, 100+i))
	}
	return append(out, `phase == "execution" && taskIndex < totalTasks && !stop_hook_active`)
}

func benchmarkEval(b *testing.B, n int) {
	state := map[string]any{"phase": "execution", "taskIndex": 3, "totalTasks": 10, "iteration": 4, "maxIterations": 100, "enabled": true, "awaitingApproval": false}
	env := map[string]any{"stop_hook_active": false}
	maps.Copy(env, state)
	var src strings.Builder
	src.WriteString(`ralph: 1
facts:
  state:
    value: the state of the program
    inline: true
    schema: {properties: {phase: {type: string}, taskIndex: {type: integer}, totalTasks: {type: integer}, iteration: {type: integer}, maxIterations: {type: integer}, enabled: {type: boolean}, awaitingApproval: {type: boolean}}}
rules:
`)
	verb := "stop"
	var programs []*vm.Program
	for i, when := range conditions(n) {
		if i == n-1 {
			verb = "continue"
		}
		fmt.Fprintf(&src, "  - {name: rule%d, when: '%s', %s: text}\n", i, when, verb)
		p, err := expr.Compile(when, expr.Env(env), expr.AsBool())
		if err != nil {
			b.Fatal(err)
		}
		programs = append(programs, p)
	}
	p, err := rules.Parse("policy.yaml", []byte(src.String()))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("rules", func(b *testing.B) {
		b.ReportAllocs()
		in := rules.Input{Values: map[string]any{"state": state}}
		for b.Loop() {
			if v, err := p.Eval(context.Background(), in); err != nil || v.Outcome != rules.Continued {
				b.Fatal(v, err)
			}
		}
	})
	b.Run("expr", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var machine vm.VM
			for _, p := range programs {
				if _, err := machine.Run(p, env); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

// The same conditions by ralph and by expr alone.
func BenchmarkEval8(b *testing.B)  { benchmarkEval(b, 8) }
func BenchmarkEval30(b *testing.B) { benchmarkEval(b, 30) }

// BenchmarkParse reads a policy of a hundred rules, whole and for one decision.
func BenchmarkParse(b *testing.B) {
	src := "ralph: 1\nfacts: {s: {json: s.json, inline: true, schema: ralph:speckit-state}}\nrules:\n"
	for i := range 100 {
		src += fmt.Sprintf("  - {name: r%d, when: phase == \"execution\" and taskIndex < totalTasks and taskIndex > %d, stop: '${taskIndex} of ${totalTasks}'}\n", i, i)
	}
	for name, opts := range map[string]rules.Options{"whole": {}, "lazy": {Lazy: true}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := opts.Parse("p.yaml", []byte(src)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
