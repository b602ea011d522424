package rules_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
)

// value is what the rules of a fact with a schema see of a Go value.
func value(t testing.TB, schema string, v any) rules.Value {
	t.Helper()
	p := load(t, policy("facts: {f: {json: f.json"+schema+"}}\nrules: [{name: a, when: ok(f), log: x}]\n"))
	return rules.ValueOf(p.Facts()[0], v).Whole(t.Context())
}

type (
	celsius  float64
	switched bool
	keyed    struct{ K string }
	pair     struct {
		Left  int `json:"left"`
		Right int `json:"right,omitempty"`
	}
	base struct {
		ID   string `json:"id"`
		Both string
		Gone string
	}
	other struct {
		Gone string
		Both string `json:"both"`
	}
	pointed struct{ Through int }
	never   struct{ time.Time }
)

func (k keyed) MarshalText() ([]byte, error) { return []byte("key " + k.K), nil }
func (n never) IsZero() bool                 { return true }

// byPointer marshals only where it can be addressed.
type byPointer struct{ N int }

func (b *byPointer) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, `"n=%d"`, b.N), nil }

// A rule sees what encoding/json writes.
func TestAsJSON(t *testing.T) {
	seven, when := 7, time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600))
	for name, v := range map[string]any{
		"named kinds":      []any{celsius(1.5), switched(true), word("w")},
		"float32":          []any{float32(0.1), float32(3)},
		"a struct":         pair{1, 0},
		"omitempty":        pair{1, 2},
		"pointers":         []any{&pair{3, 4}, &seven, (*int)(nil)},
		"a pointer twice":  func() **pair { p := &pair{1, 2}; return &p }(),
		"embedded":         struct{ base }{base{"i", "b", "g"}},
		"embedded pointer": struct{ *base }{&base{"i", "b", "g"}},
		"embedded nil":     struct{ *base }{},
		"two embedded": struct {
			base
			other
		}{base{"i", "b", "g"}, other{"x", "y"}},
		"named embedded": struct {
			base `json:"base"`
		}{base{"i", "b", "g"}},
		"embedded, not exported": struct{ *pointed }{&pointed{3}},
		"a string option": struct {
			N int     `json:",string"`
			F float64 `json:"f,string"`
			B bool    `json:"b,string"`
			S string  `json:"s,string"`
			P *int    `json:"p,string"`
			//lint:ignore SA5008 encoding/json ignores it
			L []int `json:"l,string"`
		}{1, 2.5, true, "q", &seven, []int{1}},
		"omitted": struct {
			A []int          `json:"a,omitempty"`
			B map[string]int `json:"b,omitempty"`
			C *int           `json:"c,omitempty"`
			D any            `json:"d,omitempty"`
			E pair           `json:"e,omitempty"`
			F time.Time      `json:"f,omitzero"`
			G pair           `json:"g,omitzero"`
			H never          `json:"h,omitzero"`
			I [0]int         `json:"i,omitempty"`
			J float64        `json:"j,omitempty"`
			K bool           `json:"k,omitempty"`
		}{},
		"an odd tag": struct {
			A int `json:"with space"`
			C int `json:"é"`
		}{1, 3},
		"times":           []any{when, &when},
		"text marshalers": []any{netip.MustParseAddr("10.0.0.1"), keyed{"a"}, &keyed{"b"}},
		"a struct of std": url.URL{Scheme: "https", Host: "example.org"},
		"by pointer":      []any{byPointer{1}, &byPointer{2}, []byPointer{{3}}, struct{ B byPointer }{byPointer{4}}, &struct{ B byPointer }{byPointer{5}}},
		"keys":            []any{map[word]int{"a": 1}, map[int]int{1: 2}, map[keyed]int{{"k"}: 3}},
		"arrays":          []any{[2]int{1, 2}, [0]string{}, [1]byte{9}},
		"raw":             json.RawMessage(`{"a": [1, null]}`),
		"unexported":      struct{ a, B int }{1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			doc, err := schema.ParseJSON(b)
			if err != nil {
				t.Fatal(err)
			}
			want := new(schema.Schema).Check(doc).Value
			if diff := cmp.Diff(want, value(t, "", v).V); diff != "" {
				t.Errorf("encoding/json writes %s (-want +got):\n%s", b, diff)
			}
			// In parts, too.
			if diff := cmp.Diff(want, value(t, "", wrapped(v)).V); diff != "" {
				t.Errorf("encoding/json writes %s (-want +got in parts):\n%s", b, diff)
			}
		})
	}
}

