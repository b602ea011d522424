package step_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/run/step"
)

var begun = time.Date(2026, 1, 1, 22, 0, 0, 0, time.UTC)

// play passes inputs to a run, each a minute after the previous one and with the key of the command that is due, and
// returns what happened in words: events, and the command after each input.
func play(s step.State, inputs ...step.Input) (step.State, []string) {
	var got []string
	at := s.At
	if at.IsZero() {
		at = begun
	}
	for _, in := range inputs {
		at = at.Add(time.Minute)
		in.At, in.Key = at, s.Due.Key
		var events []step.Event
		s, events, _ = s.Step(in)
		words := []string{string(in.Kind) + ":"}
		for _, ev := range events {
			words = append(words, strings.Trim(string(ev.Kind)+" "+string(ev.Outcome)+string(ev.Ended), " ")+",")
		}
		got = append(got, strings.Join(append(words, string(s.Due.Kind)), " "))
	}
	return s, got
}

var (
	start   = step.Input{Kind: step.Start}
	resume  = step.Input{Kind: step.Resume}
	lost    = step.Input{Kind: step.Lost}
	none    = step.Input{Kind: step.NotStarted, Why: "no agent"}
	elapsed = step.Input{Kind: step.Elapsed}
	pause   = step.Input{Kind: step.Pause}
	goOn    = step.Input{Kind: step.Go}
	merged  = step.Input{Kind: step.Merged}
	stop    = step.Input{Kind: step.Stop}
	later   = step.Input{Kind: step.Stop, Later: true}
	answer  = step.Input{Kind: step.Answer, Answer: step.Text{Text: "yes"}}
	again   = step.Input{Kind: step.Decided, Decision: &step.Decision{Action: "continue", Prompt: step.Text{Text: "go"}}}
	done    = step.Input{Kind: step.Decided, Decision: &step.Decision{Action: "stop", End: step.Success}}
	still   = step.Input{Kind: step.Awaited, Waits: true}
	over    = step.Input{Kind: step.Awaited}
	ask     = step.Input{Kind: step.Decided, Decision: &step.Decision{Action: "ask", End: step.Asked, Why: "which?"}}
)

func ended(o step.Outcome) step.Input {
	return step.Input{Kind: step.Iterated, Iteration: &step.Iteration{Outcome: o}}
}

// denied is an iteration in which commands were denied.
func denied(commands ...string) step.Input {
	in := ended(step.OK)
	for _, c := range commands {
		in.Iteration.Denied = append(in.Iteration.Denied, step.Denial{Tool: "Bash", Input: c})
	}
	return in
}

// refused is an input with which the client refuses to start an iteration.
func refused(in step.Input) step.Input {
	in.Refused = "the prompt is too long"
	return in
}

// uses is an iteration after which so many percent of the usage window are used.
func uses(percent float64) step.Input {
	return step.Input{Kind: step.Iterated, Iteration: &step.Iteration{Outcome: step.OK, Window: percent}}
}

// waits is a decision to wait until so many minutes after begun.
func waits(minutes time.Duration) step.Input {
	return step.Input{Kind: step.Decided, Decision: &step.Decision{Action: "wait", Rule: "ci", Why: "CI", Wait: &step.Awaiting{Until: begun.Add(minutes * time.Minute), Every: time.Minute}}}
}

