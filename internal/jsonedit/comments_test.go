package jsonedit

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is put beside comments and taken away again leaves the file as it was.
func TestCommented(t *testing.T) {
	for name, tt := range map[string]struct{ src, want string }{
		"above":          {"// mine\n{\n  // of x\n  \"x\": 1\n}\n", "// mine\n{\n  // of x\n  \"x\": 1,\n  \"hooks\": [2]\n}\n"},
		"behind":         {"{\n  \"x\": 1 // one\n}\n/* end */", "{\n  \"x\": 1,\n  \"hooks\": [2] // one\n}\n/* end */"},
		"below":          {"{\r\n  \"x\": 1\r\n  /* no\r\n more */\r\n}\r\n", "{\r\n  \"x\": 1,\r\n  \"hooks\": [2]\r\n  /* no\r\n more */\r\n}\r\n"},
		"like a comment": {"{\"x\": \"// \\\" /* no\"}", "{\"x\": \"// \\\" /* no\", \"hooks\": [2]}"},
		"in a list":      {"{\n  \"hooks\": [ /* one */ ],\n  \"x\": 1\n}", "{\n  \"hooks\": [\n    2  /* one */ ],\n  \"x\": 1\n}"},
		"nothing else":   {"{\n  // all as usual\n}", "{\n  \"hooks\": [2] \n  // all as usual\n}"},
	} {
		t.Run(name, func(t *testing.T) {
			with, err := Put([]byte(tt.src), []any{"hooks", 0}, []byte("2"))
			if diff := cmp.Diff(tt.want, string(with)); err != nil || diff != "" {
				t.Fatalf("%v (-want +got):\n%s", err, diff)
			}
			path := []any{"hooks"}
			if name == "in a list" {
				path = append(path, 0)
			}
			without, err := Cut(with, path)
			if diff := cmp.Diff(tt.src, string(without)); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// A comment within what is taken away is not lost silently.
func TestCommentedCut(t *testing.T) {
	const src = "{\n  \"x\": 1,\n  \"hooks\": [\n    // mine\n    2\n  ]\n}"
	if got, err := Cut([]byte(src), []any{"hooks"}); !errors.Is(err, errComment) {
		t.Errorf("%s, error %v", got, err)
	}
}

// Whatever the file contains, no comment is lost, and the rest is the same as if the file
// had no comments.
func FuzzCommented(f *testing.F) {
	f.Add("// mine\n{\n  \"x\": 1 /* one */\n}\n")
	f.Add("{\"x\": \"//\", // two\n \"hooks\": [1,\n // three\n 2]}")
	f.Fuzz(func(t *testing.T, text string) {
		src := []byte(text)
		for _, change := range []func(src []byte) ([]byte, error){
			func(src []byte) ([]byte, error) { return Put(src, []any{"hooks"}, []byte("[2]")) },
			func(src []byte) ([]byte, error) { return Cut(src, []any{"x"}) },
		} {
			want, plainErr := change(Uncommented(src))
			got, err := change(src)
			if err != nil {
				if plainErr == nil && len(comments(src)) == 0 {
					t.Fatal(err)
				}
				continue
			}
			if diff := cmp.Diff(string(want), string(Uncommented(got))); diff != "" || len(comments(got)) != len(comments(src)) {
				t.Fatalf("%q became %q (-want +got):\n%s", src, got, diff)
			}
		}
	})
}
