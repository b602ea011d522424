package loop_test

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// nothing has each option with nil, or with what is as empty, and the error. Options that take nothing, or are for
// structs and lists that may be empty, have none.
var nothing = map[string]struct {
	option loop.Option
	want   string
}{
	"WithAllow":     {},
	"WithBudget":    {},
	"WithClock":     {loop.WithClock(nil), "loop.WithClock has no value: leave it out for time.Now"},
	"WithDeadline":  {loop.WithDeadline(0), "the time of loop.WithDeadline must be positive; got 0s"},
	"WithEffect":    {effect("page", nil), `the effect "page" of loop.WithEffect needs a name, and a function that carries it out`},
	"WithEnv":       {loop.WithEnv(nil), `loop.WithEnv has no value: leave it out for os.Getenv, or give a function that returns ""`},
	"WithEvents":    {},
	"WithFacts":     {loop.WithFacts(nil), "loop.WithFacts has no value: leave it out"},
	"WithFunctions": {loop.WithFunctions(rules.Function{Name: "f"}), `the function "f" cannot be added: its Func must be a function; got <nil>`},
	"WithLazy":      {},
	"WithLimits":    {},
	"WithName":      {loop.WithName(""), "loop.WithName has no value: leave it out for the program's file name"},
	"WithObserver":  {loop.WithObserver(nil), "loop.WithObserver has no value: leave it out"},
	"WithParams":    {loop.WithParams(nil), "loop.WithParams has no value: leave it out, or give a map, which may be empty"},
	"WithPrivate":   {},
	"WithRecorder":  {loop.WithRecorder(nil), "loop.WithRecorder has no value: leave it out to record nothing"},
	"WithRoot":      {loop.WithRoot(""), "loop.WithRoot has no value: name a directory, or leave it out for a loop without files"},
	"WithScope":     {loop.WithScope(""), "loop.WithScope has no value: name the tenant, or leave it out for the scope of ralph's own loops"},
	"WithShipped":   {loop.WithShipped(nil), "loop.WithShipped has no value: leave it out for ralph's own files, or give an embed.FS{} for none"},
	"WithSource":    {loop.WithSource(nil), "loop.WithSource has no value: leave it out"},
	"WithState":     {loop.WithState(""), "loop.WithState has no value: name a directory, or leave it out to keep nothing on disk"},
	"WithStore":     {loop.WithStore(nil), "loop.WithStore has no value: leave it out to keep memories in the process, or give loop.InMemory()"},
	"WithTrust":     {loop.WithTrust(nil), "loop.WithTrust has no value: leave it out to trust what ships with ralph or is approved"},
	"WithUserScope": {loop.WithUserScope(nil), "loop.WithUserScope has no value: leave the function out for the projects that the user trusted"},
	"WithValues":    {loop.WithValues(nil), "loop.WithValues has no value: leave it out, or give a map, which may be empty"},
	"Local":         {},
}

// Nil is refused, and the error says what to do instead.
func TestOptionsOfNil(t *testing.T) {
	program, _ := rules.LoadBytes(t.Context(), "p.yaml", []byte(goOn), loop.Config())
	for name, tt := range nothing {
		if tt.option == nil {
			continue
		}
		_, loaded := made(t, goOn, tt.option)
		_, err := loop.New(program, tt.option)
		for _, err := range []error{loaded, err} {
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v, want %q", name, err, tt.want)
			}
		}
	}
	if _, err := made(t, goOn, loop.Local(), nil); err == nil || !strings.Contains(err.Error(), "option 2 of 2 is nil: leave it out") {
		t.Error(err)
	}
}

// made loads a policy.
func made(t *testing.T, policy string, opts ...loop.Option) (*loop.Loop, error) {
	l, found := loop.Load(t.Context(), fstest.MapFS{"p.yaml": {Data: []byte(policy)}}, "p.yaml", opts...)
	return l, found.Err()
}

// untrusted is a source that needs approval.
type untrusted struct{}

func (untrusted) Kind() rules.SourceKind {
	return rules.SourceKind{Name: "page", Doc: "A page.", Trust: "asks a server"}
}

func (untrusted) Gather(context.Context, loop.Query) rules.Value { return rules.Value{V: "read"} }

// An event that the program declares is one that a policy may leave out.
func TestDeclaredEventIsSkipped(t *testing.T) {
	l, err := made(t, goOn, loop.WithEvents("Deploy"))
	if err != nil {
		t.Fatal(err)
	}
	if d, err := l.Run(t.Context(), host.Event{Name: "Deploy"}); err != nil || d.Outcome() != loop.Skipped {
		t.Errorf("outcome %s, error %v", d.Outcome(), err)
	}
}