func TestStep(t *testing.T) {
	plan := step.Plan{ID: "r", Limits: step.Limits{Iterations: 4, Elapsed: time.Hour}}
	with := func(change func(*step.Plan)) step.Plan {
		p := plan
		change(&p)
		return p
	}
	for _, c := range []struct {
		name   string
		plan   step.Plan
		inputs []step.Input
		want   []string
	}{
		{"a rule waits", plan, []step.Input{start, waits(10), elapsed, still, elapsed, over, again}, []string{
			"start: run_start, decide", "decided: verdict, waiting, wait", "elapsed: await", "awaited: wait", "elapsed: await", "awaited: decide", "decided: verdict, iteration_start, iterate",
		}},
		{"a rule waits as long as it may", plan, []step.Input{start, waits(3), elapsed, done}, []string{
			"start: run_start, decide", "decided: verdict, waiting, wait", "elapsed: decide", "decided: verdict, run_end success, finish",
		}},
		{"the time is over while a rule waits", with(func(p *step.Plan) { p.Limits.Elapsed = 3 * time.Minute }), []step.Input{start, waits(90), elapsed, still, resume}, []string{
			"start: run_start, decide", "decided: verdict, waiting, wait", "elapsed: await", "awaited: run_end waiting, finish", "resume: run_resume, decide",
		}},
		{"killed while a rule waits, and while it is looked", plan, []step.Input{start, waits(90), resume, elapsed, resume, over}, []string{
			"start: run_start, decide", "decided: verdict, waiting, wait", "resume: run_resume, waiting, wait", "elapsed: await", "resume: run_resume, await", "awaited: decide",
		}},
		{"paused while a rule waits", plan, []step.Input{start, waits(90), pause, elapsed, goOn, waits(90), stop}, []string{
			"start: run_start, decide", "decided: verdict, waiting, wait", "pause: wait", "elapsed: waiting, wait", "go: decide", "decided: verdict, waiting, wait", "stop: run_end interrupted, finish",
		}},
		{"stopped while it is looked whether a rule still waits", plan, []step.Input{start, waits(90), elapsed, stop, still}, []string{
			"start: run_start, decide", "decided: verdict, waiting, wait", "elapsed: await", "stop: await", "awaited: run_end interrupted, finish",
		}},
		{"interrupted while the policy decides to wait", plan, []step.Input{start, later, waits(90)}, []string{
			"start: run_start, decide", "stop: decide", "decided: verdict, run_end interrupted, finish",
		}},
		{"success", plan, []step.Input{start, again, ended(step.OK), done}, []string{
			"start: run_start, decide", "decided: verdict, iteration_start, iterate", "iterated: iteration_end ok, decide", "decided: verdict, run_end success, finish",
		}},
		{"a prompt and merges", with(func(p *step.Plan) { p.Prompt.Text, p.Merge = "begin", true }), []step.Input{start, again, ended(step.OK), merged, done}, []string{
			"start: run_start, look", "decided: iteration_start, iterate", "iterated: iteration_end ok, merge", "merged: decide", "decided: verdict, run_end success, finish",
		}},
		{"the usage window", with(func(p *step.Plan) { p.Limits.Window = 80 }), []step.Input{start, again, uses(79), again, uses(0), again, uses(81), again, resume}, []string{
			"start: run_start, decide", "decided: verdict, iteration_start, iterate", "iterated: iteration_end ok, decide", "decided: verdict, iteration_start, iterate",
			"iterated: iteration_end ok, decide", "decided: verdict, iteration_start, iterate", "iterated: iteration_end ok, decide", "decided: verdict, run_end limit, finish",
			"resume: run_resume, iteration_start, iterate", // another window may have begun
		}},
		{"an agent that is not started is no iteration", plan, []step.Input{start, again, none, resume}, []string{
			"start: run_start, decide", "decided: verdict, iteration_start, iterate", "not_started: run_end failed, finish", "resume: run_resume, iteration_start, iterate",
		}},
		{"lost three times", plan, []step.Input{start, again, lost, lost, lost}, []string{
			"start: run_start, decide", "decided: verdict, iteration_start, iterate", "lost: iteration_end lost, iteration_start, iterate",
			"lost: iteration_end lost, iteration_start, iterate", "lost: iteration_end lost, run_end lost, finish",
		}},
		{"lost three times, killed", plan, []step.Input{start, again, resume, resume, resume, resume}, []string{
			"start: run_start, decide", "decided: verdict, iteration_start, iterate", "resume: run_resume, iteration_end lost, iteration_start, iterate",
			"resume: run_resume, iteration_end lost, iteration_start, iterate", "resume: run_resume, iteration_end lost, run_end lost, finish",
			"resume: run_resume, iteration_start, iterate", // a person wants it, so they begin again
		}},
		{"denied the same twice", plan, []step.Input{start, again, denied("make", "push"), again, denied("push", "curl"), again, resume, again, denied("push")}, []string{
			"start: run_start, decide", "decided: verdict, iteration_start, iterate", "iterated: iteration_end ok, decide", "decided: verdict, iteration_start, iterate",
			"iterated: iteration_end ok, decide", "decided: verdict, run_end denied, finish",
			"resume: run_resume, decide", "decided: verdict, iteration_start, iterate", "iterated: iteration_end ok, decide",
		}},
		{"denied the same twice, but done", plan, []step.Input{start, again, denied("push"), again, denied("push"), done}, []string{
			"start: run_start, decide", "decided: verdict, iteration_start, iterate", "iterated: iteration_end ok, decide", "decided: verdict, iteration_start, iterate",
			"iterated: iteration_end ok, decide", "decided: verdict, run_end success, finish",
		}},
		{"denied different things, and the same with an iteration between", plan, []step.Input{start, again, denied("push"), again, denied("curl"), again, denied("push"), again}, []string{
			"start: run_start, decide", "decided: verdict, iteration_start, iterate", "iterated: iteration_end ok, decide", "decided: verdict, iteration_start, iterate",
			"iterated: iteration_end ok, decide", "decided: verdict, iteration_start, iterate", "iterated: iteration_end ok, decide", "decided: verdict, iteration_start, iterate",
		}},
		{"refused before it starts", plan, []step.Input{start, refused(again), resume, again, ended(step.RateLimited), refused(elapsed), refused(resume)}, []string{
			"start: run_start, decide", "decided: verdict, run_end failed, finish", "resume: run_resume, iteration_start, iterate", "decided: iterate",
			"iterated: iteration_end rate_limited, waiting, wait", "elapsed: run_end failed, finish", "resume: run_resume, waiting, wait",
		}},
		{"refused, but it does not start", plan, []step.Input{refused(start), refused(done)}, []string{"start: run_start, decide", "decided: verdict, run_end success, finish"}},
		{"killed in an iteration", plan, []step.Input{start, again, resume}, []string{
			"start: run_start, decide", "decided: verdict, iteration_start, iterate", "resume: run_resume, iteration_end lost, iteration_start, iterate",
		}},
		{"a rate limit", plan, []step.Input{start, again, ended(step.RateLimited), elapsed}, []string{
			"start: run_start, decide", "decided: verdict, iteration_start, iterate", "iterated: iteration_end rate_limited, waiting, wait", "elapsed: iteration_start, iterate",
		}},
		{"paused in an iteration", plan, []step.Input{start, again, pause, ended(step.OK), goOn}, []string{
			"start: run_start, decide", "decided: verdict, iteration_start, iterate", "pause: iterate", "iterated: iteration_end ok, waiting, wait", "go: decide",
		}},
		{"stopped in an iteration", plan, []step.Input{start, again, stop, ended(step.OK)}, []string{
			"start: run_start, decide", "decided: verdict, iteration_start, iterate", "stop: iterate", "iterated: iteration_end ok, run_end interrupted, finish",
		}},
		{"stopped while paused", plan, []step.Input{pause, start, stop}, []string{"pause: ", "start: run_start, waiting, wait", "stop: run_end interrupted, finish"}},
		{"a question", plan, []step.Input{start, ask, resume}, []string{"start: run_start, decide", "decided: verdict, run_end asked, finish", "resume: run_resume, decide"}},
		{"a question that waits", with(func(p *step.Plan) { p.Await = true }), []step.Input{start, ask, answer}, []string{
			"start: run_start, decide", "decided: verdict, waiting, wait", "answer: decide",
		}},
		{"answers that fit nothing", plan, []step.Input{start, elapsed, merged, ended(step.OK), answer, lost, start}, []string{
			"start: run_start, decide", "elapsed: decide", "merged: decide", "iterated: decide", "answer: decide", "lost: decide", "start: decide",
		}},
	} {
		if _, got := play(step.New(c.plan), c.inputs...); !cmp.Equal(c.want, got) {
			t.Errorf("%s (-want +got)\n%s", c.name, cmp.Diff(c.want, got))
		}
	}
}

