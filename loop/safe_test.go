package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/looptest"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

// load makes a loop of a policy text.
func load(t testing.TB, policy string, opts ...loop.Option) *loop.Loop {
	t.Helper()
	l, diags := loop.Load(t.Context(), fstest.MapFS{"p.yaml": {Data: []byte(policy)}}, "p.yaml", opts...)
	if l == nil {
		t.Fatal(diags.Format())
	}
	return l
}

const goOn = "ralph: 1\nrules: [{name: go, continue: go on}]\n"

// ci is a source whose facts have schemas.
type ci func(loop.Query) rules.Value

func (ci) Kind() rules.SourceKind {
	return rules.SourceKind{Name: "ci", Doc: "A run of tests.", Schema: true}
}

func (c ci) Gather(_ context.Context, q loop.Query) rules.Value { return c(q) }

// A field of a wrong type is unusable wherever the value is from, and never its default.
func TestWrongTypes(t *testing.T) {
	const (
		rule   = "limits: {continuations: 1}\nrules: [{name: go, when: ci.more, continue: go on}]\n"
		schema = "schema: {properties: {more: {type: boolean, default: true}}}"
		own    = "ralph: 1\nfacts: {ci: {ci: x, " + schema + "}}\n" + rule
		want   = `stop [ci.more is "certainly not", expected boolean; write true or false]`
	)
	type run struct {
		More string `json:"more"`
	}
	for name, value := range map[string]any{
		"a map": map[string]any{"more": "certainly not"}, "a struct": run{"certainly not"}, "a pointer": &run{"certainly not"},
		"JSON": []byte(`{"more": "certainly not"}`),
	} {
		sources := map[string]func(q loop.Query) rules.Value{
			"raw":       func(loop.Query) rules.Value { return rules.Value{V: value, Version: "1"} },
			"converted": func(q loop.Query) rules.Value { return rules.ValueOf(q.Fact, value) },
		}
		if name == "JSON" {
			value = map[string]any{"more": "certainly not"} // bytes are text to a source
		}
		loops := map[string]*loop.Loop{"value": load(t, own, loop.WithValues(map[string]any{"ci": value}), loop.WithSource(ci(nil)))}
		for how, gather := range sources {
			loops[how] = load(t, own, loop.WithSource(ci(gather)))
		}
		for how, l := range loops {
			v := l.Preview(t.Context(), host.Event{}).Verdict
			if got := fmt.Sprint(v.Action, " ", v.Problems); got != want || v.Cause != rules.FaultFact {
				t.Errorf("%s, %s: %s, fault %q\nwant %s", name, how, got, v.Cause, want)
			}
		}
	}
}

