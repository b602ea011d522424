package main

import (
	"encoding/json"
	"testing"
)

// Values are shown as JSON on one line, also those that a trace has cut off.
func TestShownValue(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{nil, `null`},
		{3, `3`},
		{"two\nlines", `"two\nlines"`},
		{[]any{"plan", 1.5, nil, "a <b>"}, `["plan",1.5,null,"a <b>"]`},
		{json.RawMessage(`[{"n":1}]`), `[{"n":1}]`},
		{`[{"depth":0,"done":false,"text":"Wri…`, `[{"depth":0,"done":false,"text":"Wri…`},
		{`[{"n":1}]`, `"[{\"n\":1}]"`}, // a text, and whole
		{`{…`, `"{…"`},
		{`…`, `"…"`},
	} {
		if got := shownValue(c.value); got != c.want {
			t.Errorf("%v: got %s, want %s", c.value, got, c.want)
		}
	}
}
