package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnifiedDiff(t *testing.T) {
	lines := func(from, to int) string {
		var b strings.Builder
		for i := from; i <= to; i++ {
			fmt.Fprintln(&b, i)
		}
		return b.String()
	}
	tests := []struct{ name, before, after, want string }{
		{"the same", "a\n", "a\n", ""},
		{"a new file", "", "a\nb\n", "--- f\n+++ f\n@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"the last line", "a\nb\n", "a\nc", "--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n\\ No newline at end of file\n"},
		{
			"far apart", lines(1, 20), "0\n" + lines(1, 17) + lines(19, 20),
			"--- f\n+++ f\n@@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3\n@@ -15,6 +16,5 @@\n 15\n 16\n 17\n-18\n 19\n 20\n",
		},
		{
			"near one another", lines(1, 8), lines(2, 6) + lines(8, 8),
			"--- f\n+++ f\n@@ -1,8 +1,6 @@\n-1\n 2\n 3\n 4\n 5\n 6\n-7\n 8\n",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, unifiedDiff("f", test.before, test.after)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A diff tells both files: its lines but the added ones are the old file, and its
// lines but the removed ones the new.
func FuzzLineEdits(f *testing.F) {
	f.Add("a\nb\nc\n", "b\nd\nc\n")
	f.Add("", "\n\n")
	f.Fuzz(func(t *testing.T, before, after string) {
		var from, to strings.Builder
		for _, e := range lineEdits(splitLines(before), splitLines(after)) {
			if e.op != '+' {
				from.WriteString(e.text)
			}
			if e.op != '-' {
				to.WriteString(e.text)
			}
		}
		if from.String() != before || to.String() != after {
			t.Errorf("%q, %q became %q, %q", before, after, from.String(), to.String())
		}
	})
}
