package rules_test

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/rules"
)

// What a text renders to. The text is the continue text of the one rule.
func TestTexts(t *testing.T) {
	const head = `
facts:
  s: {json: s.json}
  gone: {json: gone.json}
rules:
  - name: tell
    when: loop.total < 5
    continue: `
	w := &world{facts: map[string]rules.Value{"s": is(object{
		"empty": "", "nil": nil, "text": "some text", "lines": "one\ntwo", "placeholder": "${s.text}", "quote": `a "q" b`,
		"list": []any{"a", "b", 3}, "none": []any{}, "n": 42, "big": 1 << 40, "f": 2.5, "on": true, "object": object{"a": "<b>", "n": 1},
		"long": strings.Repeat("é", 100), "blank": "  ",
	})}}
	tests := []struct {
		name, text, want string
		warns            bool
	}{
		{name: "no placeholder", text: "just text", want: "just text"},
		{name: "a placeholder", text: "a ${s.text} b", want: "a some text b"},
		{name: "numbers and booleans", text: "${s.n} ${s.big} ${s.f} ${s.on}", want: "42 1099511627776 2.5 true"},
		{name: "nil is nothing", text: "a${s.nil}b${s.absent}c", want: "abc"},
		{name: "a list is one item a line", text: "${s.list}", want: "a\nb\n3"},
		{name: "an object is JSON, as it is", text: "${s.object}", want: `{"a":"<b>","n":1}`},
		{name: "durations and times", text: `${loop.elapsed} ${duration("90s")} ${now()}`, want: "0s 1m30s 2026-01-02T03:04:05Z"},
		{name: "values are never scanned again", text: "${s.placeholder}", want: "${s.text}"},
		{name: "a literal", text: "$${s.text} and $$${s.n} and $", want: "${s.text} and $${s.n} and $"},
		{name: "dollars and braces are text", text: "$s {s.text} }{ $", want: "$s {s.text} }{ $"},
		{name: "braces within a placeholder", text: `'${ {"a": {"b": s.n}}.a.b }'`, want: "42"},
		{name: "braces within quotes", text: `"${\"}\" + s.text + '{' + ` + "`}`" + `}"`, want: "}some text{}"},
		{name: "a quote within quotes", text: `'${"a\"}" + "b"}'`, want: `a"}b`},
		{name: "a placeholder over lines", text: "|\n      ${s.on ?\n        \"yes\" :\n        \"no\"}!", want: "yes!"},
		{name: "a line that held only placeholders and rendered to nothing is dropped", text: "|\n      a\n        ${s.empty}${s.nil}\n      b", want: "a\nb"},
		{name: "an empty line stays", text: "|\n      a\n\n      b", want: "a\n\nb"},
		{name: "a line with more than placeholders stays", text: "|\n      a\n      - ${s.empty}\n      b", want: "a\n- \nb"},
		{name: "an empty list leaves no line", text: "|\n      a\n      ${s.none}\n      b", want: "a\nb"},
		{name: "the last line may be dropped", text: "|\n      a\n      ${s.empty}", want: "a"},
		{name: "the first line may be dropped", text: "|\n      ${s.empty}\n      a", want: "a"},
		{name: "white space at the end is trimmed", text: `"a ${s.blank} \n\n\t "`, want: "a"},
		{name: "lines of a value are lines", text: "|\n      ${s.lines}\n      three", want: "one\ntwo\nthree"},
		{name: "cut counts characters", text: "${cut(s.long, 3)} ${cut(s.text, 99)} ${cut(s.text, 0)}|${cut(s.nil, 3)}", want: "éé… some text |"},
		{name: "cut counts characters from the end", text: "${cut(s.long, -3)} ${cut(s.text, -9)} ${cut(s.text, -8)} ${cut(s.text, -1)}|${cut(s.nil, -3)}", want: "…éé some text …me text …|"},
		{name: "bullets", text: "${bullets(s.list, 2)}", want: "- a\n- b\n- … and 1 more"},
		{name: "bullets over lines", text: "${bullets([s.lines, 1])}${bullets(s.nil)}${bullets(s.list, -1)}", want: "- one\n  two\n- 1- … and 3 more"},
		{name: "nothing at all", text: "${s.empty}", want: "Continue (rule tell)"},
		{name: "an unknown placeholder", text: "a ${gone.x} b ${s.n}", want: "a (?) b 42", warns: true},
		{name: "a placeholder that fails", text: "a ${s.nil.x} b", want: "a (?) b", warns: true},
		{name: "and and or in a placeholder", text: "${s.on and s.n == 42} ${not s.on}", want: "true false"},
		{name: "a plain number is a string", text: "5", want: "5"},
		{name: "parts are joined by one line end", text: "\n      - a ${s.n}\n      - |\n        b\n\n      - text: c", want: "a 42\nb\nc"},
		{name: "leading empty lines of a part stay", text: "\n      - a\n      - |\n\n        b\n      - \"\\n\\nc\"", want: "a\n\nb\n\n\nc"},
		{name: "parts are left out unless their when is true", text: "[{when: s.on, text: a}, {when: not s.on, text: b}, {when: [s.on, s.n > 50], text: c}, {when: [s.on, s.n == 42], text: d}]", want: "a\nd"},
		{name: "a when that is unknown", text: "[a, {when: gone.x, text: b}, {when: not gone.x, text: c}, d]", want: "a\nd"},
		{name: "a when that fails", text: "[a, {when: s.nil.x, text: b}, c]", want: "a\nc", warns: true},
		{name: "a when that is a string", text: "[a, {when: s.text, text: b}, c]", want: "a\nc", warns: true},
		{name: "a part that renders to nothing", text: "[\"${s.empty}\", a, \"${s.nil}\", \"\\n${s.none}\", \"${s.blank}\", b]", want: "a\nb"},
		{name: "no part", text: "[{when: not s.on, text: a}]", want: "Continue (rule tell)"},
		{name: "a part is never scanned again", text: "[\"${s.placeholder}\", \"$${a}\"]", want: "${s.text}\n${a}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := decide(t, head+tt.text+"\n", w)
			if diff := cmp.Diff(tt.want, v.Reason); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got := len(v.Trace.Warnings) > 0; got != tt.warns {
				t.Errorf("warnings: %q", v.Trace.Warnings)
			}
			if v.Action != rules.Continue {
				t.Error("a string changed the decision")
			}
		})
	}
}

