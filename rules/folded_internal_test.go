package rules

import (
	"strings"
	"testing"
)

// Two texts of the same error are equal once they are folded, and those of two errors are not.
func TestFolded(t *testing.T) {
	for s, want := range map[string]string{
		"": "",
		"--- FAIL: TestParse (0.03s)\n    parse_test.go:42: got 3, want 7": "--- FAIL: TestParse (#.#s) parse_test.go:#: got #, want #",
		"/tmp/TestX123/001/state.json: no such file":                       "state.json: no such file",
		`open "C:\Users\me\a.txt": denied`:                                 `open "C:a.txt": denied`,
		"panic at 0xc00012ab40 [goroutine 17]":                             "panic at # [goroutine #]",
		"run 3f2b8c1e-77aa-4c1d-9e0f-0123456789ab failed":                  "run #-#-#-#-# failed",
		"  a \t b\r\n":                        "a b",
		"./a/b_2.go:1:2: undefined: ölVorrat": "b_#.go:#:#: undefined: ölVorrat",
		"dead beef":                           "dead beef",
		"v1.2.3":                              "v#.#.#",
	} {
		if got := folded(s); got != want {
			t.Errorf("%q is folded to %q, want %q", s, got, want)
		}
		if twice := folded(want); twice != want {
			t.Errorf("%q folded again is %q", want, twice)
		}
	}
	if long := folded(strings.Repeat("/a1 ", 1<<16)); len(long) > 4<<16 {
		t.Error("it grows")
	}
}
