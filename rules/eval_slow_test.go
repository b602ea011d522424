package rules_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/rules"
)

// slowWorld takes a second for each program, but for those in takes.
type slowWorld struct {
	*world
	takes map[string]time.Duration
	alone bool // it cannot be asked for several facts at the same time
	mu    sync.Mutex
	began []string // "1s a": which facts were asked for and when, by time and name
	start time.Time
}

func (w *slowWorld) Concurrent() bool { return !w.alone }

func (w *slowWorld) Fact(ctx context.Context, f *rules.Fact, args []string) rules.Value {
	if f.Source.Timeout == 0 {
		return w.world.Fact(ctx, f, args)
	}
	w.mu.Lock()
	w.began = append(w.began, time.Since(w.start).String()+" "+f.Name)
	w.mu.Unlock()
	takes, ok := w.takes[f.Name]
	if !ok {
		takes = time.Second
	}
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return rules.Value{Status: rules.Missing, Problem: "did not end in time"}
	}
	switch f.Name {
	case "panics":
		panic("a bug")
	case "withheld":
		return rules.Value{Status: rules.Withheld, Problem: "it runs a program"}
	}
	return is(object{"code": 1, "stdout": f.Name})
}

// What is needed for sure is gathered at the same time, and nothing else is.
func TestFactsOverlap(t *testing.T) {
	for name, c := range map[string]struct {
		gate, rules string
		alone       bool
		want        []string
		says        string
		took        time.Duration
	}{
		"one operand": {
			rules: `[{name: r, when: a.code + b.code == 2, continue: go}]`,
			want:  []string{"0s a", "0s b"}, says: "continue r: go", took: time.Second,
		},
		"through lets": {
			rules: `[{name: r, when: 'quick and len(outs) > 0', continue: go}]`,
			want:  []string{"0s a", "0s b"}, says: "continue r: go", took: time.Second,
		},
		"facts that cannot be": {
			rules: `[{name: r, when: a.code + b.code == 2, continue: go}]`, alone: true,
			want: []string{"0s a", "1s b"}, says: "continue r: go", took: 2 * time.Second,
		},
		"operands that may not be reached": {
			rules: `[{name: r, when: a.code == 2 and b.code == 2, continue: go}, {name: s, when: c.code == 1 or b.code == 1, stop: no}]`,
			want:  []string{"0s a", "1s c"}, says: "stop s: no", took: 2 * time.Second,
		},
		"rules that may not be reached": {
			rules: `[{name: r, when: a.code == 2, continue: go}, {name: s, when: b.code == 1, stop: no}]`,
			want:  []string{"0s a", "1s b"}, says: "stop s: no", took: 2 * time.Second,
		},
		"a gate": {
			gate: "all", rules: `[{name: r, when: a.code == 1, continue: go}, {name: s, when: b.code == 1, continue: on}, {name: t, when: c.code == 2, stop: no}, {name: u, when: d.code == 1, continue: and on}]`,
			want: []string{"0s a", "0s b", "0s c", "1s d"}, says: "continue r: go\n\non\n\nand on", took: 2 * time.Second,
		},
		"a gate in which something is withheld": {
			gate: "all", rules: `[{name: r, when: withheld.code == 1, continue: go}, {name: s, when: status.dirty, continue: on}]`,
			want: []string{"0s withheld"}, says: "stop r: the rule r needs your approval: withheld: it runs a program", took: time.Second,
		},
		"rules without a verb": {
			rules: `[{name: r, when: a.code == 1, log: x}, {name: s, unless_repeated: {times: 1, per: session}, when: b.code == 1, log: y}, {name: t, when: c.code == 1, continue: go}]`,
			want:  []string{"0s a", "0s c", "1s b"}, says: "continue t: go", took: 2 * time.Second,
		},
		"arguments": {
			rules: `[{name: r, when: by_file.code + by_a.code + b.code == 3, continue: go}]`,
			want:  []string{"0s a", "0s b", "0s by_file", "1s by_a"}, says: "continue r: go", took: 2 * time.Second,
		},
		"a panic": {
			rules: `[{name: r, when: a.code + panics.code == 3, continue: go}]`,
			want:  []string{"0s a", "0s panics"}, says: "stop : internal error: a bug", took: time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gate := c.gate
				if gate == "" {
					gate = "first"
				}
				p := load(t, policy(`
gate: `+gate+`
facts:
  a: {exec: [a]}
  b: {exec: [b]}
  c: {exec: [c]}
  d: {exec: [d]}
  file: {json: file.json, default: {}}
  by_file: {exec: [x, "${file.name ?? 'none'}"]}
  by_a: {exec: [x, "${a.stdout}"]}
  panics: {exec: [panics]}
  withheld: {exec: [withheld]}
  status: {git: .}
let:
  quick: not stop_hook_active
  outs: concat(out_a, out_b)
  out_a: 'ok(a) and a.code == 1 ? a.lines ?? [1] : []'
  out_b: 'ok(b) and b.code == 1 ? b.lines ?? [1] : []'
limits: {repeats: 3, continuations: 20}
rules: `+c.rules))
				w := &slowWorld{world: &world{}, alone: c.alone, start: time.Now()}
				v := p.Eval(t.Context(), w, rules.Options{Time: today(), Trace: rules.TraceFull})
				slices.Sort(w.began)
				if diff := cmp.Diff(c.want, w.began); diff != "" {
					t.Errorf("asked (-want +got):\n%s", diff)
				}
				if got := v.Action.String() + " " + v.Rule + ": " + v.Reason; c.says != "" && got != c.says {
					t.Errorf("it says %q, want %q", got, c.says)
				}
				if took := time.Since(w.start); c.took != 0 && took != c.took {
					t.Errorf("it took %s, want %s", took, c.took)
				}
			})
		})
	}
}