// A command that a killed driver left has the same key, so that a decision made twice counts once; a new one has another.
func TestKeys(t *testing.T) {
	s, _ := play(step.New(step.Plan{ID: "r"}), start)
	killed, _ := play(s, resume)
	asked, _ := play(s, ask, resume)
	if s.Due.Key != killed.Due.Key || s.Due.Key == asked.Due.Key {
		t.Errorf("keys %q, resumed %q, after an end %q", s.Due.Key, killed.Due.Key, asked.Due.Key)
	}
	late := again
	late.Key = "r/0/0"
	if after, events, _ := s.Step(late); len(events) > 0 || after.Due != s.Due {
		t.Errorf("the answer to another command counts: %v", events)
	}
}

// The time of a run is that in which its drivers live.
func TestLived(t *testing.T) {
	s, _ := play(step.New(step.Plan{ID: "r"}), start, ask) // a minute later
	s.At = s.At.Add(9 * time.Hour)
	s, _ = play(s, resume, ask)
	if s.Elapsed != 2*time.Minute {
		t.Errorf("it lived %s", s.Elapsed)
	}
}

// A state has at most 64 KiB, whatever it keeps, also of characters that JSON escapes. Longer texts are cut or refused.
func TestSize(t *testing.T) {
	for _, char := range []string{"x", "\x01", "<", "…", "\xff"} {
		endless := strings.Repeat(char, 1<<14)
		long := step.Text{Text: strings.Repeat(char, sort.Search(1<<13, func(n int) bool { return !step.Fits(strings.Repeat(char, n)) })-1)}
		planned := func(n int) step.Plan {
			return step.Plan{ID: "r", Prompt: long, Args: []string{strings.Repeat(char, n)}, Await: true}
		}
		plan := planned(sort.Search(1<<15, func(n int) bool { return planned(n).Check() != nil }) - 1)
		again := step.Input{Kind: step.Decided, Decision: &step.Decision{Action: "continue", Prompt: long, Memory: long}}
		works := step.Input{Kind: step.Iterated, Iteration: &step.Iteration{Outcome: step.OK, Text: long, Problem: endless, Session: endless, Transcript: endless, Used: 1}}
		for i := range 2 * step.MaxDenied {
			works.Iteration.Denied = append(works.Iteration.Denied, step.Denial{Tool: endless, Input: strconv.Itoa(i) + endless, Why: endless, Allow: strings.Repeat(char, 80)})
		}
		asks := step.Input{Kind: step.Decided, Decision: &step.Decision{Action: "ask", End: step.Asked, Why: endless}}
		pauses := step.Input{Kind: step.Pause, Why: endless}
		most, s := 0, step.New(plan)
		for _, in := range []step.Input{
			start, again, works, asks, {Kind: step.Answer, Answer: long}, again, works, asks, pauses, {Kind: step.Stop, Why: endless}, {Kind: step.Stop, Why: endless},
			resume, goOn, asks, {Kind: step.Broken, Why: endless},
		} {
			s, _ = play(s, in)
			b, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			most = max(most, len(b))
		}
		if most > 64<<10 || most < 32<<10 {
			t.Errorf("states with %q have up to %d bytes", char, most)
		}
		long.Text += char
		if s, _ := play(step.New(plan), start, step.Input{Kind: step.Decided, Decision: &step.Decision{Prompt: long}}); s.Final == nil || s.Final.End != step.Failed {
			t.Errorf("a longer text of %q is kept: %+v", char, s.Final)
		}
	}
}

