package loop_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/looptest"
	"github.com/ralph-sdk/ralph/rules"
)

// table is a source that keeps numbers by name and changes them by compare-and-set.
type table struct {
	name   string
	mu     sync.Mutex
	rows   map[string]int
	before func(*table) // called in each Write before it compares
	fails  error
}

func (s *table) Kind() rules.SourceKind {
	return rules.SourceKind{Name: s.name, Doc: "A table of numbers.", Editable: true}
}

func (s *table) Gather(_ context.Context, q loop.Query) rules.Value {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.rows[q.Args[0]]
	if !ok {
		return rules.Value{Status: rules.Missing, Quiet: true}
	}
	return rules.Value{V: map[string]any{"n": n}, Path: q.Args[0], Version: fmt.Sprint(n)}
}

func (s *table) Write(ctx context.Context, effects []rules.Effect) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if s.before != nil {
		s.before(s)
	}
	if s.fails != nil {
		return s.fails
	}
	for _, e := range effects {
		if fmt.Sprint(s.rows[e.File]) != e.Version {
			return fmt.Errorf("%s: %w", e.File, loop.ErrConflict)
		}
	}
	for _, e := range effects {
		s.rows[e.File] = e.Value.(int)
	}
	return nil
}

const tablePolicy = `
ralph: 1
facts: {a: {table: a}, b: {table: b}}
rules:
  - name: go
    when: a.n < 100
    continue: a is ${a.n}, so far ${loop.continuations}
    then: [{set: a.n = a.n + 1}, {set: b.n = a.n}]
`

// The effects of a rule go to the source of its facts, in one call. After a conflict the
// loop decides again, with the facts as they are now and the memory as it was; any other
// error ends the loop, and nothing is counted.
func TestWriter(t *testing.T) {
	rows := func() map[string]int { return map[string]int{"a": 1, "b": 0} }
	meanwhile := 0
	for _, c := range []struct {
		name  string
		table *table
		want  string
		rows  map[string]int
		err   string
	}{
		{"nothing comes in between", &table{}, "a is 1, so far 0", map[string]int{"a": 2, "b": 1}, ""},
		{"somebody does, three times", &table{before: func(s *table) {
			if meanwhile++; meanwhile <= 3 {
				s.rows["a"] += 10
			}
		}}, "a is 31, so far 0", map[string]int{"a": 32, "b": 31}, ""},
		{"somebody does, and now no rule holds", &table{before: func(s *table) { s.rows["a"] = 100 }}, "stop", map[string]int{"a": 100, "b": 0}, ""},
		{"it fails", &table{fails: errors.New("the disk is full")}, "stop", rows(), "the disk is full"},
		{"it panics", &table{before: func(*table) { panic("boom") }}, "stop", rows(), "the source table panicked: boom"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t, nil)
			c.table.name, c.table.rows = "table", rows()
			l := p.named("policy.yaml", tablePolicy, []loop.Source{c.table})
			d := p.run(l, p.turn("t"))
			if said(d) != c.want || (d.Err != nil) != (c.err != "") || d.Err != nil && !strings.Contains(d.Err.Error(), c.err) {
				t.Errorf("it says %q, error %v", said(d), d.Err)
			}
			if diff := cmp.Diff(c.rows, c.table.rows); diff != "" {
				t.Errorf("rows (-want +got)\n%s", diff)
			}
			if c.err != "" {
				c.table.before, c.table.fails = nil, nil
				if d := p.run(l, p.turn("t")); said(d) != "a is 1, so far 0" {
					t.Errorf("afterwards it says %q: %v", said(d), d.Err)
				}
			}
		})
	}
}

// With gate: all the rules of a verdict may change different things. What one Writer
// has written is not written twice because the next has a conflict.
func TestTwoWriters(t *testing.T) {
	const policy = `
ralph: 1
gate: all
facts: {a: {first: a}, b: {second: b}}
rules:
  - {name: one, continue: one, then: [{set: a.n = a.n + 1}]}
  - {name: two, continue: two, then: [{set: b.n = b.n + 1}]}
`
	for _, c := range []struct {
		name          string
		conflict      bool
		first, second int
	}{{"both", false, 2, 2}, {"the second has a conflict", true, 2, 11}} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t, nil)
			first, second := &table{name: "first", rows: map[string]int{"a": 1}}, &table{name: "second", rows: map[string]int{"b": 1}}
			if c.conflict {
				second.before = func(s *table) { s.rows["b"] = 11 }
			}
			d := p.run(p.named("policy.yaml", policy, []loop.Source{first, second}), p.stop())
			if (d.Err != nil) != c.conflict || errors.Is(d.Err, loop.ErrConflict) {
				t.Errorf("it says %q, error %v", said(d), d.Err)
			}
			if first.rows["a"] != c.first || second.rows["b"] != c.second {
				t.Errorf("rows %v and %v", first.rows, second.rows)
			}
		})
	}
}

