package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/rules"
)

// tasks is a policy with all that loop: can say.
const tasks = `
loop:
  state: state
  name: ${feature}
  on: settings.enabled
  owner: state.session
  start:
    feature: ${start.name}
    state: {phase: work, total: "${len(todo)}", most: "${start.max}", session: "${start.session}", goal: "do ${start.prompt}"}
facts:
  settings: {json: settings.json, default: {}, schema: {properties: {enabled: {type: boolean, default: true}}}}
  feature: {text: feature.txt}
  state:
    json: specs/${feature}/state.json
    inline: true
    schema:
      properties:
        phase: {type: string, default: ""}
        done: {type: integer, default: 0, minimum: 0}
        total: {type: integer, default: 0}
        most: {type: integer, default: 9, minimum: 1}
        session: {type: string, default: ""}
        goal: {type: string}
        flag: {type: string, default: "off"}
  todo: {checklist: "specs/${feature}/todo.md", default: []}
measure: {done: done, total: total}
limits: {repeats: 3}
rules:
  - name: all-done
    when: said("DONE")
    stop: "${loop.name} is done"
    success: true
    notice: it is done
    then: [{archive: state}]
  - name: bad
    when: invalid(state)
    continue: "repair it: ${problem(state)}"
  - name: idle
    when: phase != "work"
    stop: phase ${phase}
    notice: the phase is ${phase}
  - name: next
    when: done < total
    continue: do ${done} of ${total}, flag ${flag}
`

// worker is a world with a loop that runs.
func worker(state object) *world {
	return &world{
		facts: map[string]rules.Value{"feature": is("login"), "state": is(state)},
		names: map[string]any{"session_id": "s1"},
	}
}

func busy(more object) object {
	state := object{"phase": "work", "done": 1, "total": 3, "most": 9, "session": "", "flag": "off"}
	for k, v := range more {
		state[k] = v
	}
	return state
}

// The head decides whether there is a loop that the session is continued in. Without one
// nothing is tried, read or counted; one that exists is reported.
func TestLoop(t *testing.T) {
	p := load(t, policy(tasks))
	loop := func(owner string) *rules.LoopInfo {
		return &rules.LoopInfo{Name: "login", State: "specs/login/state.json", Owner: owner}
	}
	for _, tt := range []struct {
		name  string
		world *world
		with  rules.Options
		want  string
		aside rules.Cause
		show  bool
		loop  *rules.LoopInfo
	}{
		{"it runs", worker(busy(nil)), rules.Options{}, "continue next: do 1 of 3, flag off", "", false, loop("")},
		{"no pointer", &world{}, rules.Options{}, "no loop: feature.txt is missing; run `ralph start tasks PROMPT` to start one", rules.NoLoop, false, nil},
		{"no state", &world{facts: map[string]rules.Value{"feature": is("login")}}, rules.Options{}, "no loop: specs/login/state.json is missing; run `ralph start tasks PROMPT` to start one", rules.NoLoop, false, nil},
		{"a state that is invalid", &world{facts: map[string]rules.Value{"feature": is("login"), "state": invalid}}, rules.Options{}, "continue bad: repair it: it is not JSON", "", false, loop("")},
		{"switched off", with1(worker(busy(nil)), "settings", is(object{"enabled": false})), rules.Options{}, "the loop is switched off: settings.enabled", rules.Off, false, nil},
		{"not known to be on", with1(worker(busy(nil)), "settings", with(is(object{}), "/enabled")), rules.Options{}, "it is not known whether the loop is on: settings.json: settings.enabled expected integer, got string", rules.FaultFact, false, nil},
		{"its owner", worker(busy(object{"session": "s1"})), rules.Options{}, "continue next: do 1 of 3, flag off", "", false, loop("s1")},
		{"another owner", worker(busy(object{"session": "s2"})), rules.Options{}, "the loop login belongs to session s2; run `ralph start tasks --session s1` to move it to this session", rules.Foreign, true, loop("s2")},
		{"another owner in a run", worker(busy(object{"session": "s2"})), rules.Options{Run: true}, "continue next: do 1 of 3, flag off", "", false, loop("s2")},
		{"an owner of a wrong type", with1(worker(nil), "state", with(is(object{"phase": "work", "done": 1, "total": 3, "flag": "x"}), "/session")), rules.Options{}, "it is not known whose loop login is: specs/login/state.json: state.session expected integer, got string", rules.FaultFact, true, loop("")},
		{"a link to no file", &world{facts: map[string]rules.Value{"feature": is("login"), "state": {Status: rules.Missing, Quiet: true, Problem: "is a link to a file that does not exist", Found: true}}}, rules.Options{}, "no loop: specs/login/state.json is a link to a file that does not exist; run `ralph start tasks PROMPT` to start one", rules.NoLoop, true, nil},
		{"a run", worker(busy(nil)), rules.Options{Busy: "r7"}, "run r7 continues the loop login; run `ralph stop tasks` to end it", rules.InRun, true, loop("")},
		{"stopped", worker(busy(nil)), rules.Options{Stopped: true}, "the loop login was stopped; run `ralph start tasks` to continue it", rules.Stopped, false, loop("")},
		{"of a project that is not trusted", worker(busy(object{"session": "s2"})), rules.Options{Untrusted: "ask me"}, "specs/login/state.json holds a loop, which is not continued: ask me", rules.Distrusted, true, loop("s2")},
		{"no loop in such a project", &world{}, rules.Options{Untrusted: "ask me"}, "no loop: feature.txt is missing; run `ralph start tasks PROMPT` to start one", rules.NoLoop, false, nil},
		{"at a prompt", worker(busy(object{"session": "s2"})), rules.Options{Event: "UserPromptSubmit"}, "the policy does not decide UserPromptSubmit", rules.NotListed, false, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := tt.with
			o.Policy, o.Time = "tasks", today()
			v := p.Eval(t.Context(), tt.world, o)
			got := said(v)
			if v.Cause != "" {
				got = v.Reason
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if v.Cause != tt.aside || v.Show != tt.show {
				t.Errorf("cause %q, shown %t", v.Cause, v.Show)
			}
			if diff := cmp.Diff(tt.loop, v.Loop); diff != "" {
				t.Errorf("loop (-want +got)\n%s", diff)
			}
			if v.Show && len(v.Problems) > 0 {
				t.Errorf("it is reported twice: %q, and %q", v.Reason, reported(v))
			}
			if v.Cause != "" && (v.Memory.Streak > 0 || len(v.Trace.Steps) > 0) {
				t.Errorf("something was tried or counted: %+v", v.Memory)
			}
		})
	}
}

