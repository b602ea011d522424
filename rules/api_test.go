package rules_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
)

// given evaluates a policy that must load, over values.
func given(t *testing.T, text string, cfg rules.Config, values map[string]any, o rules.Options) *rules.Verdict {
	t.Helper()
	return loadWith(t, policy(text), cfg).Eval(t.Context(), rules.Values(values), o)
}

// refused returns the findings of a policy that does not load.
func refused(t *testing.T, text string, cfg rules.Config) string {
	t.Helper()
	p, diags := rules.LoadBytes(t.Context(), "policy.yaml", []byte("ralph: 1\n"+text), cfg)
	if (p == nil) != (diags.Err() != nil) {
		t.Fatalf("there is a program: %t, and %v", p != nil, diags.Err())
	}
	if p != nil {
		t.Fatal("it loads")
	}
	return diags.Err().Error()
}

type (
	word   string
	number int64
	mark   struct{ A, B int }
	shout  string
)

func (m mark) MarshalJSON() ([]byte, error)  { return fmt.Appendf(nil, "[%d, %d]", m.A, m.B), nil }
func (s shout) MarshalText() ([]byte, error) { return []byte(strings.ToUpper(string(s))), nil }

// unmarshalable does not marshal.
type unmarshalable struct{}

func (unmarshalable) MarshalJSON() ([]byte, error) { return nil, errors.New("no form") }