// New reports what a loop cannot do, by the name that the policy uses for it.
func TestNewNamesWhatIsMissing(t *testing.T) {
	kinds := []rules.SourceKind{{Name: "ask", Doc: "Asks."}, {Name: "table", Doc: "Rows.", Editable: true}}
	for _, c := range []struct {
		name, policy string
		opts         []loop.Option
		want         string // in the error; "" is none
	}{
		{"a source that the loop does not have", "facts: {it: {ask: x}}\nrules: []", nil, "the fact it comes from the source ask, which the loop does not have: pass it"},
		{"the judge", "facts: {it: {judge: more, returns: {properties: {more: {type: boolean}}}}}\nrules: []", nil, "the fact it comes from the source judge"},
		{"one that is given by value", "facts: {it: {ask: x}}\nrules: []", []loop.Option{loop.WithValues(map[string]any{"it": 1})}, ""},
		{"a kind that no fact is of", "rules: []", nil, ""},
		{"an editable source that cannot write", "rules: []", []loop.Option{loop.WithSource(kindOnly{kinds[1]})}, "the source table is Editable but not a loop.Writer"},
		{"effects of a file and a table at once",
			"facts: {a: {table: a}, s: {json: s.json}}\nrules: [{name: both, continue: on, then: [{set: a.n = 1}, {set: s.n = 1}]}]",
			[]loop.Option{loop.WithSource(&table{name: "table"})}, "the rule both changes the source table and the files"},
		{"effects of several files at once",
			"facts: {a: {frontmatter: a}, s: {json: s.json}, x: {text: x}}\nrules: [{name: all, stop: off, then: [{set: a.n = 1}, {set: s.n = 1}, {delete: x}]}]", nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := loop.Config()
			cfg.Sources = kinds
			program, diags := rules.Load(t.Context(), fstest.MapFS{"p.yaml": {Data: []byte("ralph: 1\n" + c.policy)}}, "p.yaml", cfg)
			if program == nil {
				t.Fatal(diags.Format())
			}
			l, err := loop.New(program, c.opts...)
			if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || l != nil) {
				t.Errorf("loop %v, error %v, want %q", l, err, c.want)
			}
		})
	}
}

// kindOnly has a kind and no more.
type kindOnly struct{ kind rules.SourceKind }

func (s kindOnly) Kind() rules.SourceKind                         { return s.kind }
func (s kindOnly) Gather(context.Context, loop.Query) rules.Value { return rules.Value{V: "secret"} }

// The properties of a kind hold for an embedder's source as for ralph's: it is gathered
// only for trusted policies, and its values are not shown.
func TestKinds(t *testing.T) {
	const policy = "ralph: 1\nfacts: {it: {own: x}}\nrules:\n  - {name: go, when: it == 'secret', continue: '${it}', notice: 'it is ${it}'}\n  - {name: no, stop: '${it}'}\n"
	t.Run("trust", func(t *testing.T) {
		p := newProject(t, nil)
		own := kindOnly{rules.SourceKind{Name: "own", Trust: "writes to the moon"}}
		d := p.run(p.named("p.yaml", policy, []loop.Source{own}), p.stop())
		if d.Continue() || !strings.Contains(strings.Join(d.Notices, "\n"), "it writes to the moon, which is not approved yet") {
			t.Errorf("it says %q, reported %q", said(d), d.Notices)
		}
		if d := p.run(p.named("p.yaml", policy, []loop.Source{own}, trusted()), p.stop()); said(d) != "secret" {
			t.Errorf("trusted, it says %q", said(d))
		}
		var asked []string
		refuse := loop.WithTrust(func(f *rules.Fact, files []rules.File) error {
			asked = append(asked, f.Name, files[0].Name)
			return errors.New("which the moon has to allow")
		})
		d = p.run(p.named("p.yaml", policy, []loop.Source{own}, refuse), p.stop())
		if d.Continue() || !strings.Contains(strings.Join(d.Notices, "\n"), "it writes to the moon, which the moon has to allow") {
			t.Errorf("refused, it says %q, reported %q", said(d), d.Notices)
		}
		if diff := cmp.Diff([]string{"it", "p.yaml"}, asked); diff != "" {
			t.Errorf("asked about (-want +got)\n%s", diff)
		}
	})
	t.Run("private", func(t *testing.T) {
		p := newProject(t, nil)
		own := kindOnly{rules.SourceKind{Name: "own", Private: true}}
		if d := p.run(p.named("p.yaml", policy, []loop.Source{own}), p.stop()); said(d) != "secret" {
			t.Errorf("it says %q", said(d))
		}
		if strings.Contains(p.lines[0], "secret\"") || strings.Contains(p.lines[0], "is secret") || !strings.Contains(p.lines[0], "(6 bytes)") {
			t.Errorf("the log has %s", p.lines[0])
		}
		p.run(p.named("p.yaml", policy, []loop.Source{own}, loop.WithPrivate()), p.stop())
		if strings.Contains(p.lines[1], "is secret") {
			t.Errorf("with WithPrivate the log has %s", p.lines[1])
		}
	})
}

