package rules_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/rules"
)

// running is a policy with one effect.
func running(effect string) string {
	return "facts: {s: {json: s.json, schema: {properties: {n: {type: integer, default: 0}}}}}\nrules:\n  - name: on\n    when: s.n < 9\n    continue: go on\n    then:\n      - " + effect + "\n"
}

// A program that an effect runs is named in the policy, and its arguments are texts.
func TestRunEffect(t *testing.T) {
	w := &world{facts: map[string]rules.Value{"s": is(object{"n": 3})}, names: map[string]any{"session_id": "a b; c"}}
	v := decide(t, running(`{run: [notify, "n is ${s.n}", "${session_id}", "", $(id)], timeout: 5s}`), w)
	want := []rules.Effect{{Kind: rules.RunEffect, Fact: "run 1 of on", Args: []string{"notify", "n is 3", "a b; c", "", "$(id)"}, Timeout: 5 * time.Second}}
	if diff := cmp.Diff(want, v.Parts[0].Effects); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	p := load(t, policy(running(`run: [notify, "${session_id}"]`)))
	runs := p.Rules()[0].Runs
	if len(runs) != 1 || runs[0].Source.Trust == "" || !cmp.Equal(runs[0].Args, []string{"notify", "${session_id}"}) {
		t.Errorf("the rule runs %+v", runs)
	}
	if changes := p.Rules()[0].Changes; len(changes) > 0 {
		t.Errorf("the rule changes %v", changes)
	}
	if got := p.Uses().Effects; len(got) != 1 || got[0].Name != "run" {
		t.Errorf("the policy uses the effects %v", got)
	}
}

// A value is data: at the beginning of an argument it is not an option, unless the text of the policy has one.
func TestValuesAreNoOptions(t *testing.T) {
	for args, want := range map[string][]string{
		`[notify, "${session_id}"]`:                 nil,
		`[notify, "${session_id}x"]`:                nil,
		`[notify, "${blank}${session_id}"]`:         nil,
		`[notify, x, "${'' + session_id}"]`:         nil,
		`[notify, "--${blank}", "${session_id}"]`:   nil,
		`[notify, "id: ${session_id}"]`:             {"notify", "id: --force"},
		`[notify, "-${session_id}"]`:                {"notify", "---force"},
		`[notify, -v, --, "${session_id}", "${s}"]`: {"notify", "-v", "--", "--force", "-1"},
		`[notify, "${flag}", "${flag}x"]`:           {"notify", "-q", "-qx"},
	} {
		src := "ralph: 1\nlimits: {repeats: 3}\nparams: {flag: {default: -q}, blank: {default: ''}}\nlet: {s: loop.continuations - 1}\n" +
			"rules:\n  - name: on\n    continue: go on\n    then: [{run: " + args + "}]\n"
		p, diags := rules.LoadBytes(t.Context(), "p.yaml", []byte(src), rules.Config{})
		if p == nil {
			t.Fatal(diags)
		}
		warned := slices.ContainsFunc(diags, func(d rules.Diagnostic) bool { return d.Check == "exec-option" })
		v := (&world{names: map[string]any{"session_id": "--force"}}).eval(p)
		var got []string
		for _, e := range v.Parts[0].Effects {
			got = append(got, e.Args...)
		}
		if diff := cmp.Diff(want, got); diff != "" || warned != (want == nil) {
			t.Errorf("%s: warned is %t (-want +got)\n%s", args, warned, diff)
		}
		if reported := strings.Contains(strings.Join(v.Trace.Warnings, "\n"), "begins with a hyphen"); reported != (want == nil) {
			t.Errorf("%s: %q", args, v.Trace.Warnings)
		}
	}
}

func TestRunThatDoesNotLoad(t *testing.T) {
	for effect, want := range map[string]string{
		"run: notify":                            "run takes an array of words: the program and its arguments",
		"run: []":                                "run takes an array of words",
		`run: ["${session_id}"]`:                 "the program of run cannot have a placeholder",
		`run: [notify, "${s.m}"]`:                `unknown field "m"`,
		"{run: [notify], timeout: 5}":            "timeout must be a duration such as 30s",
		"{run: [notify], stdin: x}":              `unknown key "stdin" in run`,
		"{run: [notify], covers: x.sh}":          "covers must be a list; got a string",
		"{run: [notify], covers: [../x.sh]}":     "must be a path of the project with forward slashes",
		"{run: [notify], covers: [/x.sh]}":       "must be a path of the project",
		"{run: [notify], covers: ['~/x.sh']}":    "must be a path of the project",
		"{run: [notify], covers: ['']}":          "must be a path of the project",
		"{run: [notify], covers: ['a[']}":        `the pattern "a[" of covers is not a valid pattern`,
		"{run: [notify], covers: ['${s.n}.sh']}": "cannot have placeholders",
		"{timeout: 5s}":                          `unknown key "timeout" in an effect`,
		`{run: [notify], set: "s.n = s.n + 1"}`:  `unknown key "set" in run`,
	} {
		if got := refused(t, running(effect), rules.Config{}); !strings.Contains(got, want) {
			t.Errorf("%s: %s\nwant %s", effect, got, want)
		}
	}
	got := refused(t, running("run: [notify]"), rules.Config{Allow: []rules.Capabilities{{Sources: []string{"*"}, Paths: []string{"**"}}}})
	if !strings.Contains(got, `the policy may not use the effect "run"`) {
		t.Errorf("not allowed: %s", got)
	}
}

// covers sets what the approval of a program covers. An empty list is not the same as none.
func TestCovers(t *testing.T) {
	for key, want := range map[string][]string{
		"":                                   nil,
		", covers: []":                       {},
		`, covers: [Makefile, "ci/**/*.sh"]`: {"Makefile", "ci/**/*.sh"},
	} {
		p := load(t, policy("facts: {it: {exec: [make]"+key+"}}\nrules: [{name: r, when: it.code == 0, stop: s, then: [{run: [make]"+key+"}]}]\n"))
		for _, f := range []*rules.Fact{p.Facts()[0], p.Rules()[0].Runs[0]} {
			if diff := cmp.Diff(want, f.Covers); diff != "" {
				t.Errorf("%s of %s (-want +got)\n%s", key, f.Name, diff)
			}
		}
	}
}

// A program's own effect named run replaces ralph's.
func TestRunOfTheirOwn(t *testing.T) {
	cfg := rules.Config{Effects: []rules.EffectDecl{{Name: "run", Doc: "Runs a job."}}}
	p := loadWith(t, policy(running("run: {job: 'n${s.n}'}")), cfg)
	v := (&world{facts: map[string]rules.Value{"s": is(object{"n": 3})}}).eval(p)
	want := []rules.Effect{{Kind: rules.OwnEffect, Name: "run", Value: map[string]any{"job": "n3"}}}
	if diff := cmp.Diff(want, v.Parts[0].Effects); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
