package graph

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares what was made with a file.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, got) {
		t.Errorf("%s differs; look at the picture, then run the test with -update", file)
	}
}

func TestShipped(t *testing.T) {
	for name, p := range shipped(t) {
		g := New(p, Marks{})
		for _, problem := range g.layout().problems(g) {
			t.Errorf("%s: %s", name, problem)
		}
		golden(t, name+".svg", g.SVG())
	}
}

// A graph with all marks, as ralph graph --log and --situation make it: a limit ends what next-task would continue.
func TestMarks(t *testing.T) {
	p := shipped(t)["speckit"]
	m := Marks{Counts: &Counts{Of: "decisions", Older: 7}, Way: &Way{Decided: "limits.repeats"}}
	var steps []*rules.Step
	for i, r := range p.Rules() {
		for range 400 / (i + 1) {
			m.Counts.Add(append(slices.Clone(steps), &rules.Step{Rule: r.Name, Outcome: rules.Holds}), r.Name)
		}
		steps = append(steps, &rules.Step{Rule: r.Name, Outcome: rules.No})
	}
	m.Counts.Add(steps, "")
	steps[len(steps)-1].Outcome = rules.Holds
	m.Counts.Add(steps, "limits.repeats")
	m.Way.Steps = steps
	golden(t, "marks.svg", New(p, m).SVG())
}