// A source can replace one of ralph's own, and can be passed to Config too.
func TestOwnKindReplaced(t *testing.T) {
	p := newProject(t, nil)
	git := rules.SourceKinds()[slices.IndexFunc(rules.SourceKinds(), func(k rules.SourceKind) bool { return k.Name == "git" })]
	fake := sourceOf{git, func(context.Context, loop.Query) rules.Value { return rules.Value{V: map[string]any{"branch": "moon"}} }}
	d := p.run(p.named("p.yaml", "ralph: 1\nfacts: {g: {git: .}}\nrules: [{name: go, continue: '${g.branch}'}]", []loop.Source{fake}), p.stop())
	if said(d) != "moon" {
		t.Errorf("it says %q: %v", said(d), d.Err)
	}
}

// sourceOf returns a source of a kind, from a function.
type sourceOf struct {
	kind   rules.SourceKind
	gather func(context.Context, loop.Query) rules.Value
}

func (s sourceOf) Kind() rules.SourceKind { return s.kind }

func (s sourceOf) Gather(ctx context.Context, q loop.Query) rules.Value { return s.gather(ctx, q) }

// Values by name are asked first, as any Go value that JSON can hold.
func TestWithValues(t *testing.T) {
	type task struct {
		Done  bool   `json:"done"`
		Title string `json:"title"`
	}
	const policy = `
ralph: 1
facts:
  todo: {json: todo.json, schema: {properties: {left: {type: integer}, next: {type: object, properties: {title: {type: string}, done: {type: boolean}}}}}}
  other: {text: other.txt}
rules:
  - name: go
    when: todo.left > 0 and not todo.next.done and exists("x")
    continue: ${todo.left} left, ${todo.next.title}, ${transcript.last}, ${other}
`
	values := map[string]any{
		"todo":            map[string]any{"left": int64(3), "next": task{Title: "dry"}},
		"transcript.last": "so far",
		"exists":          func(path string) bool { return path == "x" },
	}
	p := newProject(t, map[string]string{"other.txt": "from disk"})
	if d := p.run(p.loop(policy, loop.WithValues(values)), p.stop()); said(d) != "3 left, dry, so far, from disk" {
		t.Errorf("it says %q, reported %q", said(d), d.Notices)
	}
	values["todo"] = make(chan int)
	d := p.run(p.loop(policy, loop.WithValues(values)), p.stop())
	if reported := strings.Join(d.Notices, "\n"); d.Continue() || !strings.Contains(reported, "unsupported type: chan int") {
		t.Errorf("it says %q, reported %q", said(d), reported)
	}
	for name, ok := range map[string]bool{"n": true, "env.HOME": true, "transcript.last": true, "N": false, "transcript.lst": false} {
		l, diags := loop.Load(t.Context(), fstest.MapFS{"p.yaml": {Data: []byte("ralph: 1\nfacts: {n: {text: n.txt}}\nrules: [{name: go, continue: on}]")}}, "p.yaml",
			loop.WithValues(map[string]any{name: "x"}))
		if (l != nil) != ok || ok != (diags.Err() == nil) {
			t.Errorf("the value %s: %v", name, diags)
		}
	}
}