// And where that would be no use, something else, at any depth.
func TestNotAsJSON(t *testing.T) {
	in := struct {
		Bytes    []byte
		List     []string
		Map      map[string]int
		Duration time.Duration
	}{[]byte("text"), nil, nil, time.Minute}
	want := object{"Bytes": "text", "List": []any{}, "Map": object{}, "Duration": time.Minute}
	for name, v := range map[string]any{"a struct": in, "a map": map[string]any{"Bytes": in.Bytes, "List": in.List, "Map": in.Map, "Duration": in.Duration}} {
		if diff := cmp.Diff(want, value(t, "", v).V); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	v := given(t, "facts: {f: {input: {}}}\nrules: [{name: long, when: 'f.Duration > duration(\"30s\")', continue: x}]\n", rules.Config{}, map[string]any{"f": in}, rules.Options{})
	if v.Rule != "long" {
		t.Errorf("a duration does not compare: %v", v.Problems)
	}
}

// A value of a program has its type, while a file may spell one.
func TestStrict(t *testing.T) {
	const typed = `, schema: {properties: {n: {type: integer}, f: {type: number}, b: {type: boolean}, s: {type: string}, xs: {type: array, items: {type: integer}}}}`
	for _, tt := range []struct {
		name string
		v    any
		want []string
	}{
		{"right", map[string]any{"n": 1, "f": 1.5, "b": true, "s": "1", "xs": []int{1}}, nil},
		{"an integral float", map[string]any{"n": 1.0, "f": 2}, nil},
		{"a json.Number", map[string]any{"n": json.Number("1")}, nil},
		{"spelt", map[string]any{"n": "1", "f": "1.5", "b": "true", "xs": []string{"1"}}, []string{
			`/b: is "true", expected boolean; write true or false`, `/f: is "1.5", expected number; write a number such as 2.5`,
			`/n: is "1", expected integer; write a whole number such as 3`, `/xs/0: is "1", expected integer; write a whole number such as 3`,
		}},
		{"a number for a string", map[string]any{"s": 1}, []string{`/s: is 1, expected string; write a string such as "text"`}},
		{"a fraction", map[string]any{"n": 1.5}, []string{"/n: is 1.5, expected integer; write a whole number such as 3"}},
		{"a duration for a number", map[string]any{"n": time.Second}, []string{`/n: is "1s", expected integer; write a whole number such as 3`}},
		{"an object for a list", map[string]any{"xs": map[string]int{}}, []string{"/xs: is an object with 0 fields, expected array of integer"}},
	} {
		for how, v := range map[string]any{"at once": tt.v, "in parts": wrapped(tt.v)} {
			var got []string
			for _, u := range value(t, typed, v).Unusable {
				got = append(got, u.String())
			}
			slices.Sort(got)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", tt.name, how, diff)
			}
		}
	}
}

// mine panics if anybody looks at it.
type mine struct{}

var touched bool

func (mine) MarshalJSON() ([]byte, error) { touched = true; panic("boom") }

// mined is a value with parts that must not be touched.
type mined struct {
	N     int                                `json:"n"`
	Mine  mine                               `json:"mine"`
	Deep  deep                               `json:"deep"`
	List  []deep                             `json:"list"`
	Costs func(context.Context) (any, error) `json:"costs"`
}

type deep struct {
	Name string `json:"name"`
	Mine mine   `json:"mine"`
}