// The text of a policy is the procedure by which it decides: what leads on, with which answer, how often.
func TestText(t *testing.T) {
	held := func(names ...string) (steps []*rules.Step) {
		for _, name := range names {
			s := &rules.Step{Rule: strings.TrimSuffix(name, "?"), Outcome: rules.Holds}
			if s.Rule != name {
				s.Outcome = rules.No
			}
			steps = append(steps, s)
		}
		return steps
	}
	type decision struct {
		times   int
		steps   []*rules.Step
		decided string
	}
	const off = "off: RALPH_OFF, .ralph/off, ralph pause, ralph stop, or a run that decides instead\n    yes → idle: switched off\n"
	const limits = "failures > 0 or continuations >= 20 or total >= 5000 or elapsed >= 24h"
	for _, tt := range []struct {
		name, policy string
		counts       []decision
		want         string
	}{
		{
			name:   "continues lead to the limits, whose verdict counts",
			policy: "limits: {continuations: 20}\nrules:\n  - {name: done, when: exists(\"a\"), stop: it is there, success: true}\n  - {name: next, when: exists(\"b\"), continue: Go on.}\n",
			counts: []decision{{6, held("done?", "next"), "next"}, {1, held("done?", "next"), "limits.repeats"}, {2, held("done?", "next?"), ""}, {3, held("done"), "done"}, {1, nil, ""}, {1, held("done?"), "no such file"}},
			want: "Stop\n" + off +
				"done (13): exists(\"a\")\n    yes 3 → done: it is there\nnext (9): exists(\"b\")\n    yes 7 → continue (decided 6): Go on.\n    no 2 → stop: the default: no rule decides\n" +
				"limits (7): " + limits + "\n    yes 1 → stop: a limit is reached\n    no 6 → continue: the agent gets the text\nCounts: 14 decisions.\n",
		},
		{
			name: "the head, an effect, a rule that nothing passes, and parts",
			policy: "when: session_id != \"\"\nfacts:\n  s: {json: s.json, schema: {properties: {on: {type: boolean, default: true}, owner: {type: string, default: \"\"}}}}\nloop: {state: s, on: s.on, owner: s.owner}\n" +
				"limits: {continuations: 20, repeats: 3, tokens: 1000000, cost: 2.5}\nrules:\n  - {name: keep, when: s.on, then: [{archive: s}]}\n  - name: next\n    continue:\n      - Go on.\n      - {when: [s.on, s.owner == \"\"], text: It is yours.}\n",
			want: "Stop\n" + off + "when: session_id != \"\"\n    no → idle: not for this event\nloop.on: s.on\n    no → idle: switched off\nloop.state: not missing(s)\n    no → idle: there is no loop\n" +
				"loop.owner: s.owner, is empty or this session\n    no → idle: the loop of another session\nkeep: s.on\n    yes → then: archive: s\nnext: always\n    → continue: Go on., when s.on and s.owner == \"\", It is yours.\n" +
				"limits: " + limits + " or repeats >= 3 or tokens >= 1000000 or cost >= 2.5\n    yes → stop: a limit is reached\n    no → continue: the agent gets the text\n",
		},
		{
			name:   "with gate: all the log names the first rule that continues",
			policy: "gate: all\nlimits: {continuations: 20}\nrules:\n  - {name: a, when: exists(\"a\"), continue: A}\n  - {name: b, when: exists(\"b\"), continue: B}\n  - {name: c, when: exists(\"c\"), stop: C}\n",
			counts: []decision{{2, held("a", "b", "c?"), "a"}, {1, held("a", "b?", "c"), "a"}, {1, held("a?", "b?", "c"), "c"}},
			want: "Stop\n" + off + "a (4): exists(\"a\")\n    yes 3 → continue: A\nb (4): exists(\"b\")\n    yes 2 → continue (decided 0): B\nc (4): exists(\"c\")\n    yes 2 → stop (decided 1): C\n    no 0 → stop: the default: no rule decides\n" +
				"limits (3): " + limits + "\n    yes 0 → stop: a limit is reached\n    no 3 → continue: the agent gets the text\nCounts: 4 decisions.\n",
		},
		{
			name:   "a question ends the trying",
			policy: "rules:\n  - {name: which, when: exists(\"a\"), ask: Which one}\n  - {name: last, ask: \"${answer}?\"}\n  - {name: never, stop: x}\n",
			want:   "Stop\n" + off + "which: exists(\"a\")\n    yes → ask: Which one\nlast: always\n    → ask: ${answer}?\nnever: always\n    → stop: x\n",
		},
		{
			name:   "a policy that never continues has no limits",
			policy: "rules:\n  - {name: a, when: exists(\"a\"), note: A}\n",
			want:   "Stop\n" + off + "a: exists(\"a\")\n    yes → note: A\n    → idle: the default: no rule decides\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, diags := rules.LoadBytes(t.Context(), "p.yaml", []byte("ralph: 1\n"+tt.policy), loop.Config())
			if p == nil {
				t.Fatal(diags.Err())
			}
			m := Marks{}
			if tt.counts != nil {
				m.Counts = &Counts{Of: "decisions"}
			}
			for _, d := range tt.counts {
				for range d.times {
					m.Counts.Add(d.steps, d.decided)
				}
			}
			if diff := cmp.Diff("p.yaml\n"+tt.want, New(p, m).Text(200)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// All texts can be read in both themes, in fonts of the sizes that the layout reckons with.
func TestStyle(t *testing.T) {
	luminance := func(color string) (sum float64) {
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			n, err := strconv.ParseUint(color[1+2*i:3+2*i], 16, 8)
			if err != nil {
				t.Fatal(err)
			}
			if c := float64(n) / 255; c <= 0.03928 {
				sum += weight * c / 12.92
			} else {
				sum += weight * math.Pow((c+0.055)/1.055, 2.4)
			}
		}
		return sum
	}
	for _, theme := range []int{light, dark} {
		colors := palette(theme)
		pairs := [][2]string{{"text", "background"}, {"text", "fill"}, {"quiet", "background"}, {"quiet", "fill"}}
		for _, verb := range []string{"continue", "stop", "done", "ask", "note", "then", "idle"} {
			pairs = append(pairs, [2]string{verb + "-text", verb + "-fill"})
		}
		for _, p := range pairs {
			a, b := luminance(colors[p[0]]), luminance(colors[p[1]])
			if contrast := (max(a, b) + 0.05) / (min(a, b) + 0.05); contrast < 4.5 {
				t.Errorf("theme %d: %s on %s has a contrast of %.1f", theme, p[0], p[1], contrast)
			}
		}
	}
	style := Style()
	for _, f := range []font{titleFont, nameFont, textFont, quietFont, codeFont, includeFont, countFont} {
		family, weight := "system-ui,", 400
		if f.mono {
			family = "ui-monospace,"
		}
		if f.bold {
			weight = 600
		}
		if rule := fmt.Sprintf(".ralph-graph .%s{font:%d %gpx %s", f.class, weight, f.size, family); !strings.Contains(style, rule) {
			t.Errorf("the style sheet has no %q", rule)
		}
	}
	if strings.Contains(style, "var(") {
		t.Error("a colour has no name")
	}
}
