package loop_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// sourced are the options of sources.
func sourced(sources []loop.Source) (opts []loop.Option) {
	for _, s := range sources {
		opts = append(opts, loop.WithSource(s))
	}
	return opts
}

// effect is an effect of the program.
func effect(name string, do func(context.Context, loop.Call) error) loop.Option {
	return loop.WithEffect(rules.EffectDecl{Name: name, Doc: "Does " + name + "."}, do)
}

// withEffects is a program with its own effects.
func withEffects(t *testing.T, policy string, sources ...loop.Source) *rules.Program {
	t.Helper()
	cfg := loop.Config(sourced(sources)...)
	cfg.Effects = []rules.EffectDecl{{Name: "page", Doc: "Pages."}, {Name: "post", Doc: "Posts."}}
	program, diags := rules.LoadBytes(t.Context(), "p.yaml", []byte(policy), cfg)
	if program == nil {
		t.Fatal(diags.Format())
	}
	return program
}

const effectPolicy = `
ralph: 1
gate: all
facts: {a: {table: a}}
rules:
  - name: first
    when: a.n < 100
    continue: a is ${a.n}
    then:
      - page: {who: 'team ${a.n}', times: 2}
      - set: a.n = a.n + 1
      - post: [one, '${a.n}']
  - name: second
    notice: two
    then: [{page: them}]
`

// failures are the effects that were not made, as a user sees them.
func failures(d *loop.Decision) (all []string) {
	for _, f := range d.Failures {
		all = append(all, f.String())
	}
	return all
}

// Own effects are carried out once each, in the order of the rules, after the memory was
// saved and the facts were written, also if the decision had to be made again. One that
// fails holds up those after it, and changes no verdict.
func TestOwnEffects(t *testing.T) {
	for _, c := range []struct {
		name  string
		page  error
		panic bool
		want  []string
	}{
		{"done", nil, false, nil},
		{"one fails", errors.New("nobody is on call"), false, []string{"rule first: page was not carried out: nobody is on call"}},
		{"a conflict is no reason to decide again", loop.ErrConflict, false, []string{"rule first: page was not carried out: changed since it was read"}},
		{"one panics", nil, true, []string{"rule first: page was not carried out: it panicked: boom"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newRows()
			conflicts := 2
			src := &table{name: "table", rows: map[string]int{"a": 1}, before: func(s *table) {
				if conflicts--; conflicts >= 0 {
					s.rows["a"] += 10
				}
			}}
			var done []string
			carryOut := func(_ context.Context, call loop.Call) error {
				e := call.Effect
				done = append(done, fmt.Sprintf("%s %v, a is %d, total %d", e.Name, e.Value, src.rows["a"], s.total(t)))
				switch {
				case e.Name != "page":
					return nil
				case c.panic:
					panic("boom")
				}
				return c.page
			}
			l, err := loop.New(withEffects(t, effectPolicy, src), loop.WithSource(src), loop.WithStore(s), effect("page", carryOut), effect("post", carryOut))
			if err != nil {
				t.Fatal(err)
			}
			d, err := l.Run(t.Context(), host.Event{})
			if err != nil || said(d) != "a is 21" || !d.Kept {
				t.Errorf("it says %q, error %v", said(d), err)
			}
			want := []string{
				"page map[times:2 who:team 21], a is 22, total 1", "post [one 21], a is 22, total 1", "page them, a is 22, total 1",
			}
			if c.want != nil {
				want = want[:1]
			}
			if diff := cmp.Diff(want, done); diff != "" {
				t.Errorf("done (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(c.want, failures(d)); diff != "" {
				t.Errorf("failures (-want +got)\n%s", diff)
			}
			effects := d.Record(false).Effects
			if len(effects) != 4 || effects[0].Kind != rules.OwnEffect || effects[0].Name != "page" {
				t.Errorf("the record has the effects %+v", effects)
			}
		})
	}
}

// A verdict that was withdrawn has no effects.
func TestEffectsOfNoVerdict(t *testing.T) {
	src := &table{name: "table", rows: map[string]int{"a": 1}, fails: errors.New("the disk is full")}
	done := 0
	count := func(context.Context, loop.Call) error { done++; return nil }
	l, err := loop.New(withEffects(t, effectPolicy, src), loop.WithSource(src), effect("page", count), effect("post", count))
	if err != nil {
		t.Fatal(err)
	}
	d := l.Preview(t.Context(), host.Event{})
	if done > 0 {
		t.Error("Preview carries out")
	}
	if d, err := l.Apply(t.Context(), d); err == nil || d.Continue() || done > 0 {
		t.Errorf("it says %q, error %v, %d effects were carried out", said(d), err, done)
	}
}

// New reports an effect that nothing carries out, and where the policy has it.
func TestNewNamesMissingEffects(t *testing.T) {
	src := &table{name: "table"}
	program := withEffects(t, effectPolicy, src)
	none := func(context.Context, loop.Call) error { return nil }
	_, err := loop.New(program, loop.WithSource(src), effect("page", none))
	if err == nil || !strings.Contains(err.Error(), "p.yaml:12:9: nothing carries out post: pass a function with loop.WithEffect") {
		t.Errorf("error %v", err)
	}
}
