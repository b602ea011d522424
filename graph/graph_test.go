package graph

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

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
		golden(t, name+".svg", g.SVG("auto"))
	}
}

// A graph with all marks, as ralph graph --log and --witness make it.
func TestMarks(t *testing.T) {
	p := shipped(t)["speckit"]
	m := Marks{Counts: &Counts{Of: "decisions", Total: 12345, Older: 7, None: 3, Rules: map[string]Count{}}, Way: &Way{Decided: "not-executing"}}
	for i, r := range p.Rules() {
		m.Counts.Rules[r.Name] = Count{Reached: 12345 / (i + 1), Held: 2000 / (i*i + 1) * (i % 3)}
		if outcome := rules.No; len(m.Way.Steps) <= 5 {
			if r.Name == "not-executing" {
				outcome = rules.Holds
			}
			m.Way.Steps = append(m.Way.Steps, &rules.Step{Rule: r.Name, Outcome: outcome})
		}
	}
	golden(t, "marks.svg", New(p, m).SVG("dark"))
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
		for _, verb := range []string{"continue", "stop", "done", "note", "then", "idle"} {
			pairs = append(pairs, [2]string{verb + "-text", verb + "-fill"})
		}
		for _, p := range pairs {
			a, b := luminance(colors[p[0]]), luminance(colors[p[1]])
			if contrast := (max(a, b) + 0.05) / (min(a, b) + 0.05); contrast < 4.5 {
				t.Errorf("theme %d: %s on %s has a contrast of %.1f", theme, p[0], p[1], contrast)
			}
		}
	}
	style := Style("auto")
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