// What no rule reads is not touched, and what cannot be read is unusable by itself, in whatever order.
func TestReads(t *testing.T) {
	const decides = ""
	for _, tt := range []struct {
		when    string
		touches bool
		want    string // of the problems
	}{
		{"f.n == 3", false, decides},
		{"f.deep.name == 'd'", false, decides},
		{"len(f.list) == 2", false, decides},
		{"any(f.list, .name == 'b')", false, decides},
		{"count(f.list, .name startsWith 'a') == 1", false, decides},
		{"none(f.list, len(.name) > 1)", false, decides},
		{"f.list[1].name == 'b'", false, decides},
		{"f.list[len(f.list) - 1].name == 'b'", false, decides},
		{"f.none == nil", false, decides},
		{"f.n == 3 or f.mine == 1", false, decides},
		{"f.deep != nil and f.deep.name == 'd'", true, decides},
		{"first(f.list).name == 'a'", true, decides},
		{"filter(f.list, .name == 'b')[0].name == 'b'", true, decides},
		{"none(f.list, # == 1)", true, decides},
		{"none(f.list, #[f.deep.name] == 1)", true, decides},
		{"f.mine == 1", true, "f.mine could not be read: it panicked: boom"},
		{"f.deep.mine == 1", true, "f.deep.mine could not be read: it panicked: boom"},
		{"any(f.list, .mine == 1)", true, "f.list[0].mine could not be read: it panicked: boom"},
		{"f.costs == 1", false, "f.costs could not be read: it panicked: bang"},
	} {
		for _, level := range []rules.TraceLevel{rules.TraceShort, rules.TraceFull} {
			v := mined{N: 3, Deep: deep{Name: "d"}, List: []deep{{Name: "a"}, {Name: "b"}}, Costs: func(context.Context) (any, error) { panic("bang") }}
			touched = false
			got := given(t, "facts: {f: {input: {}}}\nrules: [{name: a, when: \""+tt.when+"\", stop: x}]\n", rules.Config{}, map[string]any{"f": v}, rules.Options{Trace: level})
			want := tt.want
			if want != decides {
				want = "the rule a is undecided: " + want
			}
			if diff := cmp.Diff(want, strings.Join(reported(got), "; ")); diff != "" || (got.Rule == "a" && got.Cause == "") != (want == decides) {
				t.Errorf("%s, trace %d: rule %q, fault %q (-want +got):\n%s", tt.when, level, got.Rule, got.Cause, diff)
			}
			if shows := level == rules.TraceFull && strings.Contains(tt.when, "len(f.list)"); touched != (tt.touches || shows) { // a record shows the list
				t.Errorf("%s, trace %d: it is touched: %t", tt.when, level, touched)
			}
		}
	}
}

// Of a fact that a rule reads, a function is called if a rule reads what it supplies, once.
func TestLazyValues(t *testing.T) {
	for _, tt := range []struct {
		name  string
		when  string
		get   func() (any, error)
		want  string
		calls string
	}{
		{"unread", "other == 1", func() (any, error) { return 1, nil }, "stop rule  other: is not provided by the program", ""},
		{"a fact", "price > 1 and price < 3", func() (any, error) { return 2, nil }, "stop rule a", "price"},
		{"a fact of a wrong type", "price > 1", func() (any, error) { return "2", nil }, `stop fault the rule a is undecided: price is invalid: is "2", expected integer`, "price"},
		{"a fact that fails", "price > 1", func() (any, error) { return nil, errors.New("no route") }, "stop fault the rule a is undecided: price is missing: could not be read: no route", "price"},
		{"one that is nil", "price > 1", func() (any, error) { return nil, nil }, "stop rule  price: is not provided by the program", "price"},
		{"a field", "deal.price == 2 and deal.price < 3", func() (any, error) { return 2, nil }, "stop rule a", "deal"},
		{"a field beside it", "deal.name == 'n'", func() (any, error) { return 2, nil }, "stop rule a", ""},
		{"a field that fails", "deal.price == 2", func() (any, error) { return nil, errors.New("no route") }, "stop fault the rule a is undecided: deal.price could not be read: no route", "deal"},
		{"a field with others", "len(keys(deal)) == 2 and deal.price == 2", func() (any, error) { return int8(2), nil }, "stop rule a", "deal"},
		{"a name", "transcript.last == 'x' or transcript.last == 'y'", func() (any, error) { return "y", nil }, "stop rule a", "last"},
		{"a name that fails", "transcript.last == 'x'", func() (any, error) { return nil, errors.New("no route") }, "stop fault the rule a is undecided: transcript.last: no route", "last"},
		{"a function that returns one", "price > 1", func() (any, error) { return func(context.Context) (any, error) { return 2, nil }, nil }, "stop fault the rule a is undecided: price is invalid: is nested deeper than 1000 levels", "price"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var calls []string
			lazy := func(name string) func(context.Context) (any, error) {
				return func(ctx context.Context) (any, error) {
					if ctx != nil {
						calls = append(calls, name)
					}
					return tt.get()
				}
			}
			v := given(t, "facts: {price: {input: {type: integer}}, other: {input: {}}, deal: {input: {properties: {price: {type: integer}, name: {type: string}}}}}\nrules: [{name: a, when: \""+tt.when+"\", stop: x}]\n",
				rules.Config{}, map[string]any{"price": lazy("price"), "deal": map[string]any{"price": lazy("deal"), "name": "n"}, "transcript.last": lazy("last")}, rules.Options{})
			got := v.Action.String()
			if v.Cause != "" {
				got += " fault"
			} else {
				got += " rule " + v.Rule
			}
			got = strings.Join(append([]string{got}, reported(v)...), " ")
			if got != tt.want || strings.Join(calls, " ") != tt.calls {
				t.Errorf("got  %s, calls %q\nwant %s, calls %q", got, calls, tt.want, tt.calls)
			}
		})
	}
}