// Whatever is refused is refused at once, and nothing that is public panics.
func TestNothingPublicPanics(t *testing.T) {
	ctx := t.Context()
	var none context.Context
	l, other, zero := load(t, goOn), load(t, goOn), new(loop.Loop)
	program, _ := rules.LoadBytes(ctx, "p.yaml", []byte(goOn), loop.Config())
	files := fstest.MapFS{"p.yaml": {Data: []byte(goOn)}}
	refuses := func(opts ...loop.Option) []error {
		_, err := loop.New(program, opts...)
		_, diags := loop.Load(ctx, files, "p.yaml", opts...)
		_ = loop.Config(opts...)
		return []error{err, diags.Err()}
	}
	runs := func(l *loop.Loop, ctx context.Context, ev host.Event) error {
		d, err := l.Run(ctx, ev)
		if d == nil || d.Err != err || d.Continue() {
			return nil
		}
		return err
	}
	applies := func(l *loop.Loop, ctx context.Context, d *loop.Decision) error {
		got, err := l.Apply(ctx, d)
		if got == nil || got.Err != err || got.Continue() {
			return nil
		}
		return err
	}
	drains := func(l *loop.Loop, ctx context.Context) error { _, err := l.Drain(ctx); return err }
	loads := func(ctx context.Context, fsys fs.FS, name string) error {
		l, diags := loop.Load(ctx, fsys, name)
		if (l == nil) != (diags.Err() != nil) {
			return nil
		}
		return diags.Err()
	}
	replies := func(ctx context.Context, k loop.Hook) error {
		_, r := k.Reply(ctx, []byte("{}"))
		return errors.New(r.Notice)
	}
	loops := func(context.Context, host.Event) ([]*loop.Loop, []string, error) { return []*loop.Loop{l}, nil, nil }
	stops := func(a host.Answer) error {
		if !strings.Contains(string(a.Stdout), "ralph") || strings.Contains(string(a.Stdout), "block") {
			return nil
		}
		return errors.New(string(a.Stdout))
	}
	spent := l.Preview(ctx, host.Event{})
	if _, err := l.Apply(ctx, spent); err != nil {
		t.Fatal(err)
	}
	file := t.TempDir() + "/file"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	nobody := func(context.Context, loop.Call) error { return nil }
	_, err := loop.New(nil)
	_, zeroErr := loop.New(new(rules.Program))
	_, brokenErr := loop.Broken("p", nil)
	_, lookErr := l.Look(none, host.Event{})
	_, lookZero := zero.Look(ctx, host.Event{})
	_, awaits := l.Awaits(none, host.Event{}, "ci")
	_, awaitsZero := zero.Awaits(ctx, host.Event{}, "ci")
	_, startErr := zero.Start(none, host.Event{}, nil)
	refused := map[string][]error{ // by function: each is an error
		"New":    {err, zeroErr},
		"Broken": {brokenErr},
		"Load":   {loads(none, files, "p.yaml"), loads(ctx, nil, "p.yaml"), loads(ctx, files, ""), loads(ctx, files, "q.yaml")},
		"Run": {runs(l, none, host.Event{}), runs(zero, ctx, host.Event{}), runs(nil, ctx, host.Event{}),
			runs(l, ctx, host.Event{Values: map[string]any{"misspelt": 1}}), runs(l, ctx, host.Event{Values: map[string]any{"now": 1}})},
		"Preview":    {l.Preview(none, host.Event{}).Err, zero.Preview(ctx, host.Event{}).Err, (*loop.Loop)(nil).Preview(none, host.Event{}).Err},
		"Apply":      {applies(l, ctx, nil), applies(l, ctx, &loop.Decision{}), applies(l, ctx, other.Preview(ctx, host.Event{})), applies(l, ctx, spent), applies(l, none, l.Preview(ctx, host.Event{})), applies(zero, ctx, l.Preview(ctx, host.Event{})), applies(nil, none, nil)},
		"Replace":    {l.Replace(nil), l.Replace(new(rules.Program)), zero.Replace(program), (*loop.Loop)(nil).Replace(nil)},
		"Reload":     {l.Reload(none, files, "p.yaml").Err(), l.Reload(ctx, nil, "p.yaml").Err(), l.Reload(ctx, files, "q.yaml").Err(), zero.Reload(ctx, files, "p.yaml").Err(), (*loop.Loop)(nil).Reload(ctx, files, "p.yaml").Err()},
		"Look":       {lookErr, lookZero},
		"Awaits":     {awaits, awaitsZero},
		"Start":      {startErr},
		"Drain":      {drains(l, none), drains(zero, ctx), drains(nil, ctx), drains(load(t, goOn, loop.WithStore(newRows())), ctx)},
		"Reply":      {replies(ctx, loop.Hook{}), replies(none, loop.Hook{Loops: loops})},
		"Hook":       {stops(l.Hook(none, nil, nil)), stops(zero.Hook(ctx, nil, nil)), stops((*loop.Loop)(nil).Hook(none, new(host.Host), nil)), stops(l.Hook(ctx, nil, []byte("{}"), nil)), stops(l.Hook(ctx, nil, []byte(`{"session_id": "s"}`), l))},
		"WithRoot":   slices.Concat(refuses(loop.WithRoot(t.TempDir()+"/absent")), refuses(loop.WithRoot(file))),
		"WithStore":  refuses(loop.WithStore(loop.LocalStore(""))),
		"WithEffect": slices.Concat(refuses(effect("", nobody)), refuses(effect("set", nobody)), refuses(effect("Page!", nobody))),
		"WithValues": slices.Concat(refuses(loop.WithValues(map[string]any{"": 1})), refuses(loop.WithValues(map[string]any{"now": 1})),
			refuses(loop.WithValues(map[string]any{"misspelt": 1})), refuses(loop.WithValues(map[string]any{"loop.total": 1}))),
		"WithSource":    slices.Concat(refuses(loop.WithSource(source{"", nil})), refuses(loop.WithSource(source{"a b", nil})), refuses(loop.WithSource(source{"schema", nil}))),
		"WithEvents":    slices.Concat(refuses(loop.WithEvents("Stop")), refuses(loop.WithEvents("")), refuses(loop.WithEvents("De ploy\n"))),
		"WithFunctions": slices.Concat(refuses(loop.WithFunctions(rules.Function{Name: "f"})), refuses(loop.WithFunctions(rules.Function{Name: "a b", Func: func() int { return 1 }})), refuses(loop.WithFunctions(rules.Function{Func: func() int { return 1 }}))),
		"WithLimits":    refuses(loop.WithLimits(rules.LoadLimits{Nodes: -1})),
		"WithBudget":    refuses(loop.WithBudget(rules.Budget{Steps: -1})),
		"WithDeadline":  slices.Concat(refuses(loop.WithDeadline(0)), refuses(loop.WithDeadline(-1))),
		"WithRecorder":  refuses(loop.WithRecorder(loop.SlogRecorder(nil))),
		"UnmarshalJSON": {new(loop.Entry).UnmarshalJSON([]byte("{}"))},
		"SlogRecorder":  {loop.SlogRecorder(nil).Record(none, &loop.Record{})},
	}
	_, unused := loop.New(program, effect("page", nobody))
	refused["WithEffect"] = append(refused["WithEffect"], unused)
	for name, s := range map[string]loop.Store{"InMemory": loop.InMemory(), "LocalStore": loop.LocalStore(t.TempDir())} {
		_, err := s.Load(none, loop.Key{})
		refused[name] = []error{err, s.Save(none, loop.Write{})}
	}
	refused["LocalStore"] = append(refused["LocalStore"], loop.LocalStore("").Save(ctx, loop.Write{Entries: make([]loop.Entry, 1)}))
	_, v := loop.Query{}.Read(ctx, state.JSON)
	refused["Read"] = []error{errors.New(v.Problem)}
	for name, errs := range refused {
		for i, err := range errs {
			if err == nil || strings.Contains(err.Error(), "panic") || strings.Contains(err.Error(), "internal error") {
				t.Errorf("%s, %d: %v", name, i, err)
			}
		}
	}

	// What has no error returns something that can be used.
	harmless := []string{"Cause", "Config", "Ended", "Event", "ID", "MarshalJSON", "Outcome", "Record", "Session", "String", "WithDelivery"}
	for _, d := range []*loop.Decision{nil, {}, zero.Preview(ctx, host.Event{}), l.Preview(none, host.Event{}), spent} {
		if r := d.Record(true); r.V != 1 || r.ID == "" {
			t.Errorf("the record is %+v", r)
		}
		if b, err := json.Marshal(d); err != nil || (string(b) == "null") != (d == nil) {
			t.Errorf("the JSON is %s, error %v", b, err)
		}
	}
	if s, err := (loop.Query{}).Session(none); s != nil || err != nil {
		t.Errorf("a session %v, error %v", s, err)
	}
	tested := slices.Concat(harmless, slices.Collect(maps.Keys(refused)), slices.Collect(maps.Keys(nothing)))
	slices.Sort(tested)
	if diff := cmp.Diff(public(t), slices.Compact(tested)); diff != "" {
		t.Errorf("what is tested (-public +tested)\n%s", diff)
	}
}

