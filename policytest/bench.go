package policytest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// defaultAge is that of a file.
const defaultAge = time.Hour

// bench is where a test happens: a project, a home directory, a session.
type bench struct {
	root, home string
	store      loop.Store
	given      situation // of this turn
	now        time.Time
	continued  bool         // by the turn before
	record     *loop.Record // of this turn; nil if nothing was decided
}

func newBench(dir string) *bench {
	return &bench{
		root: filepath.Join(dir, "project"), home: filepath.Join(dir, "home"), store: loop.Map(),
		now: time.Date(2026, time.January, 1, 12, 0, 0, 0, time.UTC),
	}
}

// replaced are the sources that a test replaces, since they start programs or ask a model.
var replaced = []string{"exec", "git", "judge"}

// hermetic are the options that keep a loop within a bench.
func hermetic(b *bench) []loop.Option {
	opts := []loop.Option{
		loop.WithRoot(b.root), loop.WithStore(b.store), loop.WithClock(func() time.Time { return b.now }), loop.WithAllow("env", "home", "judge"),
		loop.WithEnv(func(name string) (string, bool) { return b.home, name == "HOME" }),
		loop.WithRecorder(func(_ context.Context, r loop.Record) error {
			b.record = &r
			return nil
		}),
		loop.WithEffect("run", func(context.Context, loop.Event, string) error { return nil }),
	}
	for _, source := range replaced {
		opts = append(opts, loop.WithSource(source, b.fact))
	}
	return opts
}

// fact returns what a test gives for a fact that would start a program or ask a model.
func (b *bench) fact(_ context.Context, _ loop.Event, q rules.Query) (any, error) {
	name := q.Fact.Name
	if why, ok := b.given.Invalid[name]; ok {
		return nil, errors.New(why)
	}
	v, ok := b.given.Facts[name]
	switch {
	case !ok && q.Fact.Source == "git":
		return nil, fmt.Errorf("there is no git repository: %w", fs.ErrNotExist)
	case !ok:
		return nil, fmt.Errorf("a test starts no program and asks no model: give it in facts, as %s: value", name)
	case v == nil:
		return nil, fmt.Errorf("there is nothing: %w", fs.ErrNotExist)
	}
	return complete(q.Fact.Source, v), nil
}

// complete fills in what values of a source always have.
func complete(source string, v any) any {
	always := map[string]map[string]any{
		"exec":      {"code": 0, "stdout": "", "stderr": "", "output": "", "lines": []any{}},
		"git":       {"dirty": false, "changed": []any{}, "branch": "main", "ahead": 0},
		"checklist": {"text": "", "mark": " ", "done": false, "depth": 0, "line": 0, "section": "", "tags": []any{}, "source": ""},
	}
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			v[i] = complete(source, item)
		}
	case map[string]any:
		out := map[string]any{}
		maps.Copy(out, always[source])
		maps.Copy(out, v)
		return out
	}
	return v
}

// decided is a decision with what else a test can expect.
type decided struct {
	loop.Decision
	root    string
	effects []rules.Effect
	tried   []rules.RuleTrace
}

// decide makes the decision of one turn.
func (b *bench) decide(ctx context.Context, l *loop.Loop, given situation) (decided, error) {
	b.given, b.record = given, nil
	if !given.Now.IsZero() {
		b.now = given.Now
	}
	got := decided{root: b.root}
	ev, err := b.event(l.Policy())
	if err = errors.Join(err, b.write()); err == nil && given.Memory != nil {
		err = b.remember(ctx, l, ev)
	}
	var v rules.Verdict // for the effects, and the values of operands
	if err == nil {
		v, err = l.Explain(ctx, ev)
	}
	if err == nil {
		got.Decision, err = l.Decide(ctx, ev)
	}
	if b.record != nil && len(b.record.Rules) > 0 { // not of a turn that failed
		got.effects, got.tried = v.Effects, v.Trace.Rules
	}
	b.continued = got.Continue()
	return got, err
}

