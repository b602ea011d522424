package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/rules"
)

// The rules of an included file run where it is included, under its name. It sees
// ralph's names and its own; its params are expressions of the includer.
func TestInclude(t *testing.T) {
	f := files{
		"policy.yaml": `ralph: 1
facts:
  state: {json: state.json, inline: true, schema: {properties: {used: {type: integer, default: 0}, most: {type: integer, default: 0}}}}
let:
  flag: used > 100
rules:
  - {name: first, when: used > 50, log: first}
  - include: guards/outer
    with: {used: used, most: most}
  - include: guards/outer
    with: {used: used * 10, most: most}
    as: tenfold
  - {name: last, when: flag, stop: last}
`,
		"guards/outer.yaml": `ralph: 1
params:
  used: {type: integer}
  most: {type: integer}
  mode: {enum: [strict, loose], default: strict}
facts:
  state: {text: flag.txt}      # not the state of the policy
let:
  flag: missing(state)
rules:
  - include: inner.yaml
    with: {over: "used > most and mode == 'strict'"}
  - {name: flagged, when: not flag, stop: "the flag says ${state}"}
`,
		"guards/inner.yaml": `ralph: 1
params:
  over: {type: boolean}
rules:
  - {name: reached, when: over, stop: too much}
`,
	}
	p := load(t, f)
	var names []string
	for _, r := range p.Rules() {
		names = append(names, r.Name)
	}
	if diff := cmp.Diff([]string{"first", "outer/inner/reached", "outer/flagged", "tenfold/inner/reached", "tenfold/flagged", "last"}, names); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	var facts []string
	for _, fact := range p.Facts() {
		facts = append(facts, fact.Name)
	}
	if diff := cmp.Diff([]string{"state", "outer/state", "tenfold/state"}, facts); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	var read []string
	for _, file := range p.Files() {
		read = append(read, file.Name)
	}
	if diff := cmp.Diff([]string{"policy.yaml", "guards/outer.yaml", "guards/inner.yaml", "guards/outer.yaml", "guards/inner.yaml"}, read); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	tests := []struct {
		state rules.Value
		flag  rules.Value
		want  string
	}{
		{is(object{"used": 1, "most": 10}), missing, "stop"},
		{is(object{"used": 11, "most": 10}), missing, "stop outer/inner/reached: too much"},
		{is(object{"used": 2, "most": 10}), missing, "stop tenfold/inner/reached: too much"},
		{is(object{"used": 1, "most": 10}), is("now"), "stop outer/flagged: the flag says now"},
		{missing, is("now"), "stop outer/flagged: the flag says now"}, // unknown is carried along
	}
	for _, tt := range tests {
		v := (&world{facts: map[string]rules.Value{"state": tt.state, "outer/state": tt.flag}}).eval(p)
		if diff := cmp.Diff(tt.want, said(v)); diff != "" {
			t.Errorf("%v %v (-want +got):\n%s", tt.state.V, tt.flag.V, diff)
		}
	}
	v := (&world{facts: map[string]rules.Value{"state": is(object{"used": 11, "most": 10})}}).eval(p)
	if got := v.Pos.String(); got != "guards/inner.yaml:5:5" {
		t.Errorf("the rule that decided stands at %s", got)
	}
}