// Whatever happens, a run ends within its limits, a state is small, and its JSON form continues as the state does.
func FuzzStep(f *testing.F) {
	f.Add([]byte("0123456789abcdefghijklmnopqrstuvwxyz"))
	f.Add([]byte{0, 13, 14, 13, 1, 13, 2, 13, 3, 13, 4, 200, 100})
	f.Add([]byte{22, 23, 22}) // waits
	f.Fuzz(func(t *testing.T, noise []byte) {
		plan := step.Plan{ID: "r", Args: []string{"agent"}, Limits: step.Limits{Iterations: 5, Elapsed: time.Hour}, Merge: len(noise)%2 == 0, Await: len(noise)%3 == 0}
		s, at := step.New(plan), begun
		long := step.Text{Text: strings.Repeat("x", step.MaxText)}
		why := strings.Repeat("\x01", 1<<16)
		fits := step.Text{Text: why[:step.MaxText/6]}
		many := []step.Denial{{Tool: why, Input: why, Why: why, Allow: why}}
		for i := range 2 * step.MaxDenied {
			many = append(many, step.Denial{Tool: why, Input: strconv.Itoa(i) + why, Why: why, Allow: why[:400]})
		}
		inputs := []step.Input{
			start, lost, none, elapsed, pause, goOn, merged, stop, answer, again, ask, ended(step.OK), ended(step.RateLimited), ended(step.Crashed),
			{Kind: step.Iterated, Iteration: &step.Iteration{Outcome: step.Outcome(why), Text: long, Problem: why, Session: why, Transcript: why, Tokens: 1 << 62, Denied: many}},
			refused(again), denied("push"),
			{Kind: step.Decided, Decision: &step.Decision{Prompt: long, Memory: long, Rule: why, Why: why}},
			{Kind: step.Stop, Why: why}, {Kind: step.Broken, Why: why}, {Kind: step.Pause, Why: why}, {Kind: step.Answer, Answer: fits}, waits(9), still, over,
		}
		s, _, cmd := s.Step(step.Input{Kind: step.Start, At: at})
		starts := s.Iterations
		for i := 0; cmd.Kind != step.Finish; i++ {
			if i > 1000+len(noise) {
				t.Fatalf("it does not end: %+v", s)
			}
			in := elapsed // a driver that answers what is due, and noise
			switch cmd.Kind {
			case step.Iterate:
				in = ended(step.OK)
			case step.Decide, step.Look:
				in = again
			case step.Merge:
				in = merged
			case step.Await:
				in = still
			}
			if i < len(noise) {
				in = inputs[int(noise[i])%len(inputs)]
				at = at.Add(time.Duration(int8(noise[i])) * time.Second) // clocks go back, too
			}
			if cmd.Kind == step.Wait && in.Kind == step.Elapsed {
				at = cmd.Until
			}
			in.At, in.Key = at, cmd.Key
			before, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			var kept step.State
			if err := json.Unmarshal(before, &kept); err != nil {
				t.Fatal(err)
			}
			a, events, next := s.Step(in)
			b, eventsOfKept, nextOfKept := kept.Step(in)
			x, _ := json.Marshal([]any{a, events, next})
			y, _ := json.Marshal([]any{b, eventsOfKept, nextOfKept})
			if string(x) != string(y) {
				t.Fatalf("a kept state continues differently:\n%s\n%s", x, y)
			}
			if again, _ := json.Marshal(s); string(again) != string(before) {
				t.Fatal("a step changes the state before it")
			}
			if len(before) > 64<<10 {
				t.Fatalf("a state has %d bytes", len(before))
			}
			for _, ev := range events {
				if ev.Kind == step.IterationStart {
					starts++
				}
			}
			s, cmd = a, next
		}
		if s.Final == nil || s.Iterations > 5 {
			t.Errorf("it ended with %+v after %d iterations", s.Final, s.Iterations)
		}
	})
}

