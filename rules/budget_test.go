package rules_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/rules"
)

// A bomb is a policy of testdata/bombs that tries to take more time or memory than
// an evaluation may. In one that begins with "# repeat N", every line that holds {i}
// or {prev} stands for N lines, with 1 to N and 0 to N-1 in their places.
func bombs(t testing.TB) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob("testdata/bombs/*.yaml")
	if err != nil || len(names) < 40 {
		t.Fatal(len(names), err)
	}
	out := map[string][]byte{}
	for _, name := range names {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimSuffix(filepath.Base(name), ".yaml")] = blownUp(t, src, math.MaxInt)
	}
	return out
}

func blownUp(t testing.TB, src []byte, most int) []byte {
	head, rest, _ := strings.Cut(string(src), "\n")
	count, ok := strings.CutPrefix(head, "# repeat ")
	if !ok {
		return src
	}
	n, err := strconv.Atoi(count)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for line := range strings.Lines(rest) {
		if !strings.Contains(line, "{i}") && !strings.Contains(line, "{prev}") {
			out.WriteString(line)
			continue
		}
		for i := 1; i <= min(n, most); i++ {
			out.WriteString(strings.NewReplacer("{i}", strconv.Itoa(i), "{prev}", strconv.Itoa(i-1)).Replace(line))
		}
	}
	return []byte(out.String())
}

// bombConfig has its own effect, and shipped files that include one another twice.
func bombConfig() rules.Config {
	shipped := fstest.MapFS{}
	for i := range 10 {
		next := fmt.Sprintf("ralph:diamond%d.yaml", i+1)
		shipped[fmt.Sprintf("diamond%d.yaml", i)] = &fstest.MapFile{
			Data: []byte("ralph: 1\nrules:\n  - {include: '" + next + "'}\n  - {include: '" + next + "', as: other}\n"),
		}
	}
	heavy := "ralph: 1\nrules:\n"
	for i := range 9000 {
		heavy += fmt.Sprintf("  - {name: n%d, when: cwd == \"a%d\" and host != \"b\", note: '${cwd} and ${host}'}\n", i, i)
	}
	shipped["heavy.yaml"] = &fstest.MapFile{Data: []byte(heavy)}
	shipped["wordy.yaml"] = &fstest.MapFile{Data: []byte("ralph: 1\nrules:\n  - {name: a, note: '" + strings.Repeat("${a", 300_000) + "'}\n")}
	return rules.Config{Shipped: shipped, Effects: []rules.EffectDecl{{Name: "page"}}}
}

// hoard returns a large value for every fact and name.
type hoard struct{}

// hoarded is made once: it is larger than what an evaluation may make.
var hoarded = sync.OnceValue(func() map[string]any {
	const many = 100_000
	ints, texts, byName := make([]any, many), make([]any, many), make(map[string]any, many)
	objects, sameObjects := make([]any, many/5), make([]any, many/5)
	for i := range many {
		ints[i], texts[i] = i, "task "+strconv.Itoa(i)
		byName["key"+strconv.Itoa(i)] = i
	}
	for i := range objects {
		objects[i] = map[string]any{"k": i, "done": i%2 == 0}
		sameObjects[i] = maps.Clone(objects[i].(map[string]any))
	}
	long := make([]any, 1000)
	for i := range long {
		long[i] = strings.Repeat("x", 8000) + strconv.Itoa(i)
	}
	return map[string]any{
		"n": ints, "s": texts, "m": byName, "m2": maps.Clone(byName), "o": objects, "o2": sameObjects, "long": long,
		"t": strings.Repeat("xline of text\n", 8<<20/14), "medium": strings.Repeat("a b ", 128<<10), "wide": strings.Repeat("éàü", 256<<10),
		"newlines": strings.Repeat("\n", 8<<20), "control": strings.Repeat("\x01", 2<<20), "stars": strings.Repeat("*", 1<<20), "a": map[string]any{"b": 1},
	}
})

func (hoard) Fact(_ context.Context, f *rules.Fact, _ []string) rules.Value {
	v := rules.Value{V: hoarded(), Path: "state.json", Version: "v1"}
	switch {
	case f.Name == "text":
		v.V = strings.Repeat("xline of text\n", 8<<20/14)
	case f.Schema != nil:
		return rules.ValueOf(f, hoarded())
	}
	return v
}

func (hoard) Name(_ context.Context, name string) any {
	switch name {
	case "transcript.turns":
		return func(n int) []any { return []any{map[string]any{"role": "user", "text": "go"}} }
	case "transcript.texts":
		return hoarded()["s"]
	case "exists", "said":
		return func(string) bool { return false }
	}
	return nil
}

var placed = regexp.MustCompile(`^\S+\.yaml:\d+:\d+: .+`)

