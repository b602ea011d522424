package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-sdk/ralph/internal/approval"

	"github.com/ralph-sdk/ralph/internal/workspace"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// Each decision is one line of the log: what was decided, why, on what memory, and
// what was done.
func TestRecord(t *testing.T) {
	p := newProject(t, map[string]string{"state.json": `{"n": 1}`})
	ev := p.turn("t")
	ev.Host, ev.AgentID = host.ClaudeCode, "7"
	l := p.loop(counterPolicy + "finally:\n  - prune: {glob: \"*.tmp\", older: 60m}\n")
	p.run(l, ev)
	p.run(l, ev)
	got := p.records()
	if len(got) != 2 || strings.Contains(strings.Join(p.lines, ""), "\n") {
		t.Fatalf("%q", p.lines)
	}
	want := loop.Record{
		Head: loop.Head{
			V: 1, Digest: approval.Key(l.Program().Files()), Time: p.now, Policy: "policy.yaml", Root: p.dir, Host: host.ClaudeCode, Event: "Stop",
			Session: "s", Agent: "7", Action: rules.Continue, Rule: "go", Reason: "n is 2, streak 1", Notices: []string{"counted"},
			Limits:  []rules.Limit{{Name: "continuations", At: 1, Of: 500}, {Name: "total", At: 1, Of: 5000}, {Name: "elapsed", Of: int(24 * time.Hour)}},
			Effects: []rules.Effect{{Kind: rules.SetEffect, Fact: "state", Source: "json", File: "state.json", Path: []any{"n"}, Old: 2, Value: 3}},
		},
		Turn: "t", At: "policy.yaml:12:5", Kept: true, Log: []string{"[ralph] counting"},
		Finally: []rules.Effect{{Kind: rules.PruneEffect, Glob: "*.tmp", Older: time.Hour}},
	}
	want.Streak.Continuations, want.Streak.Total, want.Streak.Same = 1, 1, 1
	if diff := cmp.Diff(want, got[1], cmpopts.IgnoreFields(loop.Head{}, "ID", "Took"), cmpopts.IgnoreFields(loop.Record{}, "Trace", "Cost"), cmpopts.IgnoreFields(rules.Effect{}, "Version")); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	if n := len(got[1].Trace.Steps); n != 2 {
		t.Errorf("%d steps in the trace, want both rules", n)
	}
}

// The JSON of a decision is that of its record, without private values. A question that is delivered again is the same.
func TestDecisionJSON(t *testing.T) {
	l := load(t, `ralph: 1
rules:
  - {name: answered, when: answer != "", continue: "${answer}"}
  - {name: which, ask: Which of the two}
`)
	for answer, want := range map[string]string{"": "Which of the two", "the second": "(10 bytes)"} {
		ev := host.Event{ID: "e1", SessionID: fmt.Sprint(len(answer)), Values: map[string]any{"answer": answer}}
		d, err := l.Run(t.Context(), ev)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(d)
		var got loop.Record
		if err == nil {
			err = json.Unmarshal(b, &got)
		}
		if err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if diff := cmp.Diff(d.Record(false), got, cmpopts.EquateEmpty()); diff != "" || got.Reason != want || !strings.Contains(string(b), `"id":"e1"`) || strings.Contains(string(b), "the second") {
			t.Errorf("%s\n(-record +JSON)\n%s", b, diff)
		}
		if again, err := l.Run(t.Context(), ev); err != nil || !again.Repeated || again.Verdict.Action != d.Verdict.Action || again.Outcome() != d.Outcome() {
			t.Errorf("delivered again it is %s, %v", again.Outcome(), err)
		}
	}
}

// What the user or the agent wrote, and the environment, are not in the log unless the
// policy's owner asked for that.
func TestPrivateTexts(t *testing.T) {
	const policy = `
ralph: 1
let: {words: transcript.last + env.TOKEN}
rules:
  - name: reads
    when: mentions("secret") and last_assistant_message != "" and env.TOKEN contains "s" and words != "" and hook.raw.x != 1
    notice: seen
  - name: quotes
    when: prompt == ""
    notice: "it said ${words}"
    log: "it said ${cut(last_assistant_message, 40)}"
  - name: repeats
    when: prompt == ""
    notice: ${last_assistant_message}
  - name: go
    continue: "go on: ${last_assistant_message} ${env.TOKEN}"
`
	for _, private := range []bool{false, true} {
		p := newProject(t, nil)
		p.env["TOKEN"] = "secret-token"
		var opts []loop.Option
		if private {
			opts = append(opts, loop.WithPrivate())
		}
		ev := p.stop()
		ev.LastAssistantMessage, ev.Raw = "my secret words", map[string]any{"x": "secret-raw"}
		d := p.run(p.loop(policy, opts...), ev)
		if !d.Continue() || len(d.Notices) != 3 || !strings.Contains(d.Notices[1]+d.Log[0], "secret") {
			t.Fatalf("%q, notices %q", said(d), d.Notices)
		}
		line := strings.Join(p.lines, "")
		for text, want := range map[string]bool{"my secret words": private, "secret-token": false, "secret-raw": false} {
			if got := strings.Contains(line, text); got != want {
				t.Errorf("private %v, %s: %s", private, text, line)
			}
		}
	}
}