// public lists the exported functions, and methods of exported types, of the package.
func public(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no files were found: ", err)
	}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !fn.Name.IsExported() {
				continue
			}
			if fn.Recv != nil {
				of := fn.Recv.List[0].Type
				if star, ok := of.(*ast.StarExpr); ok {
					of = star.X
				}
				if !of.(*ast.Ident).IsExported() {
					continue
				}
			}
			names = append(names, fn.Name.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// contended is a store that counts conflicts, and makes some.
type contended struct {
	loop.Store
	mu        sync.Mutex
	saves     int
	conflicts int
	first     int // so many saves find another memory
}

func (s *contended) Save(ctx context.Context, w loop.Write) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saves++
	if s.saves <= s.first {
		return fmt.Errorf("made: %w", loop.ErrConflict)
	}
	err := s.Store.Save(ctx, w)
	if errors.Is(err, loop.ErrConflict) {
		s.conflicts++
	}
	return err
}

// The events of a session are decided one after the other, in all loops of a process that
// share a store: exactly the limit continues, and none is decided twice.
func TestSessionAtOnce(t *testing.T) {
	const limit, stops = 100, 300
	s := &contended{Store: loop.InMemory()}
	loops := []*loop.Loop{}
	for range 3 {
		loops = append(loops, load(t, "ralph: 1\nlimits: {continuations: 100}\nrules: [{name: go, continue: go on}]\n", loop.WithStore(s)))
	}
	var all sync.WaitGroup
	decisions := make(chan *loop.Decision, stops)
	for i := range stops {
		all.Go(func() {
			d, err := loops[i%len(loops)].Run(t.Context(), host.Event{SessionID: "s"})
			if err != nil {
				t.Error(err)
			}
			decisions <- d
		})
	}
	all.Wait()
	close(decisions)
	continued, retries := 0, 0
	for d := range decisions {
		retries += d.Retries
		if d.Continue() {
			continued++
		}
	}
	if continued != limit || s.conflicts+retries > 0 {
		t.Errorf("%d of %d stops continued, %d conflicts, %d retries", continued, stops, s.conflicts, retries)
	}
}