// with1 is a world in which one fact is another.
func with1(w *world, fact string, v rules.Value) *world {
	w.facts[fact] = v
	return w
}

// Nothing is read past the first idle answer.
func TestLoopReadsInOrder(t *testing.T) {
	p := load(t, policy("when: missing(early)\n"+strings.Replace(tasks, "facts:\n", "facts:\n  early: {text: early.txt}\n", 1)))
	for _, tt := range []struct {
		has  map[string]rules.Value
		want []string
	}{
		{map[string]rules.Value{"early": is("x")}, []string{"early(early.txt)"}},
		{map[string]rules.Value{"settings": is(object{"enabled": false})}, []string{"early(early.txt)", "settings(settings.json)"}},
		{nil, []string{"early(early.txt)", "settings(settings.json)", "feature(feature.txt)"}},
		{map[string]rules.Value{"feature": is("x")}, []string{"early(early.txt)", "settings(settings.json)", "feature(feature.txt)", "state(specs/x/state.json)"}},
	} {
		w := &world{facts: tt.has}
		if v := w.eval(p); !v.Cause.Untried() || v.Changed || v.Problems != nil {
			t.Errorf("it decides: %+v", v)
		}
		if diff := cmp.Diff(tt.want, w.asked); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
}

// A session sees each text once, and the notice of a stop again only after it was continued.
// Without a session ID a text is shown each time.
func TestShownOnce(t *testing.T) {
	p := load(t, policy(tasks))
	foreign := worker(busy(object{"session": "s2"}))
	wrong := with1(worker(nil), "state", with(is(object{"phase": "plan", "done": 1, "total": 3}), "/flag", "/phase"))
	idle, work := worker(busy(object{"phase": "plan"})), worker(busy(nil))
	for _, tt := range []struct {
		name    string
		session string
		worlds  []*world
		want    []bool
	}{
		{"a foreign loop", "s1", []*world{foreign, foreign, foreign}, []bool{true, false, false}},
		{"without a session ID", "", []*world{foreign, foreign}, []bool{true, true}},
		{"a problem", "s1", []*world{wrong, wrong}, []bool{true, false}},
		{"the notice of a stop", "s1", []*world{idle, idle, work, idle}, []bool{true, false, false, true}},
		{"another one", "s1", []*world{idle, worker(busy(object{"phase": "test"})), idle}, []bool{true, true, true}},
	} {
		var m rules.Memory
		var got []bool
		for _, w := range tt.worlds {
			w.names = map[string]any{"session_id": tt.session}
			v := p.Eval(t.Context(), w, rules.Options{Time: today(), Memory: m})
			shown := v.Show || slices.ContainsFunc(v.Problems, func(p rules.Problem) bool { return !p.Seen })
			for _, part := range v.Parts {
				shown = shown || part.Notice != "" && !part.Seen
			}
			got = append(got, shown)
			if v.Changed {
				m = again(t, v.Memory)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.name, diff)
		}
	}
}

// If the state of the loop that the session was in is gone, the rules are tried once more:
// a policy can say that the work is done. Nothing is continued then.
func TestLoopThatIsGone(t *testing.T) {
	p := load(t, policy(tasks))
	done := func(w *world) *world {
		w.names["said"] = func(s string) bool { return s == "DONE" }
		return w
	}
	gone := func(feature string) *world {
		return &world{facts: map[string]rules.Value{"feature": is(feature)}, names: map[string]any{"session_id": "s1"}}
	}
	for _, tt := range []struct {
		name  string
		event string
		world *world
		reset time.Time
		want  []string // verdicts of this world, one after another
	}{
		{"the agent was done", "Stop", done(gone("login")), time.Time{}, []string{"stop all-done: login is done", "none"}},
		{"no rule decides", "Stop", gone("login"), time.Time{}, []string{"stop: the loop's file is gone: specs/login/state.json", "none"}},
		{"the pointer moved", "Stop", done(gone("logout")), time.Time{}, []string{"none", "none"}},
		{"the file is empty", "Stop", with1(done(gone("login")), "state", rules.Value{Status: rules.Missing, Problem: "is empty", Quiet: true, Found: true, Version: "v2"}), time.Time{}, []string{"none"}},
		{"ralph put it away", "Stop", done(gone("login")), today().Add(time.Second), []string{"none"}},
		{"at an event that decides nothing", "SessionEnd", done(gone("login")), time.Time{}, []string{"idle"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := p.Eval(t.Context(), worker(busy(nil)), rules.Options{Time: today()})
			if diff := cmp.Diff(&rules.LoopInfo{Name: "login", State: "specs/login/state.json"}, v.Memory.Loop); diff != "" {
				t.Fatalf("(-want +got)\n%s", diff)
			}
			for _, want := range tt.want {
				v = p.Eval(t.Context(), tt.world, rules.Options{Event: tt.event, Time: today(), Memory: again(t, v.Memory), Project: rules.Memory{Reset: tt.reset}})
				got := said(v)
				switch {
				case v.Cause == rules.NoLoop:
					got = "none"
				case v.Cause.Untried():
					got = "idle"
				case len(v.Parts) > 0 && v.Parts[0].Effects != nil:
					t.Errorf("a file that is gone is changed: %v", v.Parts[0].Effects)
				}
				if got != want || v.Rule == "all-done" && !v.Success {
					t.Errorf("got %q, want %q; success %t", got, want, v.Success)
				}
			}
		})
	}
	archived := done(worker(busy(nil)))
	v := p.Eval(t.Context(), archived, rules.Options{Time: today(), Memory: rules.Memory{Loop: &rules.LoopInfo{State: "specs/login/state.json"}}})
	if said(v) != "stop all-done: login is done" || !v.Success || v.Memory.Loop != nil {
		t.Errorf("%s, remembered %v", said(v), v.Memory.Loop)
	}
}

// A field that cannot be used is unknown to conditions, a text shows it as it is written, and the engine reports it, unless a
// text has its problem. A word that its enum lacks stays readable.
func TestProblemsOfFields(t *testing.T) {
	p := load(t, policy(tasks))
	flag := is(object{"phase": "work", "done": 1, "total": 3})
	flag.Unusable = bad("/flag", []any{"auto"}, "type", `is an array of 1, expected string`)
	total := is(object{"phase": "work", "done": 1})
	total.Unusable = bad("/total", "five", "type", `is "five", expected integer; write a whole number such as 3`)
	low := is(object{"phase": "work", "done": -1, "total": 3})
	low.Unusable = bad("/done", -1, "minimum", "is -1, expected at least 0")
	other := is(object{"phase": "constitution", "done": 1, "total": 3})
	other.Warnings = bad("/phase", "constitution", "enum", "is constitution")
	for _, tt := range []struct {
		name  string
		state rules.Value
		want  []string
	}{
		{"only a string reads it", flag, []string{"continue next: do 1 of 3, flag auto", "specs/login/state.json: state.flag is an array of 1, expected string"}},
		{"a condition reads it", total, []string{`stop: the rule next is undecided: specs/login/state.json: state.total is "five", expected integer; write a whole number such as 3`, `specs/login/state.json: state.total is "five", expected integer; write a whole number such as 3`}},
		{"out of range", low, []string{"stop: the rule next is undecided: specs/login/state.json: state.done is -1, expected at least 0", "specs/login/state.json: state.done is -1, expected at least 0"}},
		{"another word", other, []string{"stop idle: phase constitution", "specs/login/state.json: state.phase is constitution"}},
		{"a string has the problem", invalid, []string{"continue bad: repair it: it is not JSON"}},
	} {
		v := with1(worker(nil), "state", tt.state).eval(p)
		if diff := cmp.Diff(tt.want, append([]string{said(v)}, reported(v)...)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.name, diff)
		}
	}
}

