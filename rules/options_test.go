package rules_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/rules"
)

// fact loads a policy with one fact, which its rule reads.
func fact(t *testing.T, yaml string) (*rules.Fact, string) {
	t.Helper()
	src := "ralph: 1\nlimits: {repeats: 3}\nfacts:\n  x: " + yaml + "\nrules:\n  - name: go-on\n    when: ok(x)\n    continue: Go on.\n"
	p, diags := rules.Load(t.Context(), fstest.MapFS{"p.yaml": {Data: []byte(src)}}, "p.yaml", rules.Config{})
	if p == nil {
		return nil, diags.Format()
	}
	return p.Facts()[0], ""
}

func TestOptionsOfSources(t *testing.T) {
	for yaml, want := range map[string]map[string]any{
		`{glob: "a/*.md", parse: frontmatter, max: 20}`:                                                  {"parse": "frontmatter", "max": 20},
		`{judge: Why so, api: openai, model: m, turns: 4, max_tokens: 100, returns: {}, system: "You."}`: {"api": "openai", "turns": 4, "max_tokens": 100},
		`{exec: [echo, "${cwd}"], stdin: "${cwd}", timeout: 3s}`:                                         nil,
		`{tasks: claude, list: "${env.LIST}"}`:                                                           nil,
		`{frontmatter: a.md, lenient: false}`:                                                            nil,
		`{frontmatter: a.md, lenient: true}`:                                                             {"lenient": true},
		`{judge: Why so, returns: {}, tool_results: true}`:                                               nil,
		`{judge: Why so, returns: {}, tool_results: "${stop_hook_active}"}`:                              nil,
		`{git: .}`: nil,
	} {
		f, problem := fact(t, yaml)
		if f == nil {
			t.Errorf("%s: %s", yaml, problem)
			continue
		}
		if diff := cmp.Diff(want, f.Options); diff != "" {
			t.Errorf("%s:\n%s", yaml, diff)
		}
	}
}

func TestMistakesInSources(t *testing.T) {
	for yaml, says := range map[string]string{
		`{json: a.json, lenient: true}`:                             `unknown key "lenient"`,
		`{frontmatter: a.md, lenient: very}`:                        "lenient must be true or false",
		`{glob: a, parse: yaml}`:                                    `parse must be one of "frontmatter", "json", "text"; got "yaml"`,
		`{glob: a, max: 0}`:                                         "1 or more",
		`{glob: a, max: many}`:                                      "whole number",
		`{glob: a, inline: true}`:                                   `unknown key "inline"`,
		`{judge: Why so, model: m}`:                                 "needs returns",
		`{judge: Why so, returns: {}, schema: {}}`:                  `unknown key "schema"`,
		`{judge: Why so, returns: {}, api: claude}`:                 "api must be one of",
		`{judge: Why so, returns: {}, tool_results: yes, model: m}`: `tool_results must be one of "false", "true"; got "yes"`,
		`{exec: echo hi}`:                                           "takes an array of words",
		`{exec: []}`:                                                "takes an array of words",
		`{exec: ["${env.SHELL}", -c, id]}`:                          "the program of exec cannot have a placeholder",
		`{exec: [echo, [a]]}`:                                       "an argument must be a string",
		`{tasks: codex}`:                                            "tasks must be one of",
		`{git: ., schema: {}}`:                                      `unknown key "schema"`,
		`{exec: [echo], stdin: "${nosuch}"}`:                        "nosuch",
		`{judge: "${nosuch}", returns: {}}`:                         "nosuch",
		`{tasks: claude, list: "${missing(x)}"}`:                    "depends on itself",
		`{judge: "Is ${x.y} so", returns: {properties: {y: {type: string}}}}`: "depends on itself",
	} {
		f, problem := fact(t, yaml)
		if f != nil || !strings.Contains(problem, says) {
			t.Errorf("%s: it says %q, want %q", yaml, problem, says)
		}
	}
}

// What a source is asked comes apart again: its arguments, and its options by name.
func TestSplit(t *testing.T) {
	f, problem := fact(t, `{judge: Why so, returns: {}, model: m, system: s}`)
	if f == nil {
		t.Fatal(problem)
	}
	args, options := f.Split([]string{"Why so", "m", "s"})
	if diff := cmp.Diff([]string{"Why so"}, args); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"model": "m", "system": "s"}, options); diff != "" {
		t.Error(diff)
	}
	// Whatever a test hands over, it does not panic.
	for n := range 4 {
		f.Split(make([]string, n))
	}
}
