package runtest_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ralph-sdk/ralph/run"
	"github.com/ralph-sdk/ralph/run/runtest"
)

// stream is what Codex prints.
var stream = runtest.Stream{Name: "stream", Stdout: []byte(`{"type":"thread.started","thread_id":"0199c0de-0000-7000-8000-00000000c0de"}
{"type":"turn.started"}
{"type":"item.completed","item":{"type":"agent_message","text":"Done."}}
{"type":"turn.completed","usage":{"input_tokens":10,"output_tokens":5}}
`)}

var args = []string{"codex", "exec", "-m", "x"}

func TestAdapter(t *testing.T) { runtest.Adapter(t, run.Codex(), args, stream) }

// mutant breaks one promise of an adapter that keeps the others.
type mutant struct {
	run.Adapter
	name    func() string
	command func(run.Adapter, run.Invocation) (run.Command, error)
	output  func(run.Output) run.Output
}

func (m mutant) Name() string {
	if m.name != nil {
		return m.name()
	}
	return m.Adapter.Name()
}

func (m mutant) Command(i run.Invocation) (run.Command, error) {
	if m.command != nil {
		return m.command(m.Adapter, i)
	}
	return m.Adapter.Command(i)
}

func (m mutant) Output() run.Output {
	o := m.Adapter.Output()
	if m.output != nil {
		o = m.output(o)
	}
	return o
}

// changed is an output with another result, or one that does more with a line.
type changed struct {
	run.Output
	line   func([]byte)
	result func(run.Process, run.Result) run.Result
}

func (c changed) Line(b []byte) (string, run.Outcome) {
	if c.line != nil {
		c.line(b)
	}
	return c.Output.Line(b)
}

func (c changed) Result(p run.Process) run.Result {
	r := c.Output.Result(p)
	if c.result != nil {
		r = c.result(p, r)
	}
	return r
}

func result(f func(p run.Process, r run.Result) run.Result) func(run.Output) run.Output {
	return func(o run.Output) run.Output { return changed{Output: o, result: f} }
}

func command(f func(c *run.Command, i run.Invocation)) func(run.Adapter, run.Invocation) (run.Command, error) {
	return func(a run.Adapter, i run.Invocation) (run.Command, error) {
		c, err := a.Command(i)
		f(&c, i)
		return c, err
	}
}

var (
	sharedLines int
	calls       int
	cost        = 1.0
)