// An included file can be passed a fact: what it reads and changes is the fact of the policy. With as: "" its rules keep
// their names.
func TestIncludeWithAFact(t *testing.T) {
	f := files{
		"policy.yaml": `ralph: 1
facts:
  state: {json: state.json, inline: true, schema: {properties: {used: {type: integer, default: 0}}}}
  note: {text: note.txt}
rules:
  - include: counts
    as: ""
    with: {held: state}
  - {name: last, when: used > 0, stop: last}
`,
		"counts.yaml": `ralph: 1
params:
  held: {fact: json, inline: true}
let:
  more: used + 1
rules:
  - {name: many, when: ok(held) and more > 5, stop: "${path(held)} has ${held.used}", then: [{set: held.used = 0}, {archive: held}]}
`,
	}
	p := load(t, f)
	var names []string
	for _, r := range p.Rules() {
		names = append(names, r.Name)
	}
	if diff := cmp.Diff([]string{"many", "last"}, names); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	v := (&world{facts: map[string]rules.Value{"state": is(object{"used": 5})}}).eval(p)
	var effects []string
	for _, e := range v.Parts[0].Effects {
		effects = append(effects, string(e.Kind)+" "+e.Fact)
	}
	if diff := cmp.Diff([]string{"set state", "archive state"}, effects); diff != "" || said(v) != "stop many: state.json has 5" {
		t.Errorf("%s (-want +got):\n%s", said(v), diff)
	}
	for with, want := range map[string]string{
		"{held: note}":       `"held" must name a fact with the source json; got "note"; those facts are "state"`,
		"{held: stat}":       `"held" must name a fact with the source json; got "stat"; those facts are "state"`,
		"{held: state.used}": `"held" must name a fact with the source json; got "state.used"; those facts are "state"`,
		"{}":                 `the param "held" of counts.yaml has no default and must be bound`,
	} {
		f := files{"policy.yaml": strings.Replace(f["policy.yaml"], "{held: state}", with, 1), "counts.yaml": f["counts.yaml"]}
		p, diags := rules.Load(t.Context(), f.fs(), "policy.yaml", rules.Config{})
		if p != nil || !strings.Contains(diags.Err().Error(), want) {
			t.Errorf("%s: %v", with, diags)
		}
	}
	p, diags := rules.Load(t.Context(), policy("params: {held: {fact: json}}\nrules: [{name: a, log: x}]\n").fs(), "policy.yaml", rules.Config{})
	if p != nil || !strings.Contains(diags.Err().Error(), "only an included file can be passed a fact") {
		t.Error(diags)
	}
}

// The same file can be included more than once, under different names; includes
// that include themselves, or too many, are refused.
func TestIncludesAreBounded(t *testing.T) {
	chain := files{}
	for i := range 12 {
		chain[fmt.Sprintf("g%d.yaml", i)] = fmt.Sprintf("ralph: 1\nrules:\n  - include: g%d\n", i+1)
	}
	chain["policy.yaml"], chain["g12.yaml"] = chain["g0.yaml"], "ralph: 1\nrules: []\n"
	wide := files{"g.yaml": "ralph: 1\nrules: []\n"}
	var b strings.Builder
	b.WriteString("ralph: 1\nrules:\n")
	for i := range 70 {
		fmt.Fprintf(&b, "  - {include: g, as: g%d}\n", i)
	}
	wide["policy.yaml"] = b.String()
	for name, f := range map[string]files{"deep": chain, "wide": wide} {
		p, diags := rules.Load(t.Context(), f.fs(), "policy.yaml", rules.Config{})
		if p != nil || !strings.Contains(diags.Err().Error(), "too many includes: at most 64 files, 8 deep") {
			t.Errorf("%s: %v", name, diags)
		}
	}
}

// Includes can be nested eight deep.
func TestIncludesInsideOneAnother(t *testing.T) {
	for deep, loads := range map[int]bool{7: true, 8: true, 9: false} {
		chain := files{"policy.yaml": "ralph: 1\nrules:\n  - include: g1\n", fmt.Sprintf("g%d.yaml", deep): "ralph: 1\nrules:\n  - {name: a, log: here}\n"}
		for i := 1; i < deep; i++ {
			chain[fmt.Sprintf("g%d.yaml", i)] = fmt.Sprintf("ralph: 1\nrules:\n  - include: g%d\n", i+1)
		}
		if p, diags := rules.Load(t.Context(), chain.fs(), "policy.yaml", rules.Config{}); (p != nil) != loads {
			t.Errorf("%d deep: loaded %t, %v", deep, p != nil, diags)
		}
	}
}

// Params are settings of a policy. Their values are texts that their schemas read.
func TestParams(t *testing.T) {
	f := policy(`
params:
  reentry: {enum: [once, always], default: once}
  most: {type: integer, default: 5, minimum: 1}
  on: {type: boolean, default: false}
  ratio: {type: number, default: 0.5}
  names: {type: array, items: {type: string}, default: [a, b]}
  maybe: {type: [string, "null"], default: null}
  open: {default: {a: 1}}
rules:
  - {name: tell, note: "${reentry} ${most + 1} ${on} ${ratio} ${join(names, '+')} ${maybe ?? 'none'} ${open.a}"}
`)
	tests := []struct {
		set  map[string]string
		want string // of the note; or the message of the error
		bad  bool
	}{
		{want: "once 6 false 0.5 a+b none 1"},
		{set: map[string]string{"reentry": "always", "most": "7", "on": "true", "ratio": "2", "maybe": "x"}, want: "always 8 true 2 a+b x 1"},
		{set: map[string]string{"most": "1e1"}, want: "once 11 false 0.5 a+b none 1"},
		{set: map[string]string{"reentry": "never"}, want: `the param "reentry" is "never", expected one of "once" or "always"`, bad: true},
		{set: map[string]string{"most": "many"}, want: `the param "most" is "many", expected integer; write a whole number such as 3`, bad: true},
		{set: map[string]string{"most": "0"}, want: `the param "most" is 0, expected at least 1`, bad: true},
		{set: map[string]string{"mots": "1"}, want: `the policy has no param "mots"`, bad: true},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.set), func(t *testing.T) {
			p, diags := rules.Load(t.Context(), f.fs(), "policy.yaml", rules.Config{Set: tt.set})
			got := ""
			if p != nil {
				got = (&world{}).eval(p).Parts[0].Note
			} else if len(diags) == 1 {
				got = diags[0].Message
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || (p == nil) != tt.bad {
				t.Errorf("%v (-want +got):\n%s", diags, diff)
			}
		})
	}
}