// The step is pure: a replay has the same results.
func TestPure(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	may := []string{"cmp", "encoding/json", "fmt", "hash/fnv", "maps", "math", "slices", "strings", "time", "github.com/ralph-sdk/ralph/internal/escape", "github.com/ralph-sdk/ralph/internal/vocab"}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt, *ast.SelectStmt, *ast.ChanType, *ast.RangeStmt:
				if r, ok := n.(*ast.RangeStmt); ok {
					if id, ok := r.X.(*ast.Ident); !ok || id.Name != "texts" && id.Name != "denials" { // slices; the order of a map is random
						t.Errorf("%s has a range over something else than texts and denials", name)
					}
					return true
				}
				t.Errorf("%s has a %T", name, n)
			case *ast.SelectorExpr:
				if id, ok := n.X.(*ast.Ident); ok && id.Name == "time" && slices.Contains([]string{"Now", "Since", "Until", "Sleep", "After", "NewTimer", "NewTicker", "Tick", "AfterFunc", "Local"}, n.Sel.Name) {
					t.Errorf("%s reads the clock: time.%s", name, n.Sel.Name)
				}
			case *ast.ImportSpec:
				if path, _ := strconv.Unquote(n.Path.Value); !slices.Contains(may, path) {
					t.Errorf("%s imports %s", name, path)
				}
			}
			return true
		})
	}
}