// The options of two libraries add up, or restrict further; none replaces another.
func TestOptionsTwice(t *testing.T) {
	const (
		reads = "ralph: 1\nfacts: {page: {page: x}}\nrules: [{name: go, continue: '${page}'}]\n"
		twice = " is given twice: give it once, since it has one value"
		other = " twice: give it once, or give one of the two another name"
	)
	var order strings.Builder // what observers and facts did
	observer := func(name string) loop.Option {
		return loop.WithObserver(func(ctx context.Context, _ host.Event) (context.Context, func(*loop.Decision)) {
			fmt.Fprintf(&order, ", begin %s", name)
			return ctx, func(*loop.Decision) { fmt.Fprintf(&order, ", end %s", name) }
		})
	}
	facts := func(name string) loop.Option {
		return loop.WithFacts(func(_ host.Event, world rules.Facts) rules.Facts {
			return named{world, name}
		})
	}
	allow := func(names ...string) loop.Option { return loop.WithAllow(rules.Capabilities{Names: names}) }
	trust := func(err error) loop.Option {
		return loop.WithTrust(func(*rules.Fact, []rules.File) error { return err })
	}
	user := func(err error) loop.Option { return loop.WithUserScope(func(string) error { return err }) }
	budget := func(steps int) loop.Option { return loop.WithBudget(rules.Budget{Steps: steps}) }
	records := func(name string) loop.Option {
		return loop.WithRecorder(recorder(func(*loop.Record) error { fmt.Fprintf(&order, ", %s", name); return nil }))
	}
	no, root, id := errors.New("which is not for you"), t.TempDir(), func() int { return 1 }
	if err := os.WriteFile(filepath.Join(root, "f.txt"), []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	state := t.TempDir()
	if _, err := store.Open(state).Trust(root, time.Now()); err != nil {
		t.Fatal(err)
	}
	listed := loop.WithState(state) // which has root on the user's list
	untested := maps.Clone(nothing)
	type options []loop.Option
	const (
		long    = "ralph: 1\nrules:\n  - name: go\n    when: count(1..9000, true) > 0\n    continue: go on\n"
		session = "ralph: 1\nrules: [{name: go, continue: '${session_id}'}]\n"
		home    = "ralph: 1\nrules: [{name: go, continue: '${env.HOME}'}]\n"
		file    = "ralph: 1\nfacts: {f: {text: f.txt}}\nrules: [{name: go, continue: '${f}'}]\n"
	)
	for _, tt := range []struct {
		name   string
		opts   []loop.Option // two, and what they need
		policy string        // goOn if it is empty
		want   string        // the error, or what the decision says
	}{
		// What a loop has one of.
		{"WithClock", options{loop.WithClock(time.Now), loop.WithClock(time.Now)}, "", "loop.WithClock" + twice},
		{"WithEnv", options{loop.WithEnv(strings.ToLower), loop.WithEnv(strings.ToUpper)}, "", "loop.WithEnv" + twice},
		{"WithName", options{loop.WithName("a"), loop.WithName("b")}, "", "loop.WithName" + twice},
		{"WithRoot", options{loop.WithRoot(root), loop.WithRoot(t.TempDir())}, "", "loop.WithRoot" + twice},
		{"WithScope", options{loop.WithScope("a"), loop.WithScope("b")}, "", "loop.WithScope" + twice},
		{"WithShipped", options{loop.WithShipped(embed.FS{}), loop.WithShipped(embed.FS{})}, "", "loop.WithShipped" + twice},
		{"WithState", options{loop.WithState(t.TempDir()), loop.WithState(t.TempDir())}, "", "loop.WithState" + twice},
		{"WithStore", options{loop.WithStore(loop.InMemory()), loop.WithStore(loop.InMemory())}, "", "loop.WithStore" + twice},

		// What has a name.
		{"WithEffect", options{effect("page", func(context.Context, loop.Call) error { return nil }), effect("page", func(context.Context, loop.Call) error { return nil })}, "", `loop.WithEffect has "page"` + other},
		{"WithEvents", options{loop.WithEvents("Deploy"), loop.WithEvents("Merge", "Deploy")}, "", `loop.WithEvents has "Deploy"` + other},
		{"WithEvents", options{loop.WithEvents("Deploy"), loop.WithEvents("Merge")}, "ralph: 1\nevents: [Stop, Deploy, Merge]\nrules: [{name: go, continue: go on}]\n", "go on"},
		{"WithFunctions", options{loop.WithFunctions(rules.Function{Name: "f", Func: id}), loop.WithFunctions(rules.Function{Name: "f", Func: id})}, "", `loop.WithFunctions has "f"` + other},
		{"WithFunctions", options{loop.WithFunctions(rules.Function{Name: "f", Func: id}), loop.WithFunctions(rules.Function{Name: "g", Func: id})}, "ralph: 1\nrules: [{name: go, continue: '${f() + g()}'}]\n", "2"},
		{"WithParams", options{loop.WithParams(map[string]string{"n": "1"}), loop.WithParams(map[string]string{"n": "2"})}, "", `loop.WithParams has "n"` + other},
		{"WithParams", options{loop.WithParams(map[string]string{"n": "1"}), loop.WithParams(map[string]string{"m": "2"})}, "ralph: 1\nparams: {n: {type: integer}, m: {type: integer}}\nrules: [{name: go, continue: '${n} ${m}'}]\n", "1 2"},
		{"WithSource", options{loop.WithSource(source{"ask", nil}), loop.WithSource(source{"ask", nil})}, "", `loop.WithSource has "ask"` + other},
		{"WithValues", options{loop.WithValues(map[string]any{"f": "1"}), loop.WithValues(map[string]any{"f": "1"})}, file, `loop.WithValues has "f"` + other},
		{"WithValues", options{loop.WithValues(map[string]any{"session_id": "s"}), loop.WithValues(map[string]any{"cwd": "d"})}, "ralph: 1\nrules: [{name: go, continue: '${session_id} ${cwd}'}]\n", "s d"},

		// What restricts.
		{"WithAllow", options{allow("session_id", "cwd"), allow("session_id")}, session, "s"},
		{"WithAllow", options{allow("env.HOME"), allow("session_id")}, home, `the policy may not use the name "env.HOME"`},
		{"WithAllow", options{allow("session_id"), allow("env.HOME")}, home, `the policy may not use the name "env.HOME"`},
		{"WithBudget", options{budget(100), budget(1_000_000)}, long, "stop, budget"},
		{"WithBudget", options{budget(1_000_000), budget(100)}, long, "stop, budget"},
		{"WithBudget", options{budget(0), budget(1_000_000)}, long, "go on"},
		{"WithDeadline", options{loop.WithDeadline(time.Minute), loop.WithDeadline(1)}, "", "stop, context"},
		{"WithDeadline", options{loop.WithDeadline(1), loop.WithDeadline(time.Minute)}, "", "stop, context"},
		{"WithLimits", options{loop.WithLimits(rules.LoadLimits{Nodes: 3}), loop.WithLimits(rules.LoadLimits{Nodes: 1000})}, "", "the policy and its files have more than 3 values"},
		{"WithLimits", options{loop.WithLimits(rules.LoadLimits{Bytes: 1000}), loop.WithLimits(rules.LoadLimits{Nodes: 3})}, "", "the policy and its files have more than 3 values"},
		{"WithTrust", options{trust(nil), trust(nil), loop.WithSource(untrusted{})}, reads, "read"},
		{"WithTrust", options{trust(nil), trust(no), loop.WithSource(untrusted{})}, reads, "stop, approval"},
		{"WithTrust", options{trust(no), trust(nil), loop.WithSource(untrusted{})}, reads, "stop, approval"},
		{"WithUserScope", options{user(nil), user(nil), loop.WithRoot(root)}, file, "kept"},
		{"WithUserScope", options{user(nil), user(no), loop.WithRoot(root)}, file, "stop, approval"},
		{"WithUserScope", options{loop.WithUserScope(), loop.WithUserScope(), loop.WithRoot(root), listed}, file, "kept"},
		{"WithUserScope", options{user(no), user(nil), loop.WithRoot(root)}, file, "stop, approval"},

		// What nests or adds up.
		{"WithFacts", options{facts("outer"), facts("inner")}, session, "s inner outer"},
		{"WithObserver", options{observer("outer"), observer("inner")}, "", "go on, begin outer, begin inner, end inner, end outer"},
		{"WithRecorder", options{records("first"), records("second")}, "", "go on, first, second"},
		{"Local", options{loop.Local(), loop.Local(), loop.WithRoot(root), loop.WithState(t.TempDir())}, "", "go on"},
		{"WithLazy", options{loop.WithLazy(), loop.WithLazy()}, "", "go on"},
		{"WithPrivate", options{loop.WithPrivate(), loop.WithPrivate()}, "", "go on"},
	} {
		delete(untested, tt.name)
		for _, o := range tt.opts { // an option may be used again, and then does the same
			_ = loop.Config(o)
		}
		for range 2 {
			order.Reset()
			l, err := made(t, cmp.Or(tt.policy, goOn), tt.opts...)
			if err != nil {
				if !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
				}
				continue
			}
			d, err := l.Run(t.Context(), host.Event{SessionID: "s"})
			got := d.Verdict.Reason + order.String()
			if !d.Continue() {
				got = "stop, " + cmp.Or(string(d.Verdict.Cause), fmt.Sprint(err))
			}
			if got != tt.want {
				t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
			}
		}
	}
	if len(untested) > 0 {
		t.Errorf("options without a row: %v", untested)
	}
}

// named adds its name to that of the session.
type named struct {
	rules.Facts
	name string
}

func (n named) Name(ctx context.Context, name string) any {
	v := n.Facts.Name(ctx, name)
	if name == "session_id" {
		return fmt.Sprint(v, " ", n.name)
	}
	return v
}
