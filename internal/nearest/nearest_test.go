package nearest_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/internal/nearest"
)

func TestDidYouMean(t *testing.T) {
	long := strings.Repeat("a", 64)
	names := []string{"phase", "taskIndex", "totalTasks", "n", "on", "größe", "tool", "took", long}
	for word, want := range map[string]string{
		"phaze": "phase", "pahse": "phase", "Phase": "phase", "taskindex": "taskIndex", "taskIdx": "taskIndex", "total_tasks": "totalTasks",
		"m": "", "onn": "on", "something": "", "": "", "phase": "", "grösse": "größe",
		"toom": "tool", "too": "tool", // the first of two
		"tool":         "took", // that it is known does not help
		long[1:] + "b": long,
		long + "a":     "", // too long for a typo
	} {
		if want != "" {
			want = "did you mean " + strconv.Quote(want) + "?"
		}
		if got := nearest.DidYouMean(word, names); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}