func TestValueOf(t *testing.T) {
	p := load(t, policy(`
facts:
  open: {json: open.json}
  typed:
    json: typed.json
    schema:
      properties:
        n: {type: integer, default: 7}
        s: {type: string, enum: [a, b]}
        f: {type: number}
        xs: {type: array, items: {type: integer}}
  todo: {checklist: todo.md}
  page: {frontmatter: page.md, schema: {properties: {title: {type: string}}}}
rules:
  - {name: a, when: open.x == 1 or typed.n == 1 or len(todo) == 0 or page.title == "", log: x}
`))
	facts := map[string]*rules.Fact{}
	for _, f := range p.Facts() {
		facts[f.Name] = f
	}
	three, when := 3, time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	loop := map[string]any{}
	loop["self"] = loop
	type inner struct {
		Deep string `json:"deep"`
		Same string `json:"same"`
	}
	type embedded struct {
		inner
		Same string `json:"same"`
	}
	for _, tt := range []struct {
		name, fact string
		v          any
		want       rules.Value
	}{
		{"nil", "open", nil, rules.Value{Status: rules.Missing, Problem: "is nil", Quiet: true}},
		{"a nil pointer", "open", (*mark)(nil), rules.Value{Status: rules.Missing, Problem: "is nil", Quiet: true}},
		{"a value", "open", rules.Value{Status: rules.Invalid, Problem: "as it is"}, rules.Value{Status: rules.Invalid, Problem: "as it is"}},
		{"integers", "open", []any{int8(-1), int16(2), int32(3), int64(4), uint(5), uint8(6), uint16(7), uint32(8), uint64(9), uintptr(10), number(11), &three}, is([]any{-1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 3})},
		{"large integers", "open", []any{uint64(math.MaxUint64), math.MaxInt64, math.MinInt64}, rules.Value{
			V: []any{1<<53 - 1, 1<<53 - 1, -(1<<53 - 1)}, Warnings: []schema.Violation{
				{Pointer: "/0", Message: "is 18446744073709551615, too big to be exact; it counts as 9007199254740991", Clamped: true, Value: json.Number("18446744073709551615")},
				{Pointer: "/1", Message: "is 9223372036854775807, too big to be exact; it counts as 9007199254740991", Clamped: true, Value: math.MaxInt64},
				{Pointer: "/2", Message: "is -9223372036854775808, too big to be exact; it counts as -9007199254740991", Clamped: true, Value: math.MinInt64},
			},
		}},
		{"floats", "open", []any{float32(0.5), 1.5, 2.0}, is([]any{0.5, 1.5, 2})},
		{"json.Number", "open", []any{json.Number("12"), json.Number("1.5")}, is([]any{12, 1.5})},
		{"no number", "open", math.NaN(), rules.Value{Status: rules.Invalid, Problem: "unsupported value: NaN"}},
		{"infinity", "open", map[string]any{"a": math.Inf(1), "b": 1}, rules.Value{V: object{"b": 1}, Unusable: []schema.Violation{{Pointer: "/a", Message: "unsupported value: +Inf"}}}},
		{"texts", "open", []any{"a", word("b"), []byte("c"), json.RawMessage(`{"d": [1]}`)}, is([]any{"a", "b", "c", object{"d": []any{1}}})},
		{"times", "open", []any{when, &when}, is([]any{"2026-01-02T03:04:05.000006Z", "2026-01-02T03:04:05.000006Z"})},
		{"marshalers", "open", []any{mark{1, 2}, &mark{3, 4}, (*mark)(nil), shout("hey")}, is([]any{[]any{1, 2}, []any{3, 4}, nil, "HEY"})},
		{"a marshaler that fails", "open", unmarshalable{}, rules.Value{Status: rules.Invalid, Problem: "error calling MarshalJSON for type rules_test.unmarshalable: no form"}},
		{"lists", "open", []any{[]int(nil), [2]bool{true}, []string{"a"}}, is([]any{[]any{}, []any{true, false}, []any{"a"}})},
		{"maps", "open", []any{map[string]int(nil), map[word]int{"a": 1}}, is([]any{object{}, object{"a": 1}})},
		{"a map of other keys", "open", map[int]string{1: "a"}, is(object{"1": "a"})},
		{"a func", "open", func() {}, rules.Value{Status: rules.Invalid, Problem: "unsupported type: func()"}},
		{"a channel", "open", make(chan int), rules.Value{Status: rules.Invalid, Problem: "unsupported type: chan int"}},
		{"a complex number", "open", 1i, rules.Value{Status: rules.Invalid, Problem: "unsupported type: complex128"}},
		{"a cycle", "open", loop, rules.Value{Status: rules.Invalid, Problem: "is nested deeper than 1000 levels"}},
		{"an embedded struct", "open", embedded{inner{Deep: "d", Same: "under"}, "over"}, is(object{"deep": "d", "same": "over"})},
		{
			"a struct", "open",
			struct {
				Name  string    `json:"name"`
				Empty string    `json:"empty,omitempty"`
				Zero  time.Time `json:"zero,omitzero"`
				None  *int      `json:"none"`
				Out   string    `json:"-"`
				//lint:ignore SA5008 a field that is called -
				Dash string         `json:"-,"`
				Map  map[string]int `json:"map,omitempty"`
				Bare bool
				own  int
			}{Name: "n", Out: "o", Dash: "d", own: 1},
			is(object{"name": "n", "none": nil, "-": "d", "Bare": false}),
		},
		{"defaults", "typed", map[string]any{}, is(object{"n": 7})},
		{"what is spelt as text stays text", "typed", map[string]any{"n": 1.0, "f": 2, "s": "a", "xs": []int64{1}}, is(object{"n": 1, "f": 2, "s": "a", "xs": []any{1}})},
		{
			"a wrong field is unusable, alone", "typed", map[string]any{"n": "many", "s": "a"},
			rules.Value{V: object{"s": "a"}, Unusable: []schema.Violation{{Pointer: "/n", Message: `is "many", expected integer`, Help: "write a whole number such as 3", Keyword: "type", Value: "many"}}},
		},
		{
			"a wrong value is a warning", "typed", map[string]any{"n": 1, "s": "c"},
			rules.Value{V: object{"n": 1, "s": "c"}, Warnings: []schema.Violation{{Pointer: "/s", Message: `is "c", expected one of "a" or "b"`, Keyword: "enum", Value: "c"}}},
		},
		{"a whole of a wrong type", "typed", []int{1}, rules.Value{Status: rules.Invalid, Problem: "is an array of 1, expected object"}},
		{
			"an item with what it has", "todo", []map[string]any{{"text": "write", "done": true}},
			is([]any{object{"text": "write", "done": true, "tags": []any{}, "depth": 0, "section": "", "source": "", "line": 0}}),
		},
		{"no items", "todo", []any(nil), is([]any{})},
		{"front matter with a body", "page", map[string]any{"title": "t", "body": "b"}, is(object{"title": "t", "body": "b"})},
		{"front matter without a body", "page", map[string]any{"title": "t"}, is(object{"title": "t", "body": ""})},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, rules.ValueOf(facts[tt.fact], tt.v).Whole(t.Context()), cmpopts.IgnoreUnexported(rules.Value{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	input := map[string]any{"xs": []any{1.0}}
	rules.ValueOf(facts["typed"], input).Whole(t.Context())
	if diff := cmp.Diff(map[string]any{"xs": []any{1.0}}, input); diff != "" {
		t.Errorf("ValueOf changes what it is given (-want +got):\n%s", diff)
	}
}

type marker func(string) bool

func TestValues(t *testing.T) {
	text := `
facts:
  s: {json: s.json, schema: {properties: {n: {type: integer, default: 1}}}}
rules:
  - {name: a, when: 's.n == 2 and said("done") and transcript.last == "bye" and env.X == "y" and stop_hook_active', stop: ok}
`
	all := map[string]any{"s": map[string]any{"n": int64(2)}, "said": marker(func(s string) bool { return s == "done" }), "transcript.last": word("bye"), "env.X": "y", "stop_hook_active": true}
	with := func(key string, v any) map[string]any {
		m := map[string]any{}
		for k, v := range all {
			m[k] = v
		}
		m[key] = v
		return m
	}
	for name, tt := range map[string]struct {
		values map[string]any
		want   string
	}{
		"all":                       {all, "a: holds"},
		"none":                      {nil, "a: no"},
		"an unknown key":            {with("stat", 1), `a: holds; the value "stat" is neither a fact of the policy nor one of the names that a program gives`},
		"a name that is not a func": {with("said", true), "a: error; the rule a is undecided: said cannot be used: expected a func(string) bool; got a bool"},
		"a func of another shape":   {with("said", func() bool { return true }), "a: error; the rule a is undecided: said cannot be used: expected a func(string) bool; got a func() bool"},
		"a nil func":                {with("said", marker(nil)), "a: no"},
		"a name of a wrong type":    {with("transcript.last", 3), "a: error; the rule a is undecided: transcript.last is 3, expected string; write a string such as \"text\""},
		"a flag of a wrong type":    {with("stop_hook_active", "perhaps"), `a: error; the rule a is undecided: stop_hook_active is "perhaps", expected boolean; write true or false`},
		"a fact of a wrong type":    {with("s", map[string]any{"n": "x"}), `a: unknown; the rule a is undecided: s.n is "x", expected integer; write a whole number such as 3`},
	} {
		t.Run(name, func(t *testing.T) {
			v := given(t, text, rules.Config{}, tt.values, rules.Options{})
			got := strings.Join(append(outcomes(v), reported(v)...), "; ")
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestOwnFunctions(t *testing.T) {
	type place struct {
		Zone  string `json:"zone"`
		Count int64  `json:"count"`
	}
	type key struct{}
	calls := 0
	var mu sync.Mutex
	cfg := rules.Config{Functions: []rules.Function{
		{Name: "double", Func: func(n int64) int64 { return 2 * n }},
		{Name: "zone", Func: func(ctx context.Context, p place) (place, error) {
			if p.Count < 0 {
				return p, errors.New("no such zone")
			}
			p.Zone += fmt.Sprint(ctx.Value(key{}))
			return p, nil
		}},
		{Name: "add", Func: func(first int, more ...float64) float64 {
			s := float64(first)
			for _, n := range more {
				s += n
			}
			return s
		}},
		{Name: "panics", Func: func() bool { panic("too hot") }},
		{Name: "counted", Func: func(s string) bool {
			mu.Lock()
			defer mu.Unlock()
			calls++
			return s != ""
		}},
		{Name: "texts", Func: func() []word { return []word{"a", "b"} }},
		{Name: "tiny", Func: func(n uint8) uint8 { return n }},
	}}
	for expr, want := range map[string]string{
		"double(21) == 42": "a: holds",
		`zone({"zone": "eu", "count": 2}).zone == "eu!"`: "a: holds",
		`zone({"zone": "eu", "count": -1}).count == 0`:   `a: error; rule a: policy.yaml:5:7: zone({"zone": "eu", "count": -1}).count == 0: zone: no such zone`,
		"zone(1).count == 0":                             "a: error; rule a: policy.yaml:5:7: zone(1).count == 0: zone: argument 1: expected a rules_test.place; got a number",
		"add(1) == 1 and add(1, 2, 0.5) == 3.5":          "a: holds",
		"panics()":                                       "a: error; rule a: policy.yaml:5:7: panics(): panics: it panicked: too hot",
		`texts() == ["a", "b"]`:                          "a: holds",
		"tiny(300) == 44":                                "a: error; rule a: policy.yaml:5:7: tiny(300) == 44: tiny: argument 1: expected a uint8; got a number",
		"double(int(1.0)) == 2":                          "a: holds",
	} {
		p := loadWith(t, policy("rules:\n  - name: a\n    when: |-\n      "+expr+"\n    log: x\n"), cfg)
		v := p.Eval(context.WithValue(t.Context(), key{}, "!"), nil, rules.Options{})
		if got := strings.Join(append(outcomes(v), reported(v)...), "; "); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", expr, got, want)
		}
	}

	p := loadWith(t, policy("rules:\n  - {name: a, when: 'count(1..50, counted(\"x\")) == 50 and counted(\"\") == false', log: '${counted(\"x\")}'}\n"), cfg)
	if v := p.Eval(t.Context(), nil, rules.Options{Trace: rules.TraceFull}); outcomes(v)[0] != "a: holds" || calls != 2 {
		t.Errorf("%v after %d calls, 2 are expected", outcomes(v), calls)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { p.Eval(context.Background(), nil, rules.Options{}) })
	}
	wg.Wait()

	for name, f := range map[string]rules.Function{
		`the function "f" cannot be added: its Func must be a function; got <nil>`:                           {Name: "f"},
		`the function "f" cannot be added: its Func must be a function; got int`:                             {Name: "f", Func: 1},
		`the function "f" cannot be added: its Func must be a function; got func() bool`:                     {Name: "f", Func: (func() bool)(nil)},
		`the function "f" cannot be added: expressions have no type for a []func()`:                          {Name: "f", Func: func(...func()) int { return 0 }},
		`the function "f" cannot be added: func() must return a result, or a result and an error`:            {Name: "f", Func: func() {}},
		`the function "f" cannot be added: func() error must return a result, or a result and an error`:      {Name: "f", Func: func() error { return nil }},
		`the function "f" cannot be added: func() (int, int) must return a result, or a result and an error`: {Name: "f", Func: func() (int, int) { return 0, 0 }},
		`the function "said" cannot be added: its name is not an identifier, or is already used`:             {Name: "said", Func: func() bool { return true }},
		`the function "len" cannot be added: its name is not an identifier, or is already used`:              {Name: "len", Func: func() bool { return true }},
		`the function "cut" cannot be added: its name is not an identifier, or is already used`:              {Name: "cut", Func: func() bool { return true }},
		`the function "a-b" cannot be added: its name is not an identifier, or is already used`:              {Name: "a-b", Func: func() bool { return true }},
		`the function "f" cannot be added: expressions have no type for a chan int`:                          {Name: "f", Func: func() chan int { return nil }},
	} {
		if got, want := refused(t, "rules: [{name: a, log: x}]\n", rules.Config{Functions: []rules.Function{f}}), "policy.yaml: "+name; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestOwnArguments(t *testing.T) {
	with := func(shape string) rules.Config {
		return rules.Config{Sources: []rules.SourceKind{{Name: "own", Argument: shape}}}
	}
	for _, shape := range []string{"", "words", "text", "path", "pattern", "schema"} {
		loadWith(t, policy("rules: [{name: a, log: x}]\n"), with(shape))
	}
	want := `policy.yaml: the source "own" cannot be added: its Argument must be one of "", "path", "pattern", "schema", "text", "words"; got "list"`
	if got := refused(t, "rules: [{name: a, log: x}]\n", with("list")); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestOwnEvents(t *testing.T) {
	cfg := rules.Config{Events: []string{"Deploy"}}
	p := loadWith(t, policy("events: [Deploy]\nrules: [{name: a, continue: Go on}]\n"), cfg)
	for event, want := range map[string]string{"Deploy": "continue a: Go on", "": "stop: the policy does not decide Stop", "Other": "stop: the policy does not decide Other"} {
		if got := said(p.Eval(t.Context(), nil, rules.Options{Event: event})); got != want {
			t.Errorf("%q: got %q, want %q", event, got, want)
		}
	}
	for text, cfg := range map[string]rules.Config{
		`policy.yaml:2:10: unknown event "Deploy"; expected one of "PreCompact", "SessionEnd", "Stop", "StopFailure", "SubagentStop", "TaskCompleted", "TeammateIdle", "UserPromptSubmit"`: {},
		`policy.yaml: the event "Stop" cannot be added: its name is empty, has a space, or is already used`:                                                                                {Events: []string{"Deploy", "Stop"}},
		`policy.yaml: the event "" cannot be added: its name is empty, has a space, or is already used`:                                                                                    {Events: []string{"Deploy", ""}},
	} {
		if got := refused(t, "events: [Deploy]\nrules: [{name: a, continue: Go on}]\n", cfg); got != text {
			t.Errorf("got  %s\nwant %s", got, text)
		}
	}
}

func TestOwnEffects(t *testing.T) {
	args, err := schema.Compile("page.json", []byte(`{"type": "object", "required": ["to"], "additionalProperties": false, "properties": {"to": {"type": "string", "minLength": 2}, "times": {"type": "integer", "default": 1}, "tags": {"type": "array"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	cfg := rules.Config{Effects: []rules.EffectDecl{{Name: "page", Doc: "Calls somebody.", Args: args}, {Name: "say-so"}}}
	rule := func(effect string) string {
		return "facts: {s: {json: s.json}}\nlet: {who: '[\"ops\", \"x\"]'}\nrules:\n  - name: a\n    continue: Go on\n    then:\n      - " + effect + "\n"
	}
	for effect, want := range map[string][]rules.Effect{
		"page: {to: '${who[0]}!', tags: [a, '${who[1]}']}": {{Kind: rules.OwnEffect, Name: "page", Value: object{"to": "ops!", "times": 1, "tags": []any{"a", "x"}}}},
		"page: {to: somebody, times: 3}":                   {{Kind: rules.OwnEffect, Name: "page", Value: object{"to": "somebody", "times": 3}}},
		"say-so: [1, {a: [true, null]}, 1.5]":              {{Kind: rules.OwnEffect, Name: "say-so", Value: []any{1, object{"a": []any{true, nil}}, 1.5}}},
		"say-so: '${len(who)}'":                            {{Kind: rules.OwnEffect, Name: "say-so", Value: "2"}},
	} {
		v := given(t, rule(effect), cfg, nil, rules.Options{})
		if v.Action != rules.Continue || len(v.Parts) != 1 {
			t.Fatalf("%s: %s %v", effect, said(v), v.Problems)
		}
		if diff := cmp.Diff(want, v.Parts[0].Effects); diff != "" {
			t.Errorf("%s (-want +got):\n%s", effect, diff)
		}
	}
	v := given(t, rule("page: {to: '${cut(who[1], 1)}'}"), cfg, nil, rules.Options{})
	if v.Action != rules.Stop || v.Cause != "rule" || v.Parts != nil || !strings.Contains(v.Problems[0].Text, "the arguments do not fit: /to") {
		t.Errorf("arguments that do not fit: %s %q %v", said(v), v.Cause, v.Problems)
	}
	for want, tt := range map[string]struct {
		effect string
		cfg    rules.Config
	}{
		"policy.yaml:8:15: the arguments of page do not fit: /to is required but missing":                                      {"page: {times: 2}", cfg},
		`policy.yaml: the effect "set" cannot be added: its name is not kebab-case, or is already used`:                        {"delete: s", rules.Config{Effects: []rules.EffectDecl{{Name: "set"}}}},
		`policy.yaml: the effect "Page" cannot be added: its name is not kebab-case, or is already used`:                       {"delete: s", rules.Config{Effects: []rules.EffectDecl{{Name: "Page"}}}},
		`policy.yaml:8:9: unknown key "page" in an effect; expected one of "archive", "delete", "prune", "remember", "run", …`: {"page: {to: ops}", rules.Config{}},
	} {
		if got := refused(t, rule(tt.effect), tt.cfg); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.effect, got, want)
		}
	}
}

func TestCapabilities(t *testing.T) {
	text := `
facts:
  state: {json: .work/state.json}
  todo: {checklist: 'docs/${session_id}/todo.md', default: []}
  ran: {exec: [make, test]}
rules:
  - name: a
    when: exists("docs/a.md") and own() and env.HOME != "" and ok(state) and len(todo) > 0 and ran.code == 0
    continue: ${transcript.last}
    then:
      - set: state.n = 1
      - page: x
`
	cfg := rules.Config{
		Functions: []rules.Function{{Name: "own", Func: func() bool { return true }}},
		Effects:   []rules.EffectDecl{{Name: "page"}},
	}
	all := rules.Capabilities{
		Sources: []string{"json", "checklist", "exec"}, Functions: []string{"exists", "own"}, Effects: []string{"set", "page"},
		Names: []string{"session_id", "env.*", "transcript.*"}, Paths: []string{".work/*.json", "docs/**"},
	}
	for name, tt := range map[string]struct {
		change func(*rules.Capabilities)
		want   []string
	}{
		"everything": {func(*rules.Capabilities) {}, nil},
		"nothing": {func(c *rules.Capabilities) { *c = rules.Capabilities{} }, []string{
			`policy.yaml:4:17: the policy may not use the path ".work/state.json"`,
			`policy.yaml:4:3: the policy may not use the source "json"`,
			`policy.yaml:5:3: the policy may not use the source "checklist"`,
			`policy.yaml:5:29: the policy may not use the name "session_id"`,
			`policy.yaml:6:3: the policy may not use the source "exec"`,
			`policy.yaml:13:9: the policy may not use the effect "page"`,
			`policy.yaml:12:9: the policy may not use the effect "set"`,
			`policy.yaml:9:11: the policy may not use the function "exists"`,
			`policy.yaml:9:11: the policy may not use the path "docs/a.md"`,
			`policy.yaml:9:35: the policy may not use the function "own"`,
			`policy.yaml:9:45: the policy may not use the name "env.HOME"`,
			`policy.yaml:10:17: the policy may not use the name "transcript.last"`,
		}},
		"no exec":         {func(c *rules.Capabilities) { c.Sources = c.Sources[:2] }, []string{`policy.yaml:6:3: the policy may not use the source "exec"`}},
		"no own":          {func(c *rules.Capabilities) { c.Functions = c.Functions[:1] }, []string{`policy.yaml:9:35: the policy may not use the function "own"`}},
		"no set":          {func(c *rules.Capabilities) { c.Effects = c.Effects[1:] }, []string{`policy.yaml:12:9: the policy may not use the effect "set"`}},
		"no environment":  {func(c *rules.Capabilities) { c.Names[1] = "env.P*" }, []string{`policy.yaml:9:45: the policy may not use the name "env.HOME"`}},
		"no hidden files": {func(c *rules.Capabilities) { c.Paths = c.Paths[1:] }, []string{`policy.yaml:4:17: the policy may not use the path ".work/state.json"`}},
		"one level":       {func(c *rules.Capabilities) { c.Paths[0] = "*" }, []string{`policy.yaml:4:17: the policy may not use the path ".work/state.json"`}},
	} {
		t.Run(name, func(t *testing.T) {
			allow := rules.Capabilities{
				Sources: slices.Clone(all.Sources), Functions: slices.Clone(all.Functions), Effects: slices.Clone(all.Effects), Names: slices.Clone(all.Names), Paths: slices.Clone(all.Paths),
			}
			tt.change(&allow)
			slices.Sort(tt.want)
			for _, lazy := range []bool{false, true} {
				cfg := cfg
				cfg.Allow, cfg.Lazy = []rules.Capabilities{allow}, lazy
				_, diags := rules.Load(t.Context(), policy(text).fs(), "policy.yaml", cfg)
				var got []string
				for _, d := range diags {
					if d.Severity == rules.Error {
						got = append(got, d.Pos.String()+": "+d.Message)
					}
				}
				slices.Sort(got)
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("lazy: %t (-want +got):\n%s", lazy, diff)
				}
			}
		})
	}
}

// A path that is known only when it is evaluated is then checked against the allowed paths.
func TestCapabilitiesOfPathsWithHoles(t *testing.T) {
	cfg := rules.Config{Allow: []rules.Capabilities{{
		Sources: []string{"json"}, Functions: []string{"exists"}, Names: []string{"session_id", "cwd"}, Paths: []string{"runs/*/state.json", "runs/*"},
	}}}
	p := loadWith(t, policy("facts:\n  s: {json: '${session_id}/state.json'}\nrules:\n  - {name: a, when: ok(s), log: x}\n  - {name: b, when: exists(cwd), log: x}\n"), cfg)
	for session, want := range map[string][]string{
		"runs/7":   {"a: holds", "b: no", "asked"},
		"other/7":  {"a: no", "b: no", "not asked", "s: the policy may not use the path other/7/state.json"},
		"runs/7/8": {"a: no", "b: no", "not asked", "s: the policy may not use the path runs/7/8/state.json"},
	} {
		w := &world{
			facts: map[string]rules.Value{"s": is(object{})},
			names: map[string]any{"session_id": session, "cwd": "other/" + session, "exists": func(string) bool { return true }},
		}
		v := w.explain(p)
		asked := "not asked"
		if slices.ContainsFunc(w.asked, func(s string) bool { return strings.HasPrefix(s, "s(") }) {
			asked = "asked"
		}
		if diff := cmp.Diff(want, append(append(outcomes(v), asked), reported(v)...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", session, diff)
		}
	}
}

func TestLoadLimits(t *testing.T) {
	text := "ralph: 1\nrules:\n"
	for _, as := range []string{"b", "c", "d", "e"} {
		text += "  - {include: 'ralph:a.yaml', as: " + as + "}\n"
	}
	text += "  - {name: a, when: 'session_id matches \"a{500}\" and cwd matches \"b{500}\"', log: x}\n"
	shipped := fstest.MapFS{"a.yaml": {Data: []byte("ralph: 1\nrules: [{name: a, log: x}]\n")}}
	for want, limits := range map[string]rules.LoadLimits{
		"": {},
		"policy.yaml: is too large: the policy and its files have more than 50 bytes":  {Bytes: 50},
		"ralph:a.yaml is too large: the policy and its files have more than 300 bytes": {Bytes: 300},
		"policy.yaml:1:1: the policy and its files have more than 20 values":           {Nodes: 20},
		"too many includes: at most 3 files, 8 deep":                                   {Includes: 3},
		"policy.yaml:7:66: the patterns of the policy are too large":                   {Patterns: 700},
	} {
		p, diags := rules.LoadBytes(t.Context(), "policy.yaml", []byte(text), rules.Config{Shipped: shipped, Limits: limits})
		switch {
		case (p == nil) != (diags.Err() != nil):
			t.Errorf("%+v: there is a program: %t, and %v", limits, p != nil, diags.Err())
		case want == "" && p == nil || want != "" && (p != nil || !strings.Contains(diags.Err().Error(), want)):
			t.Errorf("%+v: %v, want %q", limits, diags.Err(), want)
		}
	}
}

func TestErr(t *testing.T) {
	warned, diags := rules.LoadBytes(t.Context(), "p.yaml", []byte("ralph: 1\nlet: {a: '1'}\nrules: [{name: a, log: x}]\n"), rules.Config{})
	if warned == nil || len(diags) == 0 || diags.Err() != nil {
		t.Errorf("warnings alone: %v, an error: %v", diags, diags.Err())
	}
	if err := rules.Diagnostics(nil).Err(); err != nil {
		t.Error(err)
	}
	_, diags = rules.Load(t.Context(), fstest.MapFS{}, "gone.yaml", rules.Config{})
	if !errors.Is(diags.Err(), fs.ErrNotExist) || diags.Err().Error() != "gone.yaml: there is no file gone.yaml" {
		t.Error(diags.Err())
	}
	_, diags = rules.LoadBytes(t.Context(), "p.yaml", []byte("ralph: 1\nrules: [{name: a, wen: 1}, {name: B}]\n"), rules.Config{})
	if lines := strings.Split(diags.Err().Error(), "\n"); len(lines) != 2 || !strings.HasPrefix(lines[0], "p.yaml:2:19: ") || errors.Is(diags.Err(), fs.ErrNotExist) {
		t.Error(diags.Err())
	}
}

// cancelling cancels its context when a file is opened.
type cancelling struct {
	fstest.MapFS
	name   string
	cancel func()
}

func (c cancelling) Open(name string) (fs.File, error) {
	if name == c.name {
		c.cancel()
	}
	return c.MapFS.Open(name)
}

func TestContextEndsLoad(t *testing.T) {
	why := errors.New("no time")
	files := fstest.MapFS{
		"p.yaml": {Data: []byte("ralph: 1\nrules: [{include: a.yaml}, {include: b.yaml}]\n")},
		"a.yaml": {Data: []byte("ralph: 1\nrules: [{name: a, log: x}]\n")},
		"b.yaml": {Data: []byte("ralph: 1\nrules: [{name: a, log: x}]\n")},
	}
	for name, f := range map[string]func(context.CancelCauseFunc) fs.FS{
		"before":          func(cancel context.CancelCauseFunc) fs.FS { cancel(why); return files },
		"during":          func(cancel context.CancelCauseFunc) fs.FS { return cancelling{files, "a.yaml", func() { cancel(why) }} },
		"in the last one": func(cancel context.CancelCauseFunc) fs.FS { return cancelling{files, "b.yaml", func() { cancel(why) }} },
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		p, diags := rules.Load(ctx, f(cancel), "p.yaml", rules.Config{})
		if p != nil || !errors.Is(diags.Err(), why) {
			t.Errorf("%s: a program: %t, %v", name, p != nil, diags.Err())
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, diags := rules.LoadBytes(ctx, "p.yaml", []byte("ralph: 1\n"), rules.Config{}); !errors.Is(diags.Err(), context.Canceled) {
		t.Errorf("bytes: %v", diags.Err())
	}
}

// angry panics when a fact or a name is read.
type angry struct{ at string }

func (a angry) Fact(context.Context, *rules.Fact, []string) rules.Value { panic("no such fact") }

func (a angry) Name(context.Context, string) any {
	switch a.at {
	case "name":
		panic(errors.New("no such name"))
	case "func":
		return func(string) bool { panic("no such func") }
	}
	return nil
}

func TestNothingPanics(t *testing.T) {
	for name, p := range map[string]*rules.Program{"nil": nil, "zero": new(rules.Program)} {
		v := p.Eval(t.Context(), nil, rules.Options{Memory: rules.Memory{Streak: 2}})
		if v.Action != rules.Stop || v.Cause != rules.FaultRule || len(v.Problems) != 1 || v.Memory.Streak != 2 {
			t.Errorf("the %s program: %+v", name, v)
		}
	}
	p := load(t, policy("facts: {f: {text: f.txt}}\nrules:\n  - {name: a, when: len(cwd) > 99, log: x}\n  - {name: c, when: ok(f), continue: x}\n"))
	var nothing context.Context
	if v := p.Eval(nothing, nil, rules.Options{}); v.Cause != "" || v.Action != rules.Stop || v.Problems != nil {
		t.Errorf("nil context and facts: %+v", v)
	}
	for at, want := range map[string]string{
		"fact": "policy.yaml:5:21: ok(f): internal error: no such fact",
		"name": "policy.yaml:4:21: len(cwd) > 99: internal error: no such name",
	} {
		v := p.Eval(t.Context(), angry{at}, rules.Options{})
		if v.Action != rules.Stop || v.Cause != "panic" || v.Parts != nil {
			t.Errorf("%s: %s %q", at, said(v), v.Cause)
		}
		if diff := cmp.Diff([]string{want}, reported(v)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", at, diff)
		}
	}
	// What an expression calls fails as an operand does.
	p = load(t, policy("rules:\n  - {name: a, when: said(\"x\"), log: x}\n  - {name: c, continue: x}\n"))
	v := p.Eval(t.Context(), angry{"func"}, rules.Options{})
	v.Problems = v.Problems[:1] // the others say that the names of the limits are no functions
	if diff := cmp.Diff([]string{"continue c: x", `rule a: policy.yaml:3:21: said("x"): no such func`}, append([]string{said(v)}, reported(v)...)); diff != "" {
		t.Errorf("func (-want +got):\n%s", diff)
	}
}

func TestMemoryJSON(t *testing.T) {
	when := time.Date(2026, 1, 2, 15, 4, 5, 0, time.FixedZone("", 3600))
	m := rules.Memory{
		Turn: "t1", Streak: 2, Total: 7, Since: when, Latest: when.Add(time.Minute), Progress: "[3]", Same: 1, Reset: when.Add(-time.Hour), Loop: &rules.LoopInfo{Name: "one", State: "one.json"},
		Of: map[string]int{"p": 7}, Seen: []string{"5d41402abc4b2a76"}, Notice: "7d793037a0760186",
		Said: map[string][]rules.Said{"hurry": {{At: when.UTC(), Turn: "t1"}}},
	}
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"v":1,"turn":"t1","streak":2,"total":7,"since":"2026-01-02T14:04:05Z","latest":"2026-01-02T14:05:05Z","progress":"[3]","same":1,"reset":"2026-01-02T13:04:05Z","of":{"p":7},"loop":{"name":"one","state":"one.json"},"seen":["5d41402abc4b2a76"],"notice":"7d793037a0760186","said":{"hurry":[{"at":"2026-01-02T14:04:05Z","turn":"t1"}]}}`
	if diff := cmp.Diff(want, string(b)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var read rules.Memory
	if err := json.Unmarshal(b, &read); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, read); diff != "" { // which takes equal instants for equal
		t.Errorf("it does not read back (-want +got):\n%s", diff)
	}
	if b, err := json.Marshal(rules.Memory{}); string(b) != `{"v":1}` || err != nil {
		t.Errorf("the zero memory: %s %v", b, err)
	}
	for text, want := range map[string]string{
		`{"v": 2}`:               "the memory has version 2; this release reads version 1",
		`{}`:                     "the memory has version 0; this release reads version 1",
		`{"v":1,"streak":-1}`:    "a count of the memory is negative",
		`{"v":1,"same":-1}`:      "a count of the memory is negative",
		`{"v":1,"said":{"a":1}}`: "cannot unmarshal number",
	} {
		before := rules.Memory{Total: 3}
		if err := json.Unmarshal([]byte(text), &before); err == nil || !strings.Contains(err.Error(), want) || before.Total != 3 {
			t.Errorf("%s: %v, want %s; total %d", text, err, want, before.Total)
		}
	}
}

// A command that starts or ends a loop ends the streaks of its sessions, once. The total and
// what rules have said stay.
func TestReset(t *testing.T) {
	p := load(t, policy("limits: {continuations: 5, total: 9}\nrules:\n  - {name: go, continue: Go on}\n"))
	at := today()
	before, after := at.Add(-2*time.Minute), at.Add(-time.Minute)
	streak := func(reset time.Time) rules.Memory {
		return rules.Memory{Turn: "t1", Streak: 2, Total: 5, Since: before, Latest: before, Same: 2, Reset: reset}
	}
	for _, c := range []struct {
		name          string
		mine, project rules.Memory
		streak, total int // of the next memory
	}{
		{"never", streak(time.Time{}), rules.Memory{}, 3, 6},
		{"since", streak(time.Time{}), rules.Memory{Reset: after}, 1, 6},
		{"again", streak(before), rules.Memory{Reset: after}, 1, 6},
		{"known", streak(after), rules.Memory{Reset: after}, 3, 6},
		{"before a new session", rules.Memory{}, rules.Memory{Reset: after}, 1, 1},
	} {
		v := p.Eval(t.Context(), nil, rules.Options{Time: at, Turn: "t1", Memory: c.mine, Project: c.project})
		if got := said(v); got != "continue go: Go on" || v.Memory.Streak != c.streak || v.Memory.Total != c.total || !v.Memory.Reset.Equal(c.project.Reset) {
			t.Errorf("%s: %s, %+v", c.name, got, v.Memory)
		}
	}
}

// A streak begins with a turn and ends with a stop by a rule, or one because no rule decided, but not with a limit, a
// failure or an idle policy.
func TestStreaks(t *testing.T) {
	p := load(t, policy(`
events: [Stop, SubagentStop]
when: host != "idle"
limits: {continuations: 3, total: 9}
rules:
  - {name: broken, when: cwd == "broken" and 1 % len(host) == 1, stop: x}
  - {name: end, when: cwd == "end", stop: x}
  - {name: go, when: cwd != "none", continue: Go on}
`))
	at := today()
	two := rules.Memory{Turn: "t1", Streak: 2, Total: 5, Since: at.Add(-time.Hour), Latest: at.Add(-time.Minute), Progress: "", Same: 2}
	three := two
	three.Streak, three.Same = 3, 3
	next := func(turn string, total int) rules.Memory { // the first of a streak
		return rules.Memory{Turn: turn, Streak: 1, Total: total, Since: at, Latest: at, Same: 1}
	}
	third := rules.Memory{Turn: "t1", Streak: 3, Total: 6, Since: at.Add(-time.Hour), Latest: at, Same: 3}
	ended := rules.Memory{Turn: "t1", Total: 5}
	for name, tt := range map[string]struct {
		memory  rules.Memory
		options rules.Options
		cwd     string
		want    rules.Memory
		changed bool
	}{
		"the first continuation":   {rules.Memory{}, rules.Options{Turn: "t1"}, "", next("t1", 1), true},
		"another one":              {two, rules.Options{Turn: "t1"}, "", third, true},
		"no turn is the same turn": {two, rules.Options{}, "", third, true},
		"another turn":             {two, rules.Options{Turn: "t2"}, "", next("t2", 6), true},
		"a new turn":               {two, rules.Options{NewTurn: true}, "", next("#1", 6), true},
		"another new turn":         {rules.Memory{Turn: "#1", Streak: 2, Total: 2}, rules.Options{NewTurn: true}, "", next("#2", 3), true},
		"a turn with a name":       {two, rules.Options{Turn: "t1", NewTurn: true}, "", third, true},
		"a rule stops":             {two, rules.Options{Turn: "t1"}, "end", ended, true},
		"no rule decides":          {two, rules.Options{Turn: "t1"}, "none", ended, true},
		"a stop without a streak":  {ended, rules.Options{Turn: "t1"}, "end", ended, false},
		"a limit":                  {three, rules.Options{Turn: "t1"}, "", three, false},
		"a limit and another turn": {three, rules.Options{Turn: "t2"}, "", next("t2", 6), true},
		"a failure":                {two, rules.Options{Turn: "t1"}, "broken", two, false},
		"a spent budget":           {two, rules.Options{Turn: "t1", Budget: rules.Budget{Steps: 2}}, "", two, false},
		"idle":                     {two, rules.Options{Turn: "t1"}, "idle", two, false},
		"another event":            {two, rules.Options{Turn: "t1", Event: "Other"}, "", two, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := tt.options
			o.Memory, o.Time = tt.memory, at
			host := ""
			if tt.cwd == "idle" {
				host = "idle"
			}
			v := p.Eval(t.Context(), rules.Values(map[string]any{"cwd": tt.cwd, "host": host}), o)
			if diff := cmp.Diff(tt.want, v.Memory); diff != "" || v.Changed != tt.changed {
				t.Errorf("%s, changed: %t (-want +got):\n%s", said(v), v.Changed, diff)
			}
		})
	}
}

// The limits hold for a program that passes the memory back, and nothing in it is changed in place.
func TestLimitsHold(t *testing.T) {
	p := load(t, policy(`
limits: {repeats: 3}
rules:
  - {name: once, note: Mind the limit, unless_repeated: {times: 2, per: project}}
  - {name: go, continue: Go on, unless_repeated: {times: 9999}}
`))
	var m, project rules.Memory
	continued, notes := 0, 0
	for i := range 10_000 {
		before, err := json.Marshal([]rules.Memory{m, project})
		if err != nil {
			t.Fatal(err)
		}
		v := p.Eval(t.Context(), nil, rules.Options{Memory: m, Project: project, Turn: "t"})
		if after, _ := json.Marshal([]rules.Memory{m, project}); string(before) != string(after) {
			t.Fatalf("event %d changes the memory in place: %s became %s", i, before, after)
		}
		if v.Action == rules.Continue {
			continued++
		}
		for _, part := range v.Parts {
			if part.Note != "" {
				notes++
			}
		}
		m, project = v.Memory, v.Project
	}
	if continued != 3 || notes != 2 || m.Streak != 3 || len(project.Said["once"]) != 2 {
		t.Errorf("%d continuations, %d notes, streak %d, project %v", continued, notes, m.Streak, project.Said)
	}
	// Another loop of the same project has limits of its own, and no more notes.
	v := p.Eval(t.Context(), nil, rules.Options{Project: project})
	if v.Action != rules.Continue || slices.ContainsFunc(v.Parts, func(part rules.Part) bool { return part.Rule == "once" }) {
		t.Errorf("another loop: %s %v", said(v), v.Parts)
	}
}

// What a verdict says of the limits is how they stood when it was made.
func TestVerdictTellsHowLimitsStand(t *testing.T) {
	p := load(t, policy("limits: {repeats: 3}\nprogress: turn_id\nrules:\n  - {name: go, continue: Go on}\n"))
	var m rules.Memory
	for i, tt := range []struct {
		progress string
		streak   int
		repeats  int
	}{{"a", 0, 0}, {"a", 1, 1}, {"a", 2, 2}, {"b", 3, 0}, {"b", 4, 1}} {
		v := p.Eval(t.Context(), rules.Values(map[string]any{"turn_id": tt.progress}), rules.Options{Memory: m, Trace: rules.TraceFull})
		want := []rules.Limit{{Name: "continuations", At: tt.streak, Of: 500}, {Name: "total", At: tt.streak, Of: 5000},
			{Name: "elapsed", Of: int(24 * time.Hour)}, {Name: "repeats", At: tt.repeats, Of: 3}}
		if diff := cmp.Diff(want, v.Limits); diff != "" {
			t.Errorf("event %d (-want +got):\n%s", i, diff)
		}
		m = v.Memory
	}
}

func TestZeroTime(t *testing.T) {
	p := load(t, policy("limits: {elapsed: 1s}\nrules:\n  - {name: a, when: loop.elapsed > duration(\"0s\") or loop.step > duration(\"0s\"), stop: x}\n  - {name: go, continue: Go on}\n"))
	m := rules.Memory{Streak: 1, Total: 1, Since: today(), Latest: today(), Same: 1}
	if v := p.Eval(t.Context(), nil, rules.Options{Memory: m}); v.Action != rules.Continue {
		t.Errorf("at no time: %s", said(v))
	}
	if v := p.Eval(t.Context(), nil, rules.Options{Memory: m, Time: today().Add(time.Minute)}); v.Rule != "a" {
		t.Errorf("a minute later: %s", said(v))
	}
}

func TestUses(t *testing.T) {
	text := `when: cwd != ""
facts:
  state: {json: a/state.json}
  todo: {checklist: 'b/${session_id}.md', default: []}
let: {home: env.HOME}
progress: own()
rules:
  - name: a
    when: exists("c/*") and home != "" and now() > now() and loop.total > 0
    continue: ${transcript.last} ${len(todo)}
    then:
      - set: state.n = 1
      - page: ${host}
finally:
  - prune: {glob: 'd/*.md', older: 1h}
`
	cfg := rules.Config{Functions: []rules.Function{{Name: "own", Func: func() bool { return true }}}, Effects: []rules.EffectDecl{{Name: "page"}}}
	use := func(name string, line, col int) rules.Use {
		return rules.Use{Name: name, Pos: rules.Pos{File: "policy.yaml", Line: line, Col: col}}
	}
	want := rules.Uses{
		Sources:   []rules.Use{use("checklist", 5, 3), use("json", 4, 3)},
		Functions: []rules.Use{use("exists", 10, 11), use("own", 7, 11)},
		Effects:   []rules.Use{use("page", 14, 9), use("prune", 16, 5), use("set", 13, 9)},
		Names:     []rules.Use{use("cwd", 2, 7), use("env.HOME", 6, 13), use("host", 14, 17), use("session_id", 5, 26), use("transcript.last", 11, 17)},
		Paths:     []rules.Use{use("a/state.json", 4, 17), use("b/${session_id}.md", 5, 21), use("c/*", 10, 11), use("d/*.md", 16, 19)},
	}
	for _, lazy := range []bool{false, true} {
		cfg.Lazy = lazy
		p := loadWith(t, policy(text), cfg)
		p.Eval(t.Context(), rules.Values(map[string]any{"cwd": "/project"}), rules.Options{}) // loads the rest of a lazy one
		if diff := cmp.Diff(want, p.Uses()); diff != "" {
			t.Errorf("lazy: %t (-want +got):\n%s", lazy, diff)
		}
	}
}

// The JSON form of a verdict is what programs rely on.
func TestVerdictJSON(t *testing.T) {
	p := loadWith(t, policy(`
when: cwd != ""
facts:
  state: {json: state.json, schema: {properties: {n: {type: integer, default: 0}, xs: {type: array, items: {type: string}, default: []}}}}
  gone: {text: gone.txt}
progress: state.n
limits: {repeats: 3}
rules:
  - {name: missing, when: gone == "x", note: x}
  - {name: once, when: state.n > 1, note: 'At ${state.n}', notice: n, log: l, unless_repeated: {times: 1}}
  - {name: go, when: '"a" in state.xs', continue: 'Go on with ${state.xs}', then: [{set: 'state.xs[1] = "c"'}, {page: {to: [1, true]}}, {delete: state}]}
finally:
  - {prune: {glob: 'runs/*', older: 1h}}
  - {log: done}
`), rules.Config{Effects: []rules.EffectDecl{{Name: "page"}}})
	w := &world{facts: map[string]rules.Value{"state": is(object{"n": 2, "xs": []any{"a", "b"}})}, names: map[string]any{"cwd": "/project"}}
	v := p.Eval(t.Context(), w, rules.Options{Trace: rules.TraceFull, Time: today(), Turn: "t1", Project: rules.Memory{Total: 1}})
	v.Trace.When.Start, v.Trace.When.Took = 1, 2 // durations differ from run to run
	for i := range v.Trace.Steps {
		v.Trace.Steps[i].Start, v.Trace.Steps[i].Took = 1, 2
	}
	for i := range v.Trace.Facts {
		v.Trace.Facts[i].Start, v.Trace.Facts[i].Took = 1, 2
	}
	got, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/verdict.json", string(got)+"\n")
	var read rules.Verdict
	if err := json.Unmarshal(got, &read); err != nil {
		t.Fatal(err)
	}
	again, err := json.MarshalIndent(&read, "", "  ")
	if diff := cmp.Diff(string(got), string(again)); diff != "" || err != nil {
		t.Errorf("it does not read back: %v\n%s", err, diff)
	}
}

// A name that a policy may read does not allow it to call a function, except for those called by a name with a dot.
func TestCapabilitiesOfNames(t *testing.T) {
	for expression, allowed := range map[string]bool{
		`transcript.passed("go test")`: true, `exists("a")`: false, `said("DONE")`: false, "own()": false, `cwd == ""`: true,
	} {
		cfg := rules.Config{
			Functions: []rules.Function{{Name: "own", Func: func() bool { return true }}},
			Allow:     []rules.Capabilities{{Names: []string{"*"}, Paths: []string{"*"}}},
		}
		p, diags := rules.LoadBytes(t.Context(), "policy.yaml", []byte("ralph: 1\nrules: [{name: a, when: '"+expression+"', stop: x}]\n"), cfg)
		if (p != nil) != allowed {
			t.Errorf("%s: %v", expression, diags.Err())
		}
	}
}

// A function is called once for the same arguments, also where the policy's own when calls
// it before the rest is loaded; and what its arguments take is charged.
func TestFunctionsAreAskedOnce(t *testing.T) {
	text := policy("when: own(repeat(\"a\", 10000)) == 1\nrules:\n  - {name: a, when: 'own(repeat(\"a\", 10000)) == 1', stop: x}\n")
	for _, lazy := range []bool{false, true} {
		calls := 0
		p := loadWith(t, text, rules.Config{Lazy: lazy, Functions: []rules.Function{{Name: "own", Func: func(string) int { calls++; return 1 }}}})
		v := p.Eval(t.Context(), nil, rules.Options{})
		if calls != 1 || v.Rule != "a" {
			t.Errorf("lazy %t: %d calls, %s", lazy, calls, said(v))
		}
		if v.Cost.Steps < 4*10_000/8 { // twice the text, and twice the question
			t.Errorf("lazy %t: it costs %d steps", lazy, v.Cost.Steps)
		}
	}
}

// The memory keeps at most a thousand verdicts of a rule, so a rule with a larger
// count is skipped after that many.
func TestRepeatedRulesStepAside(t *testing.T) {
	p := load(t, policy("rules:\n  - {name: a, continue: Go on, unless_repeated: {times: 5000}}\n"))
	reached := make([]rules.Said, 1000)
	if v := p.Eval(t.Context(), nil, rules.Options{Memory: rules.Memory{Said: map[string][]rules.Said{"a": reached}}}); v.Action != rules.Stop {
		t.Errorf("it continues after a thousand: %v", v.Trace.Steps)
	}
}
