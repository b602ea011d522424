package process_test

import (
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/internal/process"
)

// The end of an output is kept, however it is written.
func TestEnd(t *testing.T) {
	for _, tt := range []struct {
		writes, want string
		cut          bool
	}{
		{"", "", false},
		{"abc", "abc", false},
		{"ab cd e", "abcde", false},
		{"abc def", "bcdef", true},
		{"abcdefghijklm n", "jklmn", true},
		{"a b c d e f g h i j k l m n", "jklmn", true},
		{"aéxxx x", "�xxxx", true},
	} {
		e := process.End{Most: 5}
		for w := range strings.FieldsSeq(tt.writes) {
			if n, err := e.Write([]byte(w)); n != len(w) || err != nil {
				t.Errorf("Write(%q) = %d, %v", w, n, err)
			}
		}
		if got := e.String(); got != tt.want || e.Cut != tt.cut {
			t.Errorf("after %q: %q, cut %t; want %q, cut %t", tt.writes, got, e.Cut, tt.want, tt.cut)
		}
	}
}