// A reason for stopping and a value that is set are no exception.
func TestPrivateReason(t *testing.T) {
	p := newProject(t, map[string]string{"state.json": `{"n": "x"}`})
	ev := p.stop()
	ev.LastAssistantMessage = "my secret words"
	d := p.run(p.loop(`
ralph: 1
facts: {state: {json: state.json, schema: {properties: {n: {type: string, default: ""}}}}}
rules:
  - name: ends
    when: state.n == "x"
    stop: "it said ${last_assistant_message}"
    then:
      - set: state.n = last_assistant_message
`), ev)
	if d.Verdict.Reason != "it said my secret words" || !strings.Contains(p.read("state.json"), "secret") {
		t.Fatalf("%q, %s", d.Verdict.Reason, p.read("state.json"))
	}
	if line := strings.Join(p.lines, ""); strings.Contains(line, "secret") {
		t.Errorf("the log: %s", line)
	}
}

// A log that cannot be written is reported and does no harm.
func TestLogFails(t *testing.T) {
	for name, write := range map[string]recorder{
		"error": func(*loop.Record) error { return errors.New("the disk is full") },
		"panic": func(*loop.Record) error { panic("the disk is full") },
	} {
		p := newProject(t, nil)
		d := p.run(p.loop("ralph: 1\nrules: [{name: go, continue: on}]", loop.WithRecorder(write)), p.stop())
		if !d.Continue() || d.Err != nil || len(d.Notices) != 1 || !strings.Contains(d.Notices[0], "the disk is full") {
			t.Errorf("%s: %q, error %v, notices %q", name, said(d), d.Err, d.Notices)
		}
	}
}

// By default the log is in ralph's own directory, where ralph explain looks for it.
func TestLogInStore(t *testing.T) {
	p := newProject(t, nil)
	program, _ := rules.Load(t.Context(), os.DirFS(newProject(t, map[string]string{"p.yaml": "ralph: 1\nrules: [{name: go, continue: on}]"}).dir), "p.yaml", loop.Config())
	l, err := loop.New(program, loop.WithState(p.store), loop.WithEnv(func(string) string { return "" }))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		p.run(l, p.stop())
	}
	lines, err := store.Open(p.store).ReadLog(nil, 0)
	if err != nil || len(lines) != 3 {
		t.Errorf("%d lines, error %v", len(lines), err)
	}
	twice, err := loop.New(program, loop.WithState(p.store), loop.WithRecorder(loop.LocalStore(p.store).(loop.Recorder)), loop.WithEnv(func(string) string { return "" }))
	if err != nil {
		t.Fatal(err)
	}
	p.run(twice, p.stop())
	if lines, _ := store.Open(p.store).ReadLog(nil, 0); len(lines) != 4 {
		t.Errorf("%d lines, want one of a loop that names the log twice", len(lines)-3)
	}
	quiet, err := loop.New(program, loop.WithStore(struct{ loop.Store }{loop.LocalStore(p.store)}))
	if err != nil {
		t.Fatal(err)
	}
	p.run(quiet, p.stop())
	if lines, _ := store.Open(p.store).ReadLog(nil, 0); len(lines) != 4 {
		t.Errorf("%d lines, though the loop keeps only memories there", len(lines))
	}
}

// The trace of a policy of very many rules is shortened before the log refuses it.
func TestLongTrace(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and no goroutine meets another")
	}
	p := newProject(t, map[string]string{"state.json": `{"n": 1}`})
	var policy strings.Builder
	policy.WriteString("ralph: 1\nfacts:\n  state: {json: state.json, inline: true, schema: {properties: {n: {type: integer}}}}\nrules:\n")
	for i := range 4000 {
		fmt.Fprintf(&policy, "  - {name: rule-%d-%s, when: n == 0 and n == 2, stop: s}\n", i, strings.Repeat("x", 200))
	}
	policy.WriteString("  - {name: last, continue: on}\n")
	d := p.run(alone(t, policy.String(), loop.WithRoot(p.dir), loop.WithState(p.store)), p.stop())
	if !d.Continue() || len(d.Notices) > 0 {
		t.Fatalf("%q, notices %q", said(d), d.Notices)
	}
	p.readLog()
	r := p.records()[0]
	if len(p.lines[0]) > 64<<10 || r.Rule != "last" || len(r.Trace.Steps) == 0 || r.Trace.Steps[len(r.Trace.Steps)-1].Rule != "last" {
		t.Errorf("%d bytes, rule %s, %d steps", len(p.lines[0]), r.Rule, len(r.Trace.Steps))
	}
	if !strings.Contains(fmt.Sprint(r.Trace.Warnings), "longest texts are cut") {
		t.Errorf("warnings %q", r.Trace.Warnings)
	}
}