// mutants are adapters that are wrong, by the tests that find it.
var mutants = map[string]struct {
	mutant
	finds string
}{
	"no name":            {mutant{name: func() string { return "" }}, "name"},
	"changes the caller": {mutant{command: command(func(_ *run.Command, i run.Invocation) { _ = append(i.Args, "--json") })}, "arguments_are_kept"},
	"loses a flag":       {mutant{command: command(func(c *run.Command, _ run.Invocation) { c.Args = append(c.Args[:2:2], c.Args[4:]...) })}, "arguments_are_kept"},
	"another program":    {mutant{command: command(func(c *run.Command, _ run.Invocation) { c.Args = append([]string{"env"}, c.Args...) })}, "arguments_are_kept"},
	"never the same":     {mutant{command: command(func(c *run.Command, _ run.Invocation) { calls++; c.Args = append(c.Args, fmt.Sprint(calls)) })}, "arguments_are_kept"},
	"trims the prompt":   {mutant{command: command(func(c *run.Command, _ run.Invocation) { c.Stdin = strings.TrimSpace(c.Stdin) })}, "the_prompt_arrives_whole"},
	"prompt twice":       {mutant{command: command(func(c *run.Command, i run.Invocation) { c.Args = append(c.Args, i.Prompt) })}, "the_prompt_arrives_whole"},
	"a long argument": {mutant{command: command(func(c *run.Command, i run.Invocation) {
		c.Args, c.Stdin = append(c.Args[:len(c.Args)-1], i.Prompt), ""
	})}, "the_prompt_arrives_whole"},
	"always the same session": {mutant{command: func(a run.Adapter, i run.Invocation) (run.Command, error) {
		i.Session = "0199c0de-0000-7000-8000-00000000c0de"
		return a.Command(i)
	}}, "a_session_goes_on"},
	"negative tokens":     {mutant{output: result(func(_ run.Process, r run.Result) run.Result { r.Used = -1; return r })}, "nothing_printed"},
	"cost unannounced":    {mutant{output: result(func(_ run.Process, r run.Result) run.Result { r.Cost = &cost; return r })}, "stream/the_result_is_usable"},
	"window unannounced":  {mutant{output: result(func(_ run.Process, r run.Result) run.Result { r.Window = 1; return r })}, "stream/the_result_is_usable"},
	"times out by itself": {mutant{output: result(func(_ run.Process, r run.Result) run.Result { r.Outcome = run.Timeout; return r })}, "stream/the_result_is_usable"},
	"resets":              {mutant{output: result(func(_ run.Process, r run.Result) run.Result { r.ResetsAt = time.Unix(1, 0); return r })}, "stream/the_result_is_usable"},
	"broken text":         {mutant{output: result(func(_ run.Process, r run.Result) run.Result { r.Text = "\xff"; return r })}, "stream/the_result_is_usable"},
	"killed is ok": {mutant{output: result(func(p run.Process, r run.Result) run.Result {
		if p.Signal != "" {
			r.Outcome = run.OK
		}
		return r
	})}, "stream/a_killed_process_is_not_ok"},
	"keeps a line": {mutant{output: func(o run.Output) run.Output {
		var last []byte
		return changed{o, func(b []byte) { last = b }, func(_ run.Process, r run.Result) run.Result {
			r.Text = string(last)
			return r
		}}
	}}, "stream/the_result_is_usable"},
	"one output": {mutant{output: func(o run.Output) run.Output {
		return changed{o, func([]byte) { sharedLines++ }, func(_ run.Process, r run.Result) run.Result {
			r.Text = fmt.Sprint(sharedLines)
			return r
		}}
	}}, "stream/the_result_is_usable"},
	"needs whole records": {mutant{output: func(o run.Output) run.Output {
		return changed{Output: o, line: func(b []byte) {
			if len(b) > 2 && b[0] == '{' {
				_ = b[len(b)-1] == '}' || b[len(b)] == 0
			}
		}}
	}}, "stream/any_part_of_it"},
	"counts lines": {mutant{output: func(o run.Output) run.Output {
		n := 0
		return changed{o, func([]byte) { n++ }, func(_ run.Process, r run.Result) run.Result {
			r.Used += n
			return r
		}}
	}}, "stream/other_lines"},
	"forgets nothing": {mutant{output: func(o run.Output) run.Output {
		var all [][]byte
		return changed{o, func(b []byte) { all = append(all, []byte(string(b))) }, func(_ run.Process, r run.Result) run.Result {
			r.Problem = fmt.Sprint(len(all))
			return r
		}}
	}}, "memory"},
}

// TestMutants tests the mutant that a variable names, in a separate process for each, since it must fail.
func TestMutants(t *testing.T) {
	if name := os.Getenv("RUNTEST_MUTANT"); name != "" {
		m := mutants[name].mutant
		m.Adapter = run.Codex()
		runtest.Adapter(t, m, args, stream)
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range mutants {
		cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestMutants$", "-test.timeout=1m")
		cmd.Env = append(os.Environ(), "RUNTEST_MUTANT="+name)
		out, err := cmd.CombinedOutput()
		if err == nil {
			t.Errorf("nothing is found wrong with %q", name)
		}
		if !strings.Contains(string(out), "--- FAIL: TestMutants/"+m.finds+" ") {
			t.Errorf("the test %s finds nothing wrong with %q:\n%s", m.finds, name, out)
		}
	}
}