// A finding about a param's value is at the place of the value, and names where it comes
// from.
func TestGivenParamsSayWhereTheyAreGiven(t *testing.T) {
	f := files{"policy.yaml": "ralph: 1\nparams: {most: {type: integer, default: 5}}\nrules:\n  - {name: a, stop: \"${most}\"}\n"}
	set := map[string]string{"most": "many", "mots": "1"}
	for _, tt := range []struct {
		name string
		at   func(string) rules.Pos
		want string
	}{
		{name: "nothing said", want: `policy.yaml: the policy has no param "mots"
policy.yaml:2:10: the param "most" is "many", expected integer; write a whole number such as 3`},
		{name: "a flag", at: func(string) rules.Pos { return rules.Pos{File: "--set"} }, want: `policy.yaml: the policy has no param "mots", given by --set
policy.yaml:2:10: the param "most" from --set is "many", expected integer; write a whole number such as 3`},
		{name: "a place", at: func(param string) rules.Pos {
			return rules.Pos{File: "config.yaml", Line: map[string]int{"most": 3, "mots": 4}[param], Col: 7}
		}, want: `config.yaml:3:7: the param "most" is "many", expected integer; write a whole number such as 3
config.yaml:4:7: the policy has no param "mots"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, diags := rules.Load(t.Context(), f.fs(), "policy.yaml", rules.Config{Set: set, SetAt: tt.at})
			if diff := cmp.Diff(tt.want, diags.Err().Error()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Values of params are given to the policy and not to what it includes.
func TestParamsOfIncludedFilesAreBoundByTheIncluder(t *testing.T) {
	f := files{
		"policy.yaml": "ralph: 1\nrules:\n  - include: ralph:guards/limit\n    with: {used: loop.total, limit: 3}\n",
	}
	p, diags := rules.Load(t.Context(), f.fs(), "policy.yaml", rules.Config{Shipped: examples.FS, Set: map[string]string{"limit": "7"}})
	if p != nil || len(diags) != 1 || diags[0].Message != `the policy has no param "limit"` {
		t.Error(diags)
	}
	v := (&world{memory: rules.Memory{Total: 3}}).eval(load(t, f))
	if diff := cmp.Diff("stop limit/reached: 3 of 3", said(v)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// An included file must be a regular, readable file within the size limit.
func TestReading(t *testing.T) {
	f := files{
		"policy.yaml": "ralph: 1\nrules:\n  - include: huge\n  - include: folder\n  - include: binary\n",
		"huge.yaml":   strings.Repeat("# much too long\n", 1<<17), "folder.yaml/x": "", "binary.yaml": "\x00\x01\xff",
	}
	p, diags := rules.Load(t.Context(), f.fs(), "policy.yaml", rules.Config{})
	var checks []string
	for _, d := range diags {
		checks = append(checks, d.Pos.File+" "+d.Check)
	}
	want := []string{"binary.yaml encoding", "binary.yaml encoding", "binary.yaml encoding", "policy.yaml too-big", "policy.yaml include"}
	if diff := cmp.Diff(want, checks); diff != "" || p != nil {
		t.Errorf("(-want +got):\n%s\n%s", diff, diags.Format())
	}
	if p, diags := rules.Load(t.Context(), f.fs(), "nowhere.yaml", rules.Config{}); p != nil || diags.Err().Error() != "nowhere.yaml: there is no file nowhere.yaml" {
		t.Error(diags)
	}
}
