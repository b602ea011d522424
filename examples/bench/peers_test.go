package bench

import (
	"debug/buildinfo"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/examples/bench/cel"
	"github.com/ralph-sdk/ralph/examples/bench/expr"
	"github.com/ralph-sdk/ralph/examples/bench/grule"
	"github.com/ralph-sdk/ralph/examples/bench/hand"
	"github.com/ralph-sdk/ralph/examples/bench/ralph"
	"github.com/ralph-sdk/ralph/examples/bench/rego"
)

// engines make the same decision of eight rules over a map with a nested state, and render one text.
var engines = []struct {
	name string
	make func() (func(map[string]any) (rule, text string, err error), error)
}{{"ralph", ralph.New}, {"expr", expr.New}, {"cel", cel.New}, {"rego", rego.New}, {"grule", grule.New}, {"hand", hand.New}}

func nested() map[string]any {
	return map[string]any{
		"phase": "execution", "task": map[string]any{"index": 3, "total": 10}, "iteration": 4, "limits": map[string]any{"iterations": 100},
		"enabled": true, "awaitingApproval": false,
	}
}

func BenchmarkDecide(b *testing.B) {
	for _, e := range engines {
		b.Run(e.name, func(b *testing.B) {
			decide, err := e.make()
			if err != nil {
				b.Fatal(err)
			}
			state := nested()
			b.ReportAllocs()
			for b.Loop() {
				if rule, text, err := decide(state); err != nil || rule != "next" || text != "Do task 4 of 10." {
					b.Fatal(rule, text, err)
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	for _, e := range engines {
		b.Run(e.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.make(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// What a program costs that makes this decision and nothing else: lines that its author writes, modules that come with it, bytes, and how
// long its packages take to start, which is shown and not compared.
func TestPrograms(t *testing.T) {
	type cost struct{ lines, modules, bytes int }
	costs := map[string]cost{}
	for _, e := range engines {
		program := build(t, e.name)
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			t.Fatal(err)
		}
		file, err := os.Stat(program)
		if err != nil {
			t.Fatal(err)
		}
		c := cost{lines(t, e.name), len(info.Deps), int(file.Size())}
		costs[e.name] = c
		t.Logf("%-6s %4d lines %3d modules %6.1f MB %6.2f ms of package init", e.name, c.lines, c.modules, float64(c.bytes)/1e6, inits(t, program))
	}
	r := costs["ralph"]
	for _, peer := range []string{"cel", "rego", "grule"} {
		if p := costs[peer]; r.lines >= p.lines || r.modules >= p.modules || r.bytes >= p.bytes {
			t.Errorf("ralph is not ahead of %s: %v, %v", peer, r, p)
		}
	}
}

// build makes a program of one engine.
func build(t *testing.T, engine string) string {
	dir := filepath.Join(t.TempDir(), engine)
	main := fmt.Sprintf(`package main

import "github.com/ralph-sdk/ralph/examples/bench/%[1]s"

func main() {
	decide, err := %[1]s.New()
	if err != nil {
		panic(err)
	}
	println(decide(map[string]any{}))
}
`, engine)
	place, err := filepath.Abs(filepath.Join("main", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"main.go": main, "overlay.json": fmt.Sprintf(`{"Replace": {%q: %q}}`, place, filepath.Join(dir, "main.go"))} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "program")
	out, err := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-ldflags=-s -w", "-o", program, "./main").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// lines counts what is neither blank, a comment nor a bracket alone in the files of an engine.
func lines(t *testing.T, engine string) (n int) {
	files, err := filepath.Glob(filepath.Join(engine, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(src)) {
			if line = strings.Trim(line, " \t\r\n{}()[],"); line != "" && !strings.HasPrefix(line, "//") {
				n++
			}
		}
	}
	return n
}

var initLine = regexp.MustCompile(`(?m)^init .* ([0-9.]+) ms clock`)

// inits returns the milliseconds in which the packages of a program start: the least of ten starts.
func inits(t *testing.T, program string) float64 {
	least := math.Inf(1)
	for range 10 {
		cmd, ms := exec.Command(program), 0.0
		cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
		out, _ := cmd.CombinedOutput()
		for _, m := range initLine.FindAllStringSubmatch(string(out), -1) {
			one, err := strconv.ParseFloat(m[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			ms += one
		}
		least = min(least, ms)
	}
	return least
}