// What a part reads counts as what any text reads: it is used, listed, and kept out of logs
// if it is private.
func TestPartsRead(t *testing.T) {
	p, diags := rules.Check(t.Context(), policy(`
facts:
  flag: {text: flag}
rules:
  - name: tell
    when: stop_hook_active
    stop: [done, {when: flag != "" and exists("a.md"), text: "${env.SECRET}"}]
    log: [one, {when: prompt != "", text: two}]
`).fs(), "policy.yaml", rules.Config{})
	if len(diags) > 0 {
		t.Fatal(diags.Format())
	}
	var uses []string
	for _, u := range slices.Concat(p.Uses().Functions, p.Uses().Names, p.Uses().Paths) {
		uses = append(uses, u.Name)
	}
	if diff := cmp.Diff([]string{"exists", "env.SECRET", "prompt", "stop_hook_active", "a.md", "flag"}, uses); diff != "" {
		t.Errorf("uses (-want +got):\n%s", diff)
	}
	for flag, want := range map[string]rules.Verdict{"": {Reason: "done"}, "on": {Reason: "done\nhidden", Private: true}} {
		w := &world{facts: map[string]rules.Value{"flag": is(flag)}, names: map[string]any{
			"stop_hook_active": true, "prompt": "go", "env.SECRET": "hidden", "exists": func(string) bool { return true },
		}}
		v := w.eval(p)
		got := rules.Verdict{Reason: v.Reason, Private: v.Private}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("flag %q (-want +got):\n%s", flag, diff)
		}
		if part := v.Parts[0]; part.Log != "one\ntwo" || part.Private {
			t.Errorf("the log is %q, private: %v", part.Log, part.Private)
		}
	}
}