// However much a decision says or reads, the log has a line for it, which says who
// decided what.
func TestLongRecords(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and no goroutine meets another")
	}
	long := strings.Repeat("é\x01", 1<<20)
	many := make([]string, 200_000)
	for i := range many {
		many[i] = "a notice of some length"
	}
	said := func(line string) bool { // a text that is cut says so, and so does a record
		return strings.Contains(line, "longest texts are cut") || strings.Contains(line, "…")
	}
	for name, grow := range map[string]func(*loop.Record){
		"names": func(r *loop.Record) { r.Session, r.Agent, r.Turn, r.Root = long, long, long, long },
		"texts": func(r *loop.Record) {
			r.Reason, r.Notices, r.Notes, r.Log = long, []string{long}, []string{long}, []string{long}
		},
		"notices":                            func(r *loop.Record) { r.Notices, r.Log = many, many },
		"effects":                            func(r *loop.Record) { r.Effects = make([]rules.Effect, 100_000) },
		"answers":                            func(r *loop.Record) { r.Calls = map[string]any{long: true} },
		"facts":                              func(r *loop.Record) { r.Trace.Facts = make([]rules.FactRead, 100_000) },
		"what a source says of itself":       func(r *loop.Record) { r.Trace.Facts = []rules.FactRead{{Meta: map[string]any{"m": long}}} },
		"what a source must not say":         func(r *loop.Record) { r.Trace.Facts = []rules.FactRead{{Meta: map[string]any{"m": func() {}}}} },
		"inputs":                             func(r *loop.Record) { r.Trace.Inputs = []rules.Input{{Name: long}} },
		"warnings":                           func(r *loop.Record) { r.Trace.Warnings = many },
		"the reason that a rule steps aside": func(r *loop.Record) { r.Trace.Steps = []*rules.Step{{Rule: "x", Because: long}} },
		"all": func(r *loop.Record) {
			r.Reason, r.Notices, r.Log, r.Session, r.Trace.Warnings, r.Calls = long, many, many, long, many, map[string]any{long: long}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			r := loop.Record{Head: loop.Head{V: 1, ID: "7", Policy: "p", Event: "Stop", Action: rules.Continue, Rule: "go"}, Kept: true}
			grow(&r)
			before := r
			if err := loop.LocalLog(dir).Record(t.Context(), &r); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(len(before.Reason), len(r.Reason)); diff != "" {
				t.Errorf("the caller's record was changed: %s", diff)
			}
			lines, err := store.Open(dir).ReadLog(nil, 0)
			if err != nil || len(lines) != 1 {
				t.Fatalf("%d lines, error %v", len(lines), err)
			}
			var got loop.Record
			decode(t, lines[0], &got)
			if got.ID != "7" || got.Action != rules.Continue || got.Rule != "go" || !got.Kept || len(lines[0]) > 64<<10 || !said(string(lines[0])) {
				t.Errorf("%d bytes, rule %q, warnings %.200q", len(lines[0]), got.Rule, got.Trace.Warnings)
			}
		})
	}
}

// A project that cannot be used is not logged as another project's decision.
func TestRecordWithoutProject(t *testing.T) {
	p := newProject(t, nil)
	ev := p.stop()
	ev.Cwd = filepath.Join(p.dir, "gone")
	l := p.loop("ralph: 1\nrules: [{name: go, continue: on}]")
	d, err := l.Run(context.Background(), ev)
	var root *workspace.Error
	if !errors.As(err, &root) || d.Continue() {
		t.Errorf("%q, error %v", said(d), err)
	}
	if r := p.records(); len(r) != 1 || r[0].Root != "" || r[0].Reason == "" || r[0].Kept {
		t.Errorf("%+v", r)
	}
}