// If others keep changing the memory, the decision is made again at growing intervals,
// and the record has the number of retries. A conflict until the deadline is both errors.
func TestConflicts(t *testing.T) {
	for _, c := range []struct {
		name  string
		first int
		want  int // retries, at most
	}{
		{"some", 5, 5}, {"until the deadline", 1 << 30, 300},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				records := new(looptest.Records)
				s := &contended{Store: loop.InMemory(), first: c.first}
				l := load(t, goOn, loop.WithStore(s), loop.WithRecorder(records))
				d, err := l.Run(t.Context(), host.Event{SessionID: "s", ID: "mine"})
				late := c.first > c.want
				if errors.Is(err, loop.ErrConflict) != late || errors.Is(err, context.DeadlineExceeded) != late || d.Err != err || d.Continue() == late {
					t.Errorf("it says %q, error %v", said(d), err)
				}
				r := records.All()[0]
				if r.Retries == 0 || r.Retries > c.want || r.Retries != d.Retries || r.ID != "mine" {
					t.Errorf("the record %s has %d retries, want %d at most", r.ID, r.Retries, c.want)
				}
			})
		})
	}
}

// What waits for another decision of its session until its deadline has both errors, and
// the session is free afterwards.
func TestSessionWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var quick atomic.Bool // a late source reads it beside the test
		l := load(t, "ralph: 1\nfacts: {a: {ask: x}}\nrules: [{name: go, when: a == 1, continue: go on}]\n",
			loop.WithDeadline(100*time.Second), loop.WithSource(source{"ask", func(context.Context, loop.Query) rules.Value {
				if !quick.Load() {
					time.Sleep(time.Minute)
				}
				return rules.Value{V: 1}
			}}))
		continued, waited, late := 0, 0, 0
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				switch d, err := l.Run(t.Context(), host.Event{SessionID: "s"}); {
				case d.Continue():
					continued++
				case errors.Is(err, loop.ErrConflict) && errors.Is(err, context.DeadlineExceeded):
					waited++
				case errors.Is(err, context.DeadlineExceeded):
					late++ // its source was
				default:
					t.Errorf("it says %q, error %v", said(d), err)
				}
			})
		}
		all.Wait()
		if continued != 1 || late != 1 || waited != 1 {
			t.Errorf("%d continued, %d were late, %d waited too long", continued, late, waited)
		}
		quick.Store(true)
		if d, err := l.Run(t.Context(), host.Event{SessionID: "s"}); err != nil || !d.Continue() {
			t.Errorf("afterwards it says %q, error %v", said(d), err)
		}
	})
}

// An effect can decide an event of the session that it is carried out for.
func TestEffectOfSession(t *testing.T) {
	var l *loop.Loop
	var inner []string
	l = load(t, "ralph: 1\nrules: [{name: go, when: loop.continuations < 2, continue: go on, then: [{again: x}]}]\n",
		effect("again", func(ctx context.Context, _ loop.Call) error {
			d, err := l.Run(ctx, host.Event{SessionID: "s"})
			inner = append(inner, said(d))
			return err
		}))
	d, err := l.Run(t.Context(), host.Event{SessionID: "s"})
	if diff := cmp.Diff([]string{"stop", "go on"}, inner); diff != "" || err != nil || !d.Continue() {
		t.Errorf("it says %q, error %v, inside (-want +got)\n%s", said(d), err, diff)
	}
}