// A value with a function is one value, however often it is evaluated, and a part that was read stays.
func TestOneValue(t *testing.T) {
	p := load(t, policy("facts: {f: {input: {}}}\nrules: [{name: a, when: f.n == 1 and f.any.n == 1, stop: x}]\n"))
	calls := 0
	v := rules.ValueOf(p.Facts()[0], map[string]any{
		"n": func(context.Context) (any, error) { calls++; return calls, nil }, "any": []any{1}[0:0],
	})
	for range 3 {
		if got := p.Eval(t.Context(), rules.Values(map[string]any{"f": v}), rules.Options{}); got.Cause == "" {
			t.Errorf("%+v", got)
		}
	}
	if calls != 1 {
		t.Errorf("the function is called %d times", calls)
	}
	// A verdict shares nothing with the value.
	list := []any{map[string]any{"x": 1}}
	whole := value(t, "", map[string]any{"list": list})
	list[0].(map[string]any)["x"] = 2
	if diff := cmp.Diff(object{"list": []any{object{"x": 1}}}, whole.V); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// wrapped returns the value of which each part is a function, so that it is read in parts.
func wrapped(v any) any {
	lazy := func(v any) any { return func(context.Context) (any, error) { return v, nil } }
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, e := range v {
			out[name] = lazy(wrapped(e))
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = lazy(wrapped(e))
		}
		return out
	}
	return v
}

