package loop_test

import (
	compare "cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/looptest"
	"github.com/ralph-sdk/ralph/rules"
)

// gone is a store that cannot be reached, to load or to save.
type gone struct {
	loop.Store
	saves bool
}

func (g gone) Load(ctx context.Context, keys ...loop.Key) ([]loop.Entry, error) {
	if g.saves {
		return g.Store.Load(ctx, keys...)
	}
	return nil, errors.New("connection refused")
}

func (gone) Save(context.Context, loop.Write) error { return errors.New("connection refused") }

// situation is what happens to a decision, and how it ends.
type situation struct {
	name   string
	policy string
	event  host.Event
	opts   func(p *project) []loop.Option
	want   string // outcome, cause, whether there is an error, action
	run    string // the same of Run and Hook, if Preview does not see it
}

// The rules of a situation.
const (
	ruleStop    = "ralph: 1\nrules: [{name: enough, stop: enough}]\n"
	ruleSuccess = "ralph: 1\nrules: [{name: done, stop: done, success: true}]\n"
	ruleNone    = "ralph: 1\nrules: [{name: never, when: session_id == 'x', continue: go on}]\n"
	factStop    = "ralph: 1\nfacts: {it: {ask: x}}\nrules: [{name: enough, when: it == 1, stop: enough}, {name: go, continue: go on}]\n"
	input       = "ralph: 1\nfacts: {n: {input: {type: integer}}}\nrules: [{name: enough, when: n > 3, stop: enough}, {name: go, continue: go on}]\n"
	called      = "ralph: 1\nrules: [{name: enough, when: check(), stop: enough}, {name: go, continue: go on}]\n"
	looped      = "ralph: 1\nfacts: {state: {json: state.json, schema: {properties: {session: {type: string}}}}}\nloop: {state: state, owner: state.session}\nrules: [{name: go, continue: go on}]\n"
	edits       = "ralph: 1\nfacts: {a: {table: a}}\nrules: [{name: go, continue: go on, then: [{set: a.n = 2}]}]\n"
)