// write changes the files of the project and the home directory.
func (b *bench) write() error {
	err := errors.Join(os.MkdirAll(b.root, 0o755), os.MkdirAll(b.home, 0o755))
	for name, f := range b.given.Files {
		dir, rel := b.root, name
		if below, ok := strings.CutPrefix(name, "~/"); ok {
			dir, rel = b.home, below
		}
		path := filepath.Join(dir, filepath.FromSlash(rel))
		text, at := f.Text, b.now.Add(-f.Age)
		if f.JSON != nil {
			text = indented(f.JSON) + "\n"
		}
		switch {
		case err != nil:
		case !filepath.IsLocal(filepath.FromSlash(rel)):
			err = fmt.Errorf("the file %s is not in the project", name)
		case f.Absent:
			err = os.RemoveAll(path)
		case strings.HasSuffix(rel, "/"):
			err = os.MkdirAll(path, 0o755)
		default:
			err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644), os.Chtimes(path, at, at))
		}
	}
	return err
}

// event returns the event of this turn.
func (b *bench) event(p *rules.Policy) (loop.Event, error) {
	e := b.given.Event
	ev := loop.Event{
		Name: cmp.Or(e.Name, "Stop"), Session: cmp.Or(e.Session, "test"), Message: e.Message, Failed: e.Failed,
		Dir: b.root, Names: map[string]any{}, Values: map[string]any{}, Run: e.Run != nil,
	}
	maps.Copy(ev.Names, e.names)
	ev.Names["env.HOME"] = "" // that of the bench is for ~
	for name, value := range b.given.Env {
		ev.Names["env."+name] = value
	}
	for _, field := range []string{"hook_event_name", "session_id", "last_assistant_message", "failed"} {
		delete(ev.Names, field)
	}
	m, active := b.given.Memory, e.Active
	if _, given := e.names["stop_hook_active"]; !given {
		active = b.continued || m != nil && m.Continuations > 0
	}
	switch {
	case ev.Run:
	case ev.Name == "UserPromptSubmit":
		ev.AfterStop = true
	default:
		ev.NewPrompt, ev.Names["stop_hook_active"] = m == nil && !active, active
	}
	if b.given.Transcript != nil {
		ev.Conversation = conversation(b.given.Transcript)
	}
	if list := b.given.Tasks; list != nil {
		ev.Tasks = func(context.Context) ([]any, error) { return list, nil }
	}
	for name, v := range b.given.Facts {
		i := slices.IndexFunc(p.Facts, func(f *rules.Fact) bool { return f.Name == name })
		if i < 0 {
			ev.Values[name] = v // of the program
			continue
		}
		source := p.Facts[i].Source
		if v == nil || slices.Contains(replaced, source) {
			continue // it is asked for
		}
		text, err := json.Marshal(complete(source, v))
		if err != nil {
			return ev, fmt.Errorf("the fact %s: %w", name, err)
		}
		ev.Values[name] = json.RawMessage(text) // validated like a file
	}
	return ev, nil
}

// conversation is a session as a test gives it.
type conversation []loop.Turn

func (c conversation) Turns(_ context.Context, n int) ([]loop.Turn, error) {
	return c[max(0, len(c)-n):], nil
}

// remember writes what the session has counted, as the loop keeps it. Repeats without a progress of their own are those of the progress
// that there is now.
func (b *bench) remember(ctx context.Context, l *loop.Loop, ev loop.Event) error {
	given := b.given.Memory
	m := rules.Memory{
		Continuations: given.Continuations, Repeats: given.Repeats, Progress: given.Progress, Seen: given.Seen,
		Since: b.now.Add(-given.Elapsed), Prompt: given.Applied, Applied: map[string][]time.Time{},
	}
	for rule, n := range given.Applied {
		m.Applied[rule] = slices.Repeat([]time.Time{b.now}, max(0, n))
	}
	if m.Repeats > 0 && m.Progress == nil {
		v, err := l.Explain(ctx, ev)
		if err != nil {
			return err
		}
		m.Progress = v.Memory.Progress
	}
	policy := l.Policy().Name
	if agent, _ := ev.Names["agent_id"].(string); agent != "" && ev.Name == "SubagentStop" {
		policy += "/" + agent
	}
	return b.store.Update(ctx, "session/"+ev.Session, func([]byte) ([]byte, error) {
		return json.Marshal(map[string]any{
			"version": 1, "total": max(given.Total, given.Continuations), "policies": map[string]any{policy: map[string]any{"memory": m}},
		})
	})
}