// The record has facts in the order of the rules, each with the time that it took itself.
func TestOverlapsInTheRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := load(t, policy(`
facts: {a: {exec: [a]}, b: {exec: [b]}, c: {exec: [c]}}
limits: {repeats: 3}
rules: [{name: r, when: a.code + b.code + c.code == 3, continue: go}]`))
		w := &slowWorld{world: &world{}, start: time.Now(), takes: map[string]time.Duration{"a": 3 * time.Second, "c": 2 * time.Second}}
		v := p.Eval(t.Context(), w, rules.Options{Time: today(), Trace: rules.TraceFull})
		var got []string
		for _, f := range v.Trace.Facts {
			got = append(got, f.Name+" "+f.Start.String()+" "+f.Took.String())
		}
		if diff := cmp.Diff([]string{"a 0s 3s", "b 0s 1s", "c 0s 2s"}, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

// The slow facts of notes are gathered when the agent may stop, for half a second in all. The verdict has notes in the
// order of the rules, and nothing of them makes it another.
func TestSlowNotes(t *testing.T) {
	for name, c := range map[string]struct {
		rules string
		event string
		want  []string // what was asked
		parts string
	}{
		"continue": {
			rules: `[{name: n, when: a.code == 1, note: x}, {name: r, continue: go}]`, parts: "r",
		},
		"continue, all was read": {
			rules: `[{name: n, when: a.code == 1, note: x}, {name: m, when: a.code == 1 and b.code == 1, note: y}, {name: r, when: a.code == 1, continue: go}]`,
			want:  []string{"0s a"}, parts: "n x, r",
		},
		"continue, only a text reads": {
			rules: `[{name: m, when: "true", note: "${a.code}"}, {name: r, when: b.code == 1, continue: go}]`,
			want:  []string{"0s b"}, parts: "r",
		},
		"stop": {
			rules: `[{name: n, when: a.code == 1, note: "${a.stdout}"}, {name: m, when: "true", note: always}, {name: o, when: b.code == 1, note: y}, {name: r, stop: no, success: true}]`,
			want:  []string{"0s a", "0s b"}, parts: "n a, m always, o y, r",
		},
		"nothing decides": {rules: `[{name: n, when: a.code == 1, note: x}]`, want: []string{"0s a"}, parts: "n x"},
		"below the stop":  {rules: `[{name: r, stop: no}, {name: n, when: a.code == 1, note: x}]`, parts: "r"},
		"a prompt":        {rules: `[{name: n, when: a.code == 1, note: x}]`, event: "UserPromptSubmit", want: []string{"0s a"}, parts: "n x"},
		"only in a text": {
			rules: `[{name: n, when: not quick, note: no}, {name: m, when: quick, note: "${a.stdout}"}, {name: r, stop: no}]`,
			want:  []string{"0s a"}, parts: "m a, r",
		},
		"too slow": {
			rules: `[{name: n, when: slow.code == 1, note: x}, {name: m, when: late.code == 1, note: y}, {name: o, when: a.code == 1, note: z}, {name: r, stop: no, success: true}]`,
			want:  []string{"0s a", "0s late", "0s slow"}, parts: "o z, r",
		},
		"one after the other": {
			rules: `[{name: n, when: most.code == 1, note: x}, {name: m, when: quick and most.code == 1 and late.code == 1, note: y}, {name: r, stop: no, success: true}]`,
			want:  []string{"0s most", "400ms late"}, parts: "n x, r",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := load(t, policy(`
events: [Stop, UserPromptSubmit]
facts: {a: {exec: [a]}, b: {exec: [b]}, most: {exec: [most]}, slow: {exec: [slow]}, late: {exec: [late], default: {code: 0, stdout: "", stderr: "", lines: [], json: null}}}
let: {quick: not stop_hook_active}
limits: {repeats: 3}
rules: `+c.rules))
				w := &slowWorld{world: &world{}, start: time.Now(), takes: map[string]time.Duration{
					"a": 0, "b": 0, "most": 400 * time.Millisecond, "slow": time.Hour, "late": time.Second,
				}}
				v := p.Eval(t.Context(), w, rules.Options{Event: c.event, Time: today()})
				slices.Sort(w.began)
				if diff := cmp.Diff(c.want, w.began); diff != "" {
					t.Errorf("asked (-want +got):\n%s", diff)
				}
				var parts []string
				for _, part := range v.Parts {
					parts = append(parts, strings.TrimSpace(part.Rule+" "+part.Note))
				}
				if got := strings.Join(parts, ", "); got != c.parts {
					t.Errorf("the verdict has %q, want %q", got, c.parts)
				}
				if took := time.Since(w.start); took > 500*time.Millisecond {
					t.Errorf("it took %s", took)
				}
				if strings.Contains(c.rules, "success") && !v.Success {
					t.Error("a note keeps it from being a success")
				}
				for _, problem := range v.Problems {
					if !strings.HasSuffix(problem.Text, "was not gathered: facts of notes may take 500ms in all") {
						t.Errorf("it reports %s", problem.Text)
					}
				}
			})
		})
	}
}