// FuzzParts reads any JSON value with any schema: in parts it comes to the same as at once.
func FuzzParts(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"properties": {"n": {"type": "integer", "default": 7, "minimum": 0}}}`, `{"n": -1}`},
		{`{"properties": {"n": {"type": "integer", "default": 7}, "m": {"type": ["integer", "null"]}}, "required": ["n", "k"]}`, `{"N": 1, "m": null}`},
		{`{"type": "array", "items": {"properties": {"s": {"enum": ["a", "b"]}}, "additionalProperties": false}}`, `[{"s": "c", "x": 1}, null, 3]`},
		{`{"properties": {"a": {"anyOf": [{"type": "string"}, {"properties": {"b": {"type": "string", "default": "x"}}}]}}}`, `{"a": {}}`},
		{`{"minProperties": 2, "properties": {"a": {"type": "string", "format": "date-time"}}}`, `{"a": "b"}`},
		{`{"properties": {"list": {"type": "array", "uniqueItems": true, "items": {"type": "number"}}}}`, `{"list": [1, 1, "2", null, 1e300]}`},
		{`{"$ref": "#/$defs/t", "$defs": {"t": {"properties": {"t": {"$ref": "#/$defs/t"}, "n": {"type": "integer"}}}}}`, `{"t": {"t": {"t": {"n": "x"}}}}`},
		{`{"additionalProperties": {"properties": {"n": {"type": "integer", "default": 1}}}}`, `{"x": {}, "y": null, "z": {"n": null}}`},
		{`{"properties": {"taskIndex": {"type": "integer"}}}`, `{"taskIndx": 1}`},
		{`{"items": {"type": "integer", "default": 3}}`, `[null, 1]`},
		{`true`, `{"a": [1, {"b": null}]}`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, src, document []byte) {
		var typ any
		doc, err := schema.ParseJSON(document)
		if err != nil || json.Unmarshal(src, &typ) != nil || len(src) > 2000 || len(document) > 2000 {
			return
		}
		p, _ := rules.LoadBytes(t.Context(), "policy.yaml", fmt.Appendf(nil, "ralph: 1\nfacts: {f: {json: f.json, schema: %s}}\nrules: [{name: a, when: ok(f), log: x}]\n", src), rules.Config{})
		if p == nil {
			return
		}
		read := func(v any) rules.Value { return rules.ValueOf(p.Facts()[0], v).Whole(t.Context()) }
		once, parts := read(doc.Value), read(wrapped(doc.Value))
		sorted := cmpopts.SortSlices(func(a, b schema.Violation) bool { return a.String() < b.String() })
		if diff := cmp.Diff(once, parts, cmpopts.IgnoreUnexported(rules.Value{}), cmpopts.IgnoreFields(schema.Violation{}, "Value"), sorted, cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("%s\nof %s (-at once +in parts):\n%s", document, src, diff)
		}
	})
}

// lone is an element that says that it was read.
type lone struct {
	Name string
	read *[]string
}

func (l lone) MarshalJSON() ([]byte, error) {
	*l.read = append(*l.read, l.Name)
	return json.Marshal(l.Name)
}

// Of a list, only the elements that a rule reads are touched.
func TestReadsElements(t *testing.T) {
	for when, want := range map[string]string{
		"len(f.list) == 3": "", "first(f.list) == 'a'": "a", "last(f.list) == 'c'": "c", "f.list[2] == 'c'": "c",
		"len(f.list) == 3 and first(f.list) == 'a' and last(f.list) == 'c'": "ac",
		"first(f.none) == nil": "", "first(f.list) != last(f.list)": "abc", "'c' in f.list": "abc", "f.list[len(f.list) - 1] == 'c'": "abc",
		"len(f.list) > len(filter(f.list, # == 'c'))": "abc",
	} {
		var read []string
		list := []lone{{"a", &read}, {"b", &read}, {"c", &read}}
		got := given(t, "facts: {f: {input: {}}}\nrules: [{name: a, when: \""+when+"\", stop: x}]\n", rules.Config{}, map[string]any{"f": map[string]any{"list": list, "none": []int{}}}, rules.Options{})
		if diff := cmp.Diff(want, strings.Join(read, "")); diff != "" || got.Rule != "a" || got.Cause != "" {
			t.Errorf("%s: rule %q, %v, elements (-want +got):\n%s", when, got.Rule, got.Problems, diff)
		}
	}
}

// What no rule reads costs nothing: a decision over two integers allocates as much beside a hundred messages as beside none.
func TestUnreadAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates too")
	}
	type message struct {
		Role, Content string
		Tools         []string
		Meta          map[string]any
	}
	type talk struct {
		Turn, Most int
		Messages   []message
	}
	p := load(t, policy(`facts: {talk: {input: {properties: {Turn: {type: integer}, Most: {type: integer}, Messages: {type: array, items: {properties: {Role: {type: string}}}}}}}}
rules: [{name: go, when: talk.Turn < talk.Most, continue: go on}]
`))
	allocations := func(messages int) float64 {
		v := talk{Turn: 3, Most: 10}
		for i := range messages {
			v.Messages = append(v.Messages, message{"assistant", fmt.Sprint("message ", i), []string{"read"}, map[string]any{"tokens": i}})
		}
		w := rules.Values(map[string]any{"talk": &v})
		return testing.AllocsPerRun(100, func() {
			if p.Eval(t.Context(), w, rules.Options{}).Action != rules.Continue {
				t.Error("it does not continue")
			}
		})
	}
	if none, hundred := allocations(0), allocations(100); none != hundred {
		t.Errorf("%v allocations beside no message, %v beside a hundred", none, hundred)
	}
}

// Once its context is done, nothing more is read, and the agent may stop.
func TestReadsUntilDone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := load(t, policy("facts: {f: {input: {}}}\nrules: [{name: a, when: f.first == 1 and f.next == nil, continue: x}]\n"))
	v := p.Eval(ctx, rules.Values(map[string]any{"f": map[string]any{
		"first": func(context.Context) (any, error) { cancel(); return 1, nil },
		"next":  func(context.Context) (any, error) { t.Error("it is called"); return nil, nil },
	}}), rules.Options{})
	if v.Action != rules.Stop || v.Cause != rules.FaultContext {
		t.Errorf("%s, fault %q: %s", v.Action, v.Cause, v.Reason)
	}
}
