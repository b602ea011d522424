package main

import (
	"encoding/json"
	"testing"
)

// Values are shown as YAML on one line, also those that a trace has cut off.
func TestYAMLText(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{nil, `null`},
		{true, `true`},
		{3, `3`},
		{"s1", `"s1"`},
		{"two\nlines", `"two\nlines"`},
		{[]any{}, `[]`},
		{map[string]any{}, `{}`},
		{[]any{"plan", 1.5, nil, "yes", "12", "a: b", "TODO.md", ""}, `[plan, 1.5, null, "yes", "12", "a: b", TODO.md, ""]`},
		{map[string]any{"text": "Write it", "done": false, "tags": []any{"P"}}, `{done: false, tags: [P], text: Write it}`},
		{json.RawMessage(`[{"n":1},{"n":[2,{"m":3}]}]`), `[{n: 1}, {n: [2, {m: 3}]}]`},
		{`[{"depth":0,"done":false,"text":"Wri…`, `[{depth: 0, done: false, text …`},
		{`[{"depth":0},{"de…`, `[{depth: 0}, { …`},
		{`[x] is not a list…`, `"[x] is not a list…"`},
		{`[{"n":1}]`, `"[{\"n\":1}]"`}, // a text, and whole
		{`{…`, `"{…"`},
		{`…`, `"…"`},
	} {
		if got := yamlText(c.value); got != c.want {
			t.Errorf("%v: got %s, want %s", c.value, got, c.want)
		}
	}
}
