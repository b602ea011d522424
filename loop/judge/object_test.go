package judge

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestObject(t *testing.T) {
	yes := map[string]any{"go": true}
	for _, c := range []struct {
		name, text string
		want       map[string]any // nil: no answer
	}{
		{"plain", `{"go": true}`, yes},
		{"in a fence", "```json\n{\"go\": true}\n```", yes},
		{"in a fence on one line", "```{\"go\": true}```", yes},
		{"a note behind the fence", "```json\n{\"go\": true}\n```\nNote: more {text}", yes},
		{"prose around", "Sure. {\"go\": true}\n\nNote: {x}", yes},
		{"a brace within a text", `{"go": "} {"}`, map[string]any{"go": "} {"}},
		{"numbers are kept", `{"n": 12345678901234567890}`, map[string]any{"n": json.Number("12345678901234567890")}},
		{"an object within an object", `{"a": {"go": true}}`, map[string]any{"a": yes}},

		{"nothing", " \n", nil},
		{"prose", "It should go on.", nil},
		{"a list of nothing", "[1, 2]", nil},
		{"breaks off", `{"go": true, "why": "bec`, nil},
		{"the inner object of one that breaks off", `{"a": {"go": true}`, nil},
		{"two objects", `{"go": true} {"go": false}`, nil},
		{"two equal objects", `{"go": true} {"go": true}`, nil},
		{"braces without end", strings.Repeat("{x}", maxBraces+1), nil},
		{"nested without end", strings.Repeat(`{"a":`, 100_000), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := object(c.text)
			if c.want == nil {
				if err == nil {
					t.Fatalf("%v counts as the answer", got)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Whatever the text is, there is an answer or a reason, and the answer is in the text.
func FuzzObject(f *testing.F) {
	for _, s := range []string{`{"a":1}`, "```\n{}\n```", "{{}}", `{"a":"\u007b"}`, "{\"a\":1}{", "\xff{"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := object(text)
		if (v == nil) == (err == nil) {
			t.Fatalf("object(%q) = %v, %v", text, v, err)
		}
		if v == nil {
			return
		}
		again, err := object("so: " + text)
		if err != nil || !cmp.Equal(v, again) {
			t.Errorf("with prose before it, %q is %v, %v", text, again, err)
		}
	})
}