// TestBombs: whatever a policy contains, loading refuses it or the evaluation ends within
// its budget, and reports where. A tenth of the default budget is enough to see that;
// BenchmarkBombs takes all of it.
func TestBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and no goroutine meets another")
	}
	cfg, budget := bombConfig(), rules.Budget{Steps: 1_000_000}
	for name, src := range bombs(t) {
		t.Run(name, func(t *testing.T) {
			p, diags := rules.LoadBytes(t.Context(), "bomb.yaml", src, cfg)
			if (p == nil) != (diags.Err() != nil) {
				t.Fatalf("there is a program: %t, and %d findings", p != nil, len(diags))
			}
			if p != nil {
				checkSpent(t, p.Eval(t.Context(), hoard{}, rules.Options{Budget: budget}), budget)
			}
		})
	}
}

// checkSpent holds a verdict against the budget that it had.
func checkSpent(t testing.TB, v *rules.Verdict, budget rules.Budget) {
	t.Helper()
	over := v.Cost.Steps > budget.Steps
	if v.Cause != "budget" {
		if over {
			t.Errorf("the cost is %+v, and the fault %q", v.Cost, v.Cause)
		}
		if v.Cause == "panic" {
			t.Errorf("it panicked: %s\n%s", v.Problems, v.Trace.Warnings)
		}
		return
	}
	if v.Action != rules.Stop || v.Cause != rules.FaultBudget || v.Parts != nil || v.Finally != nil || v.Rule != "" || v.Bound != "" {
		t.Errorf("a spent budget leaves %s %q, fault %q, parts %v, finally %v", v.Action, v.Rule, v.Cause, v.Parts, v.Finally)
	}
	if len(v.Problems) != 1 || !placed.MatchString(v.Problems[0].Text) || v.Pos.Line == 0 {
		t.Errorf("a spent budget has the problems %q at %s", v.Problems, v.Pos)
	}
	if !over && !strings.Contains(v.Reason, "nested") {
		t.Errorf("the budget is not spent at %+v: %s", v.Cost, v.Reason)
	}
}

// BenchmarkBombs states how long each bomb takes to load, and to decide with the
// default budget.
func BenchmarkBombs(b *testing.B) {
	cfg := bombConfig()
	hoarded()
	for name, src := range bombs(b) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if p, _ := rules.LoadBytes(b.Context(), "bomb.yaml", src, cfg); p != nil {
					checkSpent(b, p.Eval(b.Context(), hoard{}, rules.Options{}), rules.Budget{Steps: 10_000_000})
				}
			}
		})
	}
}

// FuzzBudget: any policy that loads ends within its budget and never panics. With a
// larger budget it decides the same, unless the small one was spent. Its results survive
// a round trip through JSON.
func FuzzBudget(f *testing.F) {
	err := fs.WalkDir(examples.FS, ".", func(name string, _ fs.DirEntry, err error) error {
		if err == nil && path.Ext(name) == ".yaml" {
			src, err := fs.ReadFile(examples.FS, name)
			f.Add(src)
			return err
		}
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	files, err := filepath.Glob("testdata/bombs/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatal(len(files), err)
	}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(blownUp(f, src, 20))
	}
	cfg := rules.Config{
		Shipped: examples.FS, Effects: []rules.EffectDecl{{Name: "page"}},
		Limits: rules.LoadLimits{Nodes: 20_000, Patterns: 20_000},
	}
	budget := rules.Budget{Steps: 100_000}
	facts := rules.Values(map[string]any{
		"state": map[string]any{"n": []int{3, 1, 2}, "s": []string{"b", "a"}, "t": "a string\nof lines", "m": map[string]any{"k": 1.5, "big": 1e300}, "o": []any{map[string]any{"k": 1}}},
		"text":  "some text", "last_assistant_message": "Task 2 is done.", "stop_hook_active": true, "cwd": "/project",
	})
	f.Fuzz(func(t *testing.T, src []byte) {
		p, _ := rules.LoadBytes(t.Context(), "bomb.yaml", src, cfg)
		if p == nil {
			return
		}
		small := p.Eval(t.Context(), facts, rules.Options{Budget: budget})
		checkSpent(t, small, budget)
		large := p.Eval(t.Context(), facts, rules.Options{Budget: rules.Budget{Steps: 2_000_000}})
		if diff := cmp.Diff(small, large); diff != "" && small.Cause != "budget" {
			t.Errorf("with a larger budget (-small +large):\n%s", diff)
		}
		full := p.Eval(t.Context(), facts, rules.Options{Trace: rules.TraceFull, Budget: budget})
		if full.Action != small.Action || full.Rule != small.Rule || full.Reason != small.Reason || full.Cause != small.Cause {
			t.Errorf("a trace makes a difference: %s %q %q, not %s %q %q", full.Action, full.Rule, full.Reason, small.Action, small.Rule, small.Reason)
		}
		written, err := json.Marshal(full)
		if err != nil {
			t.Fatal(err)
		}
		var read rules.Verdict
		if err := json.Unmarshal(written, &read); err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(&read)
		if diff := cmp.Diff(string(written), string(again)); diff != "" || err != nil {
			t.Errorf("it does not read back: %v\n%s", err, diff)
		}
	})
}