// Look finds the loop and how far it is, and changes nothing.
func TestLook(t *testing.T) {
	p := load(t, policy(tasks))
	v := p.Look(t.Context(), worker(busy(object{"session": "s2"})), rules.Options{Time: today(), Policy: "tasks"})
	if v.Loop == nil || v.Loop.Owner != "s2" || v.Cause != rules.Foreign || v.Measure == nil || v.Measure.Done != 1 || v.Measure.Total != 3 {
		t.Errorf("got %+v, measured %v", v.Loop, v.Measure)
	}
	if v := p.Look(t.Context(), &world{}, rules.Options{}); v.Loop != nil || v.Cause != rules.NoLoop {
		t.Errorf("a loop that is not there: %+v", v)
	}
	l := p.Loop()
	if l == nil || l.State.Name != "state" || !l.Archived || !slices.Equal(l.Uses, []string{"name", "max", "session", "prompt"}) || fmt.Sprint(l.Owner) != "[session]" || len(l.Start) != 2 {
		t.Errorf("got %+v", l)
	}
	if diff := cmp.Diff([]string{"settings.json", "feature.txt"}, p.HeadFiles()); diff != "" {
		t.Errorf("files of the head (-want +got)\n%s", diff)
	}
}

// A start renders its files from top to bottom, each with the facts as those above make them.
func TestStart(t *testing.T) {
	p := load(t, policy(tasks))
	files := func(given map[string]any) (string, error) {
		w := &world{facts: map[string]rules.Value{"feature": is("old"), "todo": is([]any{object{"text": "a", "done": false, "tags": []any{}}})}}
		files, err := p.Start(t.Context(), w, rules.Options{Time: today()}, given)
		var out []string
		for _, f := range files {
			out = append(out, fmt.Sprintf("%s %s: %v %v", f.Fact.Name, f.Path, f.Value, f.Keys))
			if (f.Misfit != nil) != (err != nil) || f.Misfit != nil && f.Given[0] != "max" {
				t.Errorf("%v: %s is made of %q, error %v", given, f.Path, f.Given, err)
			}
		}
		return strings.Join(out, "\n"), err
	}
	for _, tt := range []struct {
		name  string
		given map[string]any
		want  string
	}{
		{"all", map[string]any{"name": "new", "max": 4, "session": "s1", "prompt": "it"},
			"feature feature.txt: new []\nstate specs/new/state.json: map[done:0 flag:off goal:do it most:4 phase:work session:s1 total:1] [phase total most session goal done flag]"},
		{"what is not given is left out", nil,
			"state specs/old/state.json: map[done:0 flag:off most:9 phase:work session: total:1] [phase total done flag most session]"},
		{"a path that leaves the project", map[string]any{"name": "../x"}, "state has no file to write: the path leads out of its directory: specs/../x/state.json"},
		{"an empty name", map[string]any{"name": " "}, "feature has no value to write to feature.txt"},
		{"out of the schema", map[string]any{"max": 0}, "state/most: is 0, expected at least 1"},
	} {
		got, err := files(tt.given)
		if err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.name, diff)
		}
	}
	none := load(t, policy("rules: [{name: a, log: x}]"))
	if _, err := none.Start(t.Context(), &world{}, rules.Options{}, nil); err == nil {
		t.Error("a policy without loop.start starts")
	}
}
