package examples_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/policytest"
	"github.com/ralph-sdk/ralph/rules"
)

func ExampleNames() {
	for _, name := range examples.Names()[:3] {
		fmt.Printf("%s: %s\n", name, examples.Description(name))
	}
	// Output:
	// basic: Works through the checklist in TODO.md.
	// tests: Continues until the tests pass.
	// speckit: Runs the tasks of the current ralph-speckit feature, one after another.
}

func TestPolicies(t *testing.T) { policytest.Test(t, ".") }

// lines are those of a policy at most, without blank lines and comments.
var lines = map[string]int{
	"basic": 25, "tests": 30, "speckit": 90, "specum": 130, "stravinsky": 55, "ralph-wiggum": 65, "system3": 170, "double-shot-latte": 50,
	"todo-reminder": 25, "spec-kit": 25, "openspec": 25, "kiro": 25,
}

// A policy has no finding, not even a warning, says what it is for, and stays short.
func TestPoliciesAreClean(t *testing.T) {
	for _, name := range examples.Names() {
		t.Run(name, func(t *testing.T) {
			src, ok := examples.Policy(name)
			if !ok || examples.Description(name) == "" {
				t.Fatal("it is missing, or does not say what it is for")
			}
			p, err := rules.Parse(name+".yaml", src)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range rules.Check(p) {
				t.Error(rules.Findings{f})
			}
			n := 0
			for line := range strings.Lines(string(src)) {
				if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
					n++
				}
			}
			if n > lines[name] {
				t.Errorf("it has %d lines, and at most %d are its budget", n, lines[name])
			}
		})
	}
	if p, err := rules.Parse("promise.yaml", examples.Promise()); err != nil || len(rules.Check(p)) > 0 {
		t.Error("promise.yaml has findings:", err)
	}
	if _, ok := examples.Policy("until"); ok {
		t.Error("the template of ralph until is no policy before it is filled in")
	}
}

// The placeholders of ralph until are what its documentation says, each once.
func TestUntil(t *testing.T) {
	src := string(examples.Until())
	for word, value := range map[string]string{
		"DIRECTORY": `"app"`, "COMMAND": `"make \"test\""`, "SHELL": "sh", "FLAG": `"-c"`, "TIMEOUT": "1m", "MAX": "5",
	} {
		if n := strings.Count(src, word); n != 1 {
			t.Errorf("%s occurs %d times", word, n)
		}
		src = strings.Replace(src, word, value, 1)
	}
	p, err := rules.Parse("until.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	if p.Limits.Continuations != 5 || !slices.Contains(p.Reaches(), "runs sh") {
		t.Errorf("limits %+v, reaches %q", p.Limits, p.Reaches())
	}
	for _, f := range rules.Check(p) {
		t.Error(f)
	}
}

// An agent that states the promise as the text shows it, and not before the work is done, ends its loop.
func TestPromises(t *testing.T) {
	for policy, c := range map[string]struct{ file, text, promise string }{
		"stravinsky":   {".stravinsky/continuation-loop.md", "---\ncompletion_promise: It is built\n---\nBuild it.\n", `completion promise: (.+)`},
		"ralph-wiggum": {".claude/ralph-loop.local.md", "---\nmax_iterations: 3\ncompletion_promise: It is built\n---\nBuild it.\n", `(<promise>.+</promise>)`},
	} {
		t.Run(policy, func(t *testing.T) {
			a := &obedient{t: t, dir: t.TempDir()}
			a.write(c.file, c.text)
			l, err := loop.Load(examples.Files(), policy+".yaml", loop.WithRoot(a.dir))
			a.must(err)
			said, outcomes := "I began.", ""
			for range 3 {
				d, err := l.Decide(t.Context(), loop.Event{Session: "s1", Message: said, Names: map[string]any{"stop_hook_active": outcomes != ""}})
				a.must(err)
				if said = "I go on."; outcomes == "continued " {
					said = "It works.\n\n" + regexp.MustCompile(c.promise).FindStringSubmatch(d.Reason)[1]
				}
				outcomes += string(d.Outcome) + " "
			}
			if outcomes != "continued continued done " {
				t.Errorf("it ends %s", outcomes)
			}
		})
	}
}