// A hook does not compile the texts that it does not need. What is wrong with one
// then shows as (?) and in the trace; ralph check finds it.
func TestLazyTexts(t *testing.T) {
	f := policy(`
rules:
  - name: tell
    when: loop.total < 5
    continue: a ${missing_name} b ${1 + } c ${never closed
    notice: fine
`)
	if p, diags := rules.Load(t.Context(), f.fs(), "policy.yaml", rules.Config{}); p != nil || len(diags) != 3 {
		t.Errorf("all three are errors of the policy:\n%s", diags.Format())
	}
	v := (&world{}).eval(loadWith(t, f, rules.Config{Lazy: true}))
	if diff := cmp.Diff("continue tell: a (?) b (?) c (?)", said(v)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{
		"the placeholder ${missing_name} cannot be compiled", "the placeholder ${1 + } cannot be compiled", "the placeholder ${never closed} cannot be compiled",
	}, v.Trace.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

// A text cannot grow without bounds, whatever values it shows.
func TestTextsAreBounded(t *testing.T) {
	v := decide(t, `
facts:
  big: {text: big.txt}
rules:
  - name: tell
    notice: "`+strings.Repeat("${big}", 100)+`"
`, &world{facts: map[string]rules.Value{"big": is(strings.Repeat("é", 100_000))}})
	text := v.Parts[0].Notice
	if n := len(text); n > 1<<20+10 || n < 1<<19 {
		t.Errorf("the text has %d bytes", n)
	}
	if !strings.HasSuffix(text, "é…") || len(v.Trace.Warnings) != 1 {
		t.Errorf("it ends with %q; warnings %q", text[len(text)-10:], v.Trace.Warnings)
	}
}

// A text for the agent has at most 128 KiB, even if several rules contribute to it. Its end reports what is left out,
// and so does a problem. Texts for the user or the log keep their length.
func TestTextsForTheAgentAreCut(t *testing.T) {
	const most = 128 << 10
	for _, c := range []struct {
		name, policy, event string
		size                int // of the fact big
		cut                 bool
	}{
		{"as long as it may be", "rules: [{name: tell, continue: '${big}'}]", "", most / 2, false},
		{"longer", "rules: [{name: tell, continue: '${big}'}]", "", most/2 + 1, true},
		{"one byte beside the letters", "rules: [{name: tell, continue: 'x${big}'}]", "", most, true},
		{"several rules", "gate: all\nrules: [{name: tell, continue: '${big}'}, {name: more, continue: '${big}'}]", "", most/4 + 1, true},
		{"a note to a prompt", "events: [UserPromptSubmit]\nrules: [{name: tell, note: '${big}'}]", "UserPromptSubmit", most, true},
		{"a note for the user", "rules: [{name: tell, note: '${big}'}]", "", most, false},
		{"a reason for stopping", "rules: [{name: tell, stop: '${big}'}]", "", most, false},
	} {
		p := load(t, policy("facts: {big: {text: big.txt}}\n"+c.policy))
		w := &world{facts: map[string]rules.Value{"big": is(strings.Repeat("é", c.size))}}
		v := p.Eval(t.Context(), w, rules.Options{Event: c.event})
		text := v.Reason
		if len(v.Parts) > 0 && v.Parts[0].Note != "" {
			text = v.Parts[0].Note
		}
		rest := strings.TrimLeft(strings.TrimLeft(text, "x"), "é\n")
		says := strings.HasPrefix(rest, "[ralph: the rest is left out. This text has ")
		problem := strings.Contains(strings.Join(reported(v), "\n"), "rule tell: the text for the agent is cut")
		if says != c.cut || problem != c.cut || c.cut && (len(text) > most || len(text) < most-2) || !utf8.ValidString(text) {
			t.Errorf("%s: it has %d bytes and ends with %.60q; problems %q", c.name, len(text), rest, v.Problems)
		}
	}
}

// The budget covers what a text shows, whatever contains it: a value that is written down is as large as its text.
func TestTextsAreCharged(t *testing.T) {
	const value = "${reduce(1..27, [#acc, #acc], 1)}"
	for _, rule := range []string{
		"continue: '" + value + "'", "stop: '" + value + "'", "note: '" + value + "'", "notice: '" + value + "'", "log: '" + value + "'",
		"then: [{prune: {glob: 'x" + value + "', older: 1h}}]",
	} {
		v := decide(t, "rules: [{name: tell, "+rule+"}, {name: other, stop: never}]", &world{})
		if v.Action != rules.Stop || v.Cause != "budget" || len(v.Parts) > 0 || v.Cost.Steps < 10_000_000 {
			t.Errorf("%s: it says %q, fault %q, for %+v", rule, said(v), v.Cause, v.Cost)
		}
	}
}

// Placeholders in paths: a value can name a file, but never one outside of the directory in the text of the policy.
func TestPaths(t *testing.T) {
	tests := []struct {
		path  string
		value any
		want  string // the argument; "" means that the fact is missing
		why   string
	}{
		{path: "specs/${v}/state.json", value: "001-auth", want: "specs/001-auth/state.json"},
		{path: "specs/${v}/state.json", value: "a/b", want: "specs/a/b/state.json"},
		{path: "specs/${v}/state.json", value: "./a", want: "specs/./a/state.json"},
		{path: "specs/${v}/state.json", value: 7, want: "specs/7/state.json"},
		{path: "specs/${v}/state.json", value: "a..b", want: "specs/a..b/state.json"},
		{path: "specs/${v}/state.json", value: "...", want: "specs/.../state.json"},
		{path: "specs/${v}/state.json", value: "*[x]", want: "specs/*[x]/state.json"},
		{path: "../${v}", value: "a", want: "../a"}, // it is in the text of the policy; the root refuses it
		{path: "~/${v}", value: "a", want: "~/a"},
		{path: "specs/${v}/state.json", value: "", why: "${s.v} is empty"},
		{path: "specs/${v}/state.json", value: "  ", why: "${s.v} is empty"},
		{path: "specs/${v}/state.json", value: nil, why: "${s.v} is empty"},
		{path: "specs/${v}/state.json", value: "..", why: "the path leads out of its directory: specs/../state.json"},
		{path: "specs/${v}/state.json", value: "a/../..", why: "the path leads out of its directory: specs/a/../../state.json"},
		{path: "specs/${v}/state.json", value: `a\..\b`, why: `the path leads out of its directory: specs/a\..\b/state.json`},
		{path: "specs/.${v}/state.json", value: ".", why: "the path leads out of its directory: specs/../state.json"},
		{path: "specs/${v}${v}/state.json", value: ".", why: "the path leads out of its directory: specs/../state.json"},
		{path: "specs/${v}./state.json", value: ".", why: "the path leads out of its directory: specs/../state.json"},
		{path: "specs/${v}/state.json", value: "/etc", why: "${s.v} is an absolute path: /etc"},
		{path: "specs/${v}/state.json", value: `\\host\x`, why: `${s.v} is an absolute path: \\host\x`},
		{path: "specs/${v}/state.json", value: "C:x", why: "${s.v} is an absolute path: C:x"},
		{path: "specs/${v}/state.json", value: "~/x", why: "${s.v} begins with ~: ~/x"},
		{path: "specs/${v}/state.json", value: "~root", why: "${s.v} begins with ~: ~root"},
		{path: "specs/${v}/state.json", value: "a\x00b", why: "${s.v} contains a NUL byte"},
		{path: "specs/${v}/state.json", value: []any{"a"}, why: "${s.v} is an array, not a name"},
		{path: "specs/${v}/state.json", value: object{}, why: "${s.v} is an object, not a name"},
	}
	for _, tt := range tests {
		t.Run(tt.path+" "+strings.ReplaceAll(tt.want+tt.why, "/", "|"), func(t *testing.T) {
			w := &world{facts: map[string]rules.Value{"s": is(object{"v": tt.value}), "file": is("x")}}
			v := decide(t, `
facts:
  s: {json: s.json}
  file: {text: "`+strings.ReplaceAll(tt.path, "${v}", "${s.v}")+`"}
rules:
  - name: a
    when: missing(file)
    notice: it is missing
`, w)
			want := []string{"s(s.json)"}
			if tt.want != "" {
				want = append(want, "file("+tt.want+")")
			}
			if diff := cmp.Diff(want, w.asked); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
			var told []string
			if tt.why != "" {
				told = []string{"file: " + tt.why}
			}
			if diff := cmp.Diff(told, reported(v)); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
		})
	}
}

// A path over a missing fact makes the fact missing, without another report: the missing fact has its own. A path over
// a fact that cannot be evaluated is reported.
func TestPathsOverFacts(t *testing.T) {
	const text = `
facts:
  pointer: {text: pointer.txt}
  state: {json: "${pointer}/state.json"}
  broken: {json: "${state.x}/x.json"}
rules:
  - {name: a, when: missing(state), log: "${path(state)}|${problem(state)}"}
  - {name: b, when: missing(broken), log: "${problem(broken)}"}
`
	v := decide(t, text, &world{})
	want := []rules.Part{
		{Rule: "a", Log: "|pointer is missing: pointer.txt there is no file"},
		{Rule: "b", Log: "state is missing: pointer is missing: pointer.txt there is no file"},
	}
	if diff := cmp.Diff(want, v.Parts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(v.Problems) > 0 {
		t.Errorf("plain absence is told: %v", v.Problems)
	}

	v = decide(t, text, &world{facts: map[string]rules.Value{"pointer": is("p"), "state": with(is(object{}), "/x")}})
	if diff := cmp.Diff([]string{"p/state.json: state.x expected integer, got string"}, reported(v)); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

// Values in the pattern of a prune are literal.
func TestGlobs(t *testing.T) {
	tests := []struct{ glob, value, want string }{
		{"specs/${v}/*.md", "001-auth", "specs/001-auth/*.md"},
		{"specs/${v}/*.md", "a*[b]{c}?", `specs/a\*\[b\]\{c\}\?/*.md`},
		{"specs/${v}/*.md", "a,b!", "specs/a,b!/*.md"},
		{"{a,${v}}/*.md", "b,c", `{a,b\,c}/*.md`},
		{"[${v}]/*.md", "a-z", `[a\-z]/*.md`},
		{"${v}/*.md", `a\b`, `a\\b/*.md`},
		{"${v}/*.md", "..", ""},
	}
	for _, tt := range tests {
		t.Run(tt.glob+" "+tt.value, func(t *testing.T) {
			v := decide(t, `
facts:
  s: {json: s.json}
rules:
  - name: a
    when: ok(s)
    then: [{prune: {glob: "`+strings.ReplaceAll(tt.glob, "${v}", "${s.v}")+`", older: 5m}}]
`, &world{facts: map[string]rules.Value{"s": is(object{"v": tt.value})}})
			var want []rules.Effect
			if tt.want != "" {
				want = []rules.Effect{{Kind: rules.PruneEffect, Glob: tt.want, Older: 5 * time.Minute}}
			}
			if diff := cmp.Diff(want, v.Parts[0].Effects); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if (tt.want == "") != (len(v.Trace.Warnings) > 0) {
				t.Errorf("warnings %q", v.Trace.Warnings)
			}
		})
	}
}