func situations() []situation {
	just := func(opts ...loop.Option) func(*project) []loop.Option {
		return func(*project) []loop.Option { return opts }
	}
	asks := func(gather func(context.Context, loop.Query) rules.Value) func(*project) []loop.Option {
		return just(loop.WithSource(source{"ask", gather}))
	}
	check := func(f func() (bool, error)) func(*project) []loop.Option {
		return just(loop.WithFunctions(rules.Function{Name: "check", Doc: "Checks.", Func: f}))
	}
	file := func(name, text string) func(*project) []loop.Option {
		return func(p *project) []loop.Option { p.write(name, text); return nil }
	}
	return []situation{
		{name: "a rule continues", policy: goOn, want: "continued||nil|continue"},
		{name: "a rule stops", policy: ruleStop, want: "stopped||nil|stop"},
		{name: "a rule stops with success", policy: ruleSuccess, want: "done||nil|stop"},
		{name: "no rule holds", policy: ruleNone, want: "stopped|no_rule|nil|stop"},
		{name: "no rule holds, and the turn continues anyway", policy: ruleNone + "events: [TaskCompleted]\n", event: host.Event{Name: host.TaskCompleted}, want: "||nil|stop"},
		{name: "a limit is reached", policy: "ralph: 1\nlimits: {continuations: 0}\n" + goOn[len("ralph: 1\n"):], want: "limit|continuations|nil|stop"},
		{name: "an input is missing", policy: input, want: "continued||nil|continue"},
		{name: "an input has a wrong type", policy: input, event: host.Event{Values: map[string]any{"n": "many"}}, want: "failed|fact|error|stop"},
		{name: "a value has a name that the policy lacks", policy: input, event: host.Event{Values: map[string]any{"m": 1}}, want: "failed|input|error|stop"},
		{name: "nothing declares the event", policy: goOn, event: host.Event{Name: "Deploy"}, want: "failed|input|error|stop"},
		{name: "the policy does not list the event", policy: goOn, event: host.Event{Name: host.SubagentStop, AgentType: "x"}, want: "skipped|event|nil|stop"},
		{name: "the policy's own when is not true", policy: "ralph: 1\nwhen: session_id == 'x'\n" + goOn[len("ralph: 1\n"):], want: "skipped|when|nil|stop"},
		{name: "all loops are off", policy: goOn, opts: file(".ralph/off", ""), want: "skipped|off|nil|stop"},
		{name: "there is no loop", policy: looped, want: "idle|none|nil|stop"},
		{name: "the loop belongs to another session", policy: looped, opts: file("state.json", `{"session": "other"}`), want: "idle|owner|nil|stop"},
		{name: "a person paused the loop", policy: goOn, opts: func(p *project) []loop.Option {
			_, err := store.Open(p.store).Pause(p.dir, store.Pause{Policy: "policy.yaml"})
			return failing(p.t, err)
		}, want: "waiting|paused|nil|stop"},
		{name: "a person stopped the loop", policy: looped, opts: func(p *project) []loop.Option {
			p.write("state.json", `{"session": ""}`)
			return failing(p.t, store.Open(p.store).StopLoop(p.dir, "policy.yaml", p.now))
		}, want: "asked|stopped|nil|stop"},
		{name: "a source panics", policy: factStop, opts: asks(func(context.Context, loop.Query) rules.Value { panic("boom") }), want: "failed|fact|error|stop"},
		{name: "a source reports a problem", policy: factStop, opts: asks(func(context.Context, loop.Query) rules.Value {
			return rules.Value{Status: rules.Invalid, Problem: "is half a file"}
		}), want: "failed|fact|error|stop"},
		{name: "a function returns an error", policy: called, opts: check(func() (bool, error) { return false, errors.New("no network") }), want: "failed|rule|error|stop"},
		{name: "a function panics", policy: called, opts: check(func() (bool, error) { panic("boom") }), want: "failed|rule|error|stop"},
		{name: "the clock panics", policy: goOn, opts: func(p *project) []loop.Option { p.clock = func() time.Time { panic("boom") }; return nil }, want: "failed|panic|error|stop"},
		{name: "the budget is used up", policy: "ralph: 1\nrules: [{name: go, when: 'count(1..9000, true) > 0', continue: go on}]\n", opts: just(loop.WithBudget(rules.Budget{Steps: 100})), want: "failed|budget|error|stop"},
		{name: "the deadline passes", policy: factStop, opts: just(loop.WithDeadline(20*time.Millisecond), loop.WithSource(source{"ask", func(ctx context.Context, _ loop.Query) rules.Value {
			<-ctx.Done()
			return rules.Value{V: 1}
		}})), want: "failed|context|error|stop"},
		{name: "the store cannot be read", policy: goOn, opts: just(loop.WithStore(gone{})), want: "failed|memory|error|stop"},
		{name: "the store cannot be written", policy: goOn, opts: just(loop.WithStore(gone{loop.InMemory(), true})), want: "continued||nil|continue", run: "failed|memory|error|stop"},
		{name: "a change of a fact fails", policy: edits, opts: just(loop.WithSource(&table{name: "table", rows: map[string]int{"a": 1}, fails: errors.New("disk full")})), want: "continued||nil|continue", run: "failed|effect|error|stop"},
		{name: "an effect of the program fails", policy: "ralph: 1\nrules: [{name: go, continue: go on, then: [{page: x}]}]\n", opts: just(effect("page", func(context.Context, loop.Call) error { return errors.New("no network") })), want: "continued||nil|continue"},
		{name: "a recorder fails", policy: goOn, opts: just(loop.WithRecorder(recorder(func(*loop.Record) error { return errors.New("disk full") }))), want: "continued||nil|continue"},
		{name: "a prompt", policy: "ralph: 1\nevents: [UserPromptSubmit]\nrules: [{name: hint, note: hello}]\n", event: host.Event{Name: host.UserPromptSubmit}, want: "||nil|stop"},
	}
}

// failing ends the test on an error.
func failing(t testing.TB, err error) []loop.Option {
	if err != nil {
		t.Fatal(err)
	}
	return nil
}