// Decisions that have begun finish on the old program; later ones are made by the new one,
// on the same memory.
func TestReplace(t *testing.T) {
	const policy = `
ralph: 1
memory: {done: {type: TYPE, default: DEFAULT}}
rules:
  - name: go
    when: exists("x")
    continue: VERSION ${done}, streak ${loop.continuations}
    then: [{remember: done = NEXT}]
`
	version := func(of, typ, first, next string) string {
		return strings.NewReplacer("VERSION", of, "TYPE", typ, "DEFAULT", first, "NEXT", next).Replace(policy)
	}
	program := func(src string) *rules.Program {
		p, diags := rules.LoadBytes(t.Context(), "other.yaml", []byte(src), loop.Config())
		if p == nil {
			t.Fatal(diags.Format())
		}
		return p
	}
	reached, release := make(chan bool, 1), make(chan bool, 1)
	release <- true
	l := load(t, version("old", "integer", "0", "done + 1"), loop.WithValues(map[string]any{"exists": func(string) bool {
		reached <- true
		return <-release
	}}))
	run := func() string {
		d, err := l.Run(t.Context(), host.Event{SessionID: "s"})
		return fmt.Sprint(said(d), " ", d.Notices, " ", err)
	}
	if got := run(); got != "old 0, streak 0 [] <nil>" {
		t.Error(got)
	}
	<-reached
	under := make(chan string)
	go func() { under <- run() }()
	<-reached
	if err := l.Replace(program(version("new", "string", `"none"`, `"some"`))); err != nil {
		t.Fatal(err)
	}
	if err := l.Replace(program(strings.Replace(goOn, "continue: go on", "when: a == 1, continue: go on", 1) + "facts: {a: {input: {type: integer}}}\n")); err != nil {
		t.Errorf("a fact that the program returns: %v", err)
	}
	if err := l.Replace(program(version("new", "string", `"none"`, `"some"`))); err != nil {
		t.Fatal(err)
	}
	release <- true
	if got := <-under; got != "old 1, streak 1 [] <nil>" {
		t.Error(got)
	}
	release <- true
	if got := run(); !strings.HasPrefix(got, "new none, streak 2 [[ralph] the remembered value of done does not fit its schema, so its default is used") {
		t.Error(got)
	}
	broken, err := loop.Broken("p.yaml", errors.New("a tab"))
	if err != nil {
		t.Fatal(err)
	}
	if err := broken.Replace(program(goOn)); err != nil {
		t.Fatal(err)
	}
	if d, err := broken.Run(t.Context(), host.Event{}); err != nil || said(d) != "go on" || d.Policy != "p.yaml" {
		t.Errorf("%s: it says %q, error %v", d.Policy, said(d), err)
	}
	needs, diags := rules.LoadBytes(t.Context(), "p.yaml", []byte("ralph: 1\nfacts: {a: {ask: x}}\nrules: [{name: go, when: a == 1, continue: go on}]\n"), loop.Config(loop.WithSource(source{"ask", nil})))
	if needs == nil {
		t.Fatal(diags.Format())
	}
	if err := broken.Replace(needs); err == nil {
		t.Error("a program whose source the loop does not have replaces another")
	}
	if d, _ := broken.Run(t.Context(), host.Event{}); said(d) != "go on" {
		t.Errorf("after a Replace that was refused it says %q", said(d))
	}
}

type spanKey struct{}

// spanned notes who got the context of the observer.
type spanned struct {
	loop.Store
	seen map[string]bool
}

func (s *spanned) note(ctx context.Context, who string) {
	if ctx.Value(spanKey{}) == "span" {
		s.seen[who] = true
	}
}

func (s *spanned) Load(ctx context.Context, keys ...loop.Key) ([]loop.Entry, error) {
	s.note(ctx, "load")
	return s.Store.Load(ctx, keys...)
}

func (s *spanned) Save(ctx context.Context, w loop.Write) error {
	s.note(ctx, "save")
	return s.Store.Save(ctx, w)
}

func (s *spanned) Record(ctx context.Context, _ *loop.Record) error {
	s.note(ctx, "record")
	return nil
}