// The zero event is a Stop, and no nil value that an option has inside panics.
func TestOptionsOfNothing(t *testing.T) {
	const goOn = "ralph: 1\nrules: [{name: go, when: hook_event_name == \"Stop\", continue: on}]"
	for _, c := range []struct {
		name, policy string
		opts         []loop.Option
		want         string
	}{
		{"nothing", goOn, nil, "on"},
		{"no facts", goOn, []loop.Option{loop.WithFacts(func(host.Event, rules.Facts) rules.Facts { return nil })}, "stop"},
		{"a nil recorder", goOn, []loop.Option{loop.WithRecorder((*looptest.Records)(nil))}, "on"},
		{"a nil store", goOn, []loop.Option{loop.WithStore((*rows)(nil))}, "stop"},
		{"a value of nothing", "ralph: 1\nfacts: {f: {text: f}}\nrules: [{name: go, when: missing(f), continue: on}]", []loop.Option{loop.WithValues(map[string]any{"f": nil})}, "on"},
		{"a value of a nil pointer", "ralph: 1\nfacts: {f: {text: f}}\nrules: [{name: go, when: missing(f), continue: on}]", []loop.Option{loop.WithValues(map[string]any{"f": (*string)(nil)})}, "on"},
		{"a name of a wrong type", "ralph: 1\nrules: [{name: go, when: said(\"x\"), continue: on}]", []loop.Option{loop.WithValues(map[string]any{"said": 7})}, "stop"},
	} {
		l, err := loop.New(withEffects(t, c.policy), c.opts...)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		d, err := l.Run(t.Context(), host.Event{})
		if said(d) != c.want || d.Event.Name != host.Stop || (err != nil) != (d.Err != nil) {
			t.Errorf("%s: it says %q to %q, want %q; error %v", c.name, said(d), d.Event.Name, c.want, err)
		}
		decoded(t, l.Hook(t.Context(), nil, nil))
	}
	l, err := loop.New(new(rules.Program))
	if err != nil {
		return
	}
	if d, _ := l.Run(t.Context(), host.Event{}); d.Continue() {
		t.Error("a program that Load did not make goes on")
	}
}

// meeting is a source whose facts wait for each other.
type meeting struct {
	all  *sync.WaitGroup
	fail string // the fact that panics
}

func (s meeting) Kind() rules.SourceKind {
	return rules.SourceKind{Name: "meeting", Doc: "Waits for others.", Timeout: time.Minute, Once: true}
}

func (s meeting) Gather(ctx context.Context, q loop.Query) rules.Value {
	if _, err := q.Session(ctx); err != nil {
		return rules.Value{Status: rules.Missing, Problem: err.Error()}
	}
	s.all.Done()
	s.all.Wait()
	if q.Args[0] == s.fail {
		panic("boom")
	}
	return rules.Value{V: q.Args[0]}
}

// The sources of a gate gather at the same time, also below values, and a panic of one is its own.
func TestSourcesGatherAtTheSameTime(t *testing.T) {
	for name, c := range map[string]struct {
		opts []loop.Option
		fail string
		want string
	}{
		"sources":        {want: "one\n\ntwo\n\nthree"},
		"one that fails": {fail: "b", want: "one\n\nthree"},
		"below values":   {opts: []loop.Option{loop.WithValues(map[string]any{"cwd": "/"})}, want: "one\n\ntwo\n\nthree"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t, nil)
			s := meeting{new(sync.WaitGroup), c.fail}
			s.all.Add(3)
			l := p.named("policy.yaml", `
ralph: 1
gate: all
facts: {a: {meeting: a}, b: {meeting: b}, c: {meeting: c}}
limits: {repeats: 3}
rules: [{name: one, when: a == "a", continue: one}, {name: two, when: b == "b", continue: two}, {name: three, when: c == "c", continue: three}]
`, []loop.Source{s}, c.opts...)
			d := p.run(l, p.stop())
			if said(d) != c.want {
				t.Errorf("it says %q, want %q; it reports %q", said(d), c.want, d.Notices)
			}
			if c.fail != "" && !strings.Contains(strings.Join(d.Notices, "\n"), "b: the source meeting panicked: boom") {
				t.Errorf("it reports %q", d.Notices)
			}
		})
	}
}