// How each situation ends is the same through Run, Preview, Apply and Hook; an error is a stop, and its outcome failed.
func TestSituations(t *testing.T) {
	doc, err := os.ReadFile("../docs/embedding.md")
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	names := map[string][]string{} // of the situations that end in the same way
	for _, s := range situations() {
		t.Run(s.name, func(t *testing.T) {
			want := s.want
			ended := func(road string, d *loop.Decision, err error) {
				t.Helper()
				got := fmt.Sprintf("%s|%s|nil|%s", d.Outcome(), d.Cause(), d.Verdict.Action)
				if err != nil {
					got = strings.Replace(got, "|nil|", "|error|", 1)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-want +got)\n%s; error %v", road, diff, err)
				}
				if failed := d.Outcome() == loop.Failed; failed != (err != nil) || failed != (d.Err != nil) || failed && d.Verdict.Cause == "" {
					t.Errorf("%s: outcome %s, error %v, fault %q", road, d.Outcome(), err, d.Verdict.Cause)
				}
				if continued := d.Outcome() == loop.Continued; continued != (d.Verdict.Action == rules.Continue) {
					t.Errorf("%s: outcome %s, action %s", road, d.Outcome(), d.Verdict.Action)
				}
				if o, c := d.Record(true).Ended(); o != d.Outcome() || c != d.Cause() {
					t.Errorf("%s: the record has %s, %s", road, o, c)
				}
				for _, text := range append(d.Notices, append(d.Log, d.Verdict.Reason)...) {
					if strings.Contains(text, "goroutine") {
						t.Errorf("%s: a text has a stack: %s", road, text)
					}
				}
			}
			make := func(more ...loop.Option) (*project, *loop.Loop, host.Event) {
				p := newProject(t, nil)
				var opts []loop.Option
				if s.opts != nil {
					opts = s.opts(p)
				}
				ev := s.event
				ev.SessionID, ev.Cwd = "s", p.dir
				return p, p.loop(s.policy, append(opts, more...)...), ev
			}
			_, l, ev := make()
			d := l.Preview(t.Context(), ev)
			ended("Preview", d, d.Err)
			if s.run != "" {
				want = s.run
			}
			_, l, ev = make()
			d, err := l.Run(t.Context(), ev)
			ended("Run", d, err)
			_, l, ev = make()
			d, err = l.Apply(t.Context(), l.Preview(t.Context(), ev))
			ended("Apply", d, err)

			var observed *loop.Decision
			_, l, ev = make(loop.WithObserver(func(ctx context.Context, _ host.Event) (context.Context, func(*loop.Decision)) {
				return ctx, func(d *loop.Decision) { observed = d }
			}))
			if s.event.Name == "Deploy" || s.event.Values != nil {
				return // no hook sends it
			}
			in := fmt.Sprintf(`{"hook_event_name": %q, "session_id": "s", "cwd": %q, "agent_type": %q}`, loopEvent(ev), ev.Cwd, ev.AgentType)
			_, r := loop.Hook{Loops: func(context.Context, host.Event) ([]*loop.Loop, []string, error) { return []*loop.Loop{l}, nil, nil }}.Reply(t.Context(), []byte(in))
			ended("Hook", observed, observed.Err)
			if r.Continue != observed.Continue() || (r.Err != nil) != (observed.Err != nil) {
				t.Errorf("the reply is %+v", r)
			}
		})
		ends := strings.Split(compare.Or(s.run, s.want), "|")[:2] // the others follow from the outcome
		for i, word := range ends {
			if ends[i] = "*" + word + "*"; word == "" {
				ends[i] = "-"
			}
		}
		end := strings.Join(ends, " | ")
		if len(names[end]) == 0 {
			order = append(order, end)
		}
		names[end] = append(names[end], s.name)
	}
	for _, end := range order {
		if line := fmt.Sprintf("| %s | %s |", strings.Join(names[end], "; "), end); !strings.Contains(string(doc), line) {
			t.Errorf("docs/embedding.md lacks the line\n%s", line)
		}
	}
}

func loopEvent(ev host.Event) string {
	if ev.Name == "" {
		return host.Stop
	}
	return ev.Name
}

// The stack of a panic is in the error.
func TestStackOfPanic(t *testing.T) {
	for name, l := range map[string]*loop.Loop{
		"loop":  load(t, goOn, loop.WithClock(func() time.Time { panic("boom") })),
		"rules": load(t, goOn, loop.WithFacts(func(host.Event, rules.Facts) rules.Facts { panic("boom") })),
		"facts": load(t, ruleNone, loop.WithFacts(func(host.Event, rules.Facts) rules.Facts { return nil })),
	} {
		_, err := l.Run(t.Context(), host.Event{})
		var panicked *rules.PanicError
		if !errors.As(err, &panicked) || !strings.Contains(string(panicked.Stack), "goroutine") || strings.Contains(err.Error(), "goroutine") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// RALPH_OFF of the process is for the command: a loop reads it only with Local or WithEnv.
func TestOffOfTheProcess(t *testing.T) {
	t.Setenv("RALPH_OFF", "1")
	t.Setenv("RALPH_STATE_DIR", t.TempDir())
	for want, opts := range map[loop.Outcome][][]loop.Option{
		loop.Continued: {nil, {loop.WithRoot(t.TempDir())}, {loop.WithEnv(func(string) string { return "" })}},
		loop.Skipped:   {{loop.Local()}, {loop.WithEnv(os.Getenv)}},
	} {
		for _, o := range opts {
			records := new(looptest.Records)
			d, err := load(t, goOn, append(o, loop.WithRecorder(records))...).Run(t.Context(), host.Event{SessionID: "s", Cwd: t.TempDir()})
			if d.Outcome() != want || err != nil {
				t.Errorf("%d options: %s, want %s; error %v", len(o), d.Outcome(), want, err)
			}
		}
	}
}