// The context of an observer reaches all that a loop calls, and it sees the decision at
// its end.
func TestObserver(t *testing.T) {
	s := &spanned{Store: loop.InMemory(), seen: map[string]bool{}}
	var ended []string
	opts := func(begin func(context.Context, host.Event) (context.Context, func(*loop.Decision))) []loop.Option {
		return []loop.Option{
			loop.WithObserver(begin), loop.WithStore(s), loop.WithRecorder(s),
			loop.WithSource(source{"ask", func(ctx context.Context, _ loop.Query) rules.Value { s.note(ctx, "source"); return rules.Value{V: 1} }}),
			effect("page", func(ctx context.Context, _ loop.Call) error { s.note(ctx, "effect"); return nil }),
		}
	}
	const policy = "ralph: 1\nfacts: {a: {ask: x}}\nrules: [{name: go, when: a == 1, continue: go on, then: [{page: x}]}]\n"
	l := load(t, policy, opts(func(ctx context.Context, ev host.Event) (context.Context, func(*loop.Decision)) {
		return context.WithValue(ctx, spanKey{}, "span"), func(d *loop.Decision) { ended = append(ended, ev.Name+" "+said(d)) }
	})...)
	if _, err := l.Run(t.Context(), host.Event{}); err != nil {
		t.Fatal(err)
	}
	if a := decoded(t, l.Hook(t.Context(), nil, []byte(`{"hook_event_name":"Stop","session_id":"s"}`))); a.Decision != "block" {
		t.Errorf("the hook says %+v", a)
	}
	l.Preview(t.Context(), host.Event{Name: "Stop"})
	if diff := cmp.Diff(map[string]bool{"load": true, "save": true, "record": true, "source": true, "effect": true}, s.seen); diff != "" {
		t.Errorf("who got the context (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Stop go on", "Stop go on", "Stop go on"}, ended); diff != "" {
		t.Errorf("what ended (-want +got)\n%s", diff)
	}
	for name, begin := range map[string]func(context.Context, host.Event) (context.Context, func(*loop.Decision)){
		"begin": func(context.Context, host.Event) (context.Context, func(*loop.Decision)) { panic("boom") },
		"end": func(ctx context.Context, _ host.Event) (context.Context, func(*loop.Decision)) {
			return ctx, func(*loop.Decision) { panic("boom") }
		},
	} {
		l := load(t, policy, opts(begin)...)
		if d, err := l.Run(t.Context(), host.Event{}); err == nil || d.Continue() {
			t.Errorf("%s panics: it says %q, error %v", name, said(d), err)
		}
		if a := decoded(t, l.Hook(t.Context(), nil, []byte(`{"hook_event_name":"Stop","session_id":"s"}`))); a.Decision != "" {
			t.Errorf("%s panics: the hook says %+v", name, a)
		}
	}
	if d, err := load(t, goOn, loop.WithObserver(func(context.Context, host.Event) (context.Context, func(*loop.Decision)) { return nil, nil })).Run(t.Context(), host.Event{}); err != nil || !d.Continue() {
		t.Errorf("an observer of nothing: it says %q, error %v", said(d), err)
	}
}

// One recorder that fails keeps no record from the others.
func TestRecorders(t *testing.T) {
	a, b := new(looptest.Records), new(looptest.Records)
	fails := recorder(func(*loop.Record) error { return errors.New("the disk is full") })
	panics := recorder(func(*loop.Record) error { panic("boom") })
	d, err := load(t, goOn, loop.WithRecorder(a, fails), loop.WithRecorder(panics, b)).Run(t.Context(), host.Event{})
	if err != nil || !d.Continue() || len(a.All()) != 1 || len(b.All()) != 1 {
		t.Errorf("it says %q, error %v, %d and %d records", said(d), err, len(a.All()), len(b.All()))
	}
	want := []string{"[ralph] a recorder does not have the decision: the disk is full", "[ralph] a recorder does not have the decision: the recorder panicked: boom"}
	if diff := cmp.Diff(want, d.Notices); diff != "" {
		t.Errorf("notices (-want +got)\n%s", diff)
	}
}

// Without a Recorder a decision has the short trace.
func TestTrace(t *testing.T) {
	const policy = "ralph: 1\nrules: [{name: go, when: session_id == \"\", continue: go on}]\n"
	for full, opts := range map[bool][]loop.Option{false: nil, true: {loop.WithRecorder(new(looptest.Records))}} {
		d, err := load(t, policy, opts...).Run(t.Context(), host.Event{})
		if trace := d.Verdict.Trace; err != nil || len(trace.Steps) != 1 || (len(trace.Steps[0].Operands) > 0) != full {
			t.Errorf("full %v: the trace is %+v, error %v", full, trace, err)
		}
	}
}

// A budget ends an evaluation.
func TestBudgetOption(t *testing.T) {
	const policy = "ralph: 1\nrules:\n  - name: go\n    when: count(1..9000, true) > 0\n    continue: go on\n"
	if d, err := load(t, policy).Run(t.Context(), host.Event{}); err != nil || !d.Continue() {
		t.Errorf("it says %q, error %v", said(d), err)
	}
	if d, _ := load(t, policy, loop.WithBudget(rules.Budget{Steps: 100})).Run(t.Context(), host.Event{}); d.Verdict.Cause != rules.FaultBudget {
		t.Errorf("it says %q, fault %q", said(d), d.Verdict.Cause)
	}
}