// For a policy with very many rules, the log keeps each outcome, but the operands only of
// the latest rules and of those that held.
func TestRecordOfManyRules(t *testing.T) {
	var policy strings.Builder
	policy.WriteString("ralph: 1\nrules:\n  - name: early\n    when: session_id != \"\"\n    notice: early\n")
	for i := range 300 {
		fmt.Fprintf(&policy, "  - name: rule-%d\n    when: cwd == \"%d\"\n    stop: no\n", i, i)
	}
	p := newProject(t, nil)
	p.run(alone(t, policy.String(), loop.WithRoot(p.dir), loop.WithState(p.store)), p.stop())
	p.readLog()
	steps := p.records()[0].Trace.Steps
	if len(steps) != 301 {
		t.Fatalf("%d steps, want one of each rule", len(steps))
	}
	for i, want := range map[int]bool{0: true, 1: false, 100: false, 250: true, 300: true} {
		if got := len(steps[i].Operands) > 0; got != want || steps[i].Because == "" && steps[i].Outcome == rules.No {
			t.Errorf("step %d, %s: operands kept %v, want %v; because %q", i, steps[i].Outcome, got, want, steps[i].Because)
		}
	}
}

// A record names its decision: always by the same ID, a different one for each decision,
// and later ones sort after earlier ones.
func TestRecordID(t *testing.T) {
	p := newProject(t, nil)
	l := p.loop("ralph: 1\nrules: [{name: go, continue: on}]")
	last := ""
	for range 3 {
		d := p.run(l, p.stop())
		r := d.Record(true)
		if r.ID <= last || r.ID != d.Record(false).ID || p.records()[len(p.lines)-1].ID != r.ID {
			t.Errorf("the record is %s after %s", r.ID, last)
		}
		last = r.ID
		p.now = p.now.Add(time.Nanosecond)
	}
}

// The record of a decision that failed says what kind of fault it was, for programs.
func TestRecordFaults(t *testing.T) {
	var cancel context.CancelFunc
	for want, c := range map[string]struct {
		when string
		opt  loop.Option
	}{
		"rule":    {`int(session_id) > 0`, loop.WithPrivate()},
		"budget":  {`string(reduce(1..40, [#acc, #acc], [1])) != ""`, loop.WithPrivate()},
		"panic":   {`permission_mode == ""`, loop.WithFacts(func(host.Event, rules.Facts) rules.Facts { return nil })},
		"context": {`permission_mode == ""`, loop.WithFacts(func(_ host.Event, world rules.Facts) rules.Facts { return asked{world, cancel} })},
	} {
		var ctx context.Context
		ctx, cancel = context.WithCancel(t.Context())
		defer cancel()
		l := alone(t, "ralph: 1\nrules: [{name: no, when: '"+c.when+"', stop: no}, {name: go, continue: on}]", c.opt)
		d, _ := l.Run(ctx, host.Event{SessionID: "x"})
		if r := d.Record(false); d.Continue() || string(r.Cause) != want || r.Reason == "" || len(r.Notices) == 0 {
			t.Errorf("%s: it says %q, fault %q, reason %q, notices %q", c.when, said(d), r.Cause, r.Reason, r.Notices)
		}
	}
}

// A record keeps of an effect what a line can hold, and of its values the beginning.
func TestRecordOfLongEffects(t *testing.T) {
	long := strings.Repeat("ü", 3000)
	p := newProject(t, map[string]string{"s.json": `{"a": "` + long + `", "list": [1]}`})
	d := p.run(p.loop("ralph: 1\nfacts: {s: {json: s.json, schema: {properties: {a: {type: string}, list: {type: array, items: {type: integer}}}}}}\n"+
		"rules:\n  - name: go\n    continue: on\n    then: [{set: \"s.list[0] = 2\"}, {set: \"s.a = 'x'\"}]"), p.stop())
	if d.Err != nil {
		t.Fatal(d.Err)
	}
	effects := p.records()[0].Effects
	if len(effects) != 2 || !cmp.Equal(effects[0].Path, []any{"list", 0}) || effects[0].Old != 1 || effects[0].Value != 2 {
		t.Fatalf("effects %+v", effects)
	}
	old, _ := effects[1].Old.(string)
	if len(old) > 4<<10 || !strings.HasPrefix(old, `"üüü`) || !strings.HasSuffix(old, "ü…") || effects[1].Value != "x" {
		t.Errorf("it was %d bytes, %.20s, and is %v", len(old), old, effects[1].Value)
	}
}

// The tokens of the agent's last reply are in the record if the session file was read.
func TestRecordTokens(t *testing.T) {
	p := newProject(t, nil)
	ev := p.talk(human("go"), `{"type":"assistant","message":{"role":"assistant","usage":{"input_tokens":40,"output_tokens":2},"content":[{"type":"text","text":"x"}]}}`)
	p.run(p.loop("ralph: 1\nrules: [{name: go, when: transcript.tokens > 0, continue: on}]"), ev)
	p.run(p.loop("ralph: 1\nrules: [{name: go, stop: off}]"), ev)
	if r := p.records(); r[0].Tokens < 40 || r[1].Tokens != 0 {
		t.Errorf("%d tokens where they were read, %d where not", r[0].Tokens, r[1].Tokens)
	}
}
