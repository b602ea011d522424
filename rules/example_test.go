package rules_test

import (
	"cmp"
	"context"
	"fmt"
	"testing/fstest"

	"github.com/ralph-sdk/ralph/rules"
)

// stateFile is a world that knows one fact: the content of state.json.
type stateFile struct{ state map[string]any }

func (s stateFile) Fact(_ context.Context, f *rules.Fact, args []string) rules.Value {
	if s.state == nil {
		return rules.Value{Status: rules.Missing, Problem: "is not there", Quiet: true, Path: args[0]}
	}
	return rules.Value{V: s.state, Path: args[0], Version: "1"}
}

func (stateFile) Name(context.Context, string) any { return nil } // as if the host said nothing

// A policy is loaded once and evaluated for each event, with any Facts.
func Example() {
	policies := fstest.MapFS{"tasks.yaml": {Data: []byte(`
ralph: 1
facts:
  state:
    json: state.json
    inline: true
    schema: {properties: {done: {type: integer, default: 0}, total: {type: integer, default: 0}}}
limits: {repeats: 10}
rules:
  - name: no-state
    when: missing(state)
    stop: there is nothing to do
  - name: next-task
    when: done < total
    continue: Continue with task ${done + 1} of ${total}
    then:
      - set: state.done = done + 1
`)}}
	program, diags := rules.Load(context.Background(), policies, "tasks.yaml", rules.Config{})
	if program == nil {
		fmt.Print(diags.Format())
		return
	}
	for _, state := range []map[string]any{{"done": 3, "total": 5}, {"done": 5, "total": 5}, nil} {
		v := program.Eval(context.Background(), stateFile{state}, rules.Options{})
		fmt.Printf("%s, by rule %q: %s\n", v.Action, v.Rule, cmp.Or(v.Reason, "nothing holds"))
		for _, part := range v.Parts {
			for _, e := range part.Effects {
				fmt.Println("   ", e.Kind, e.File, e.Path, "=", e.Value)
			}
		}
	}
	// Output:
	// continue, by rule "next-task": Continue with task 4 of 5
	//     set state.json [done] = 4
	// stop, by rule "": nothing holds
	// stop, by rule "no-state": there is nothing to do
}

// Format shows what is wrong as a compiler does.
func ExampleDiagnostics_Format() {
	policies := fstest.MapFS{"tasks.yaml": {Data: []byte(`ralph: 1
facts:
  state:
    json: state.json
    schema: {properties: {phase: {enum: [plan, execution], default: plan}}}
rules:
  - name: not-executing
    when: state.phaze != "execution" or state.phase == "excution"
    stop: the phase is ${state.phase}
`)}}
	_, diags := rules.Load(context.Background(), policies, "tasks.yaml", rules.Config{})
	fmt.Print(diags.Format())
	// Output:
	// tasks.yaml:8:17: unknown field "phaze"; the declared fields are "phase" [unknown-field]
	//   |
	// 8 |     when: state.phaze != "execution" or state.phase == "excution"
	//   |                 ^~~~~
	//   = help: did you mean "phase"?
	// tasks.yaml:8:56: this is never "excution"; it is one of "execution", "plan" [enum]
	//   |
	// 8 |     when: state.phaze != "execution" or state.phase == "excution"
	//   |                                                        ^~~~~~~~~~
	//   = help: did you mean "execution"?
}

// A full trace shows why each rule held or did not, down to its operands.
func ExampleProgram_Eval_trace() {
	policies := fstest.MapFS{"tasks.yaml": {Data: []byte(`ralph: 1
facts:
  state: {json: state.json, inline: true, schema: {properties: {done: {type: integer, default: 0}, total: {type: integer, default: 0}}}}
rules:
  - name: next-task
    when: done < total and not stop_hook_active
    continue: Go on
`)}}
	program, _ := rules.Load(context.Background(), policies, "tasks.yaml", rules.Config{})
	v := program.Eval(context.Background(), stateFile{map[string]any{"done": 5, "total": 5}}, rules.Options{Trace: rules.TraceFull})
	for _, step := range v.Trace.Steps {
		fmt.Printf("%s: %s, because of %s\n", step.Rule, step.Outcome, step.Because)
		for _, o := range step.Operands {
			fmt.Printf("  %s is %v\n", o.Text, o.Value)
			for _, r := range o.Reads {
				fmt.Printf("    %s is %v\n", r.Name, r.Value)
			}
		}
	}
	// Output:
	// next-task: no, because of done < total
	//   done < total is false
	//     done is 5
	//     total is 5
}

// The zero verdict lets the agent stop.
func ExampleVerdict() {
	var v rules.Verdict
	fmt.Println(v.Action)
	// Output: stop
}
