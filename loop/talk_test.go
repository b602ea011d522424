package loop

import (
	"strings"
	"testing"
)

func TestSaid(t *testing.T) {
	for _, c := range []struct {
		text, marker string
		want         bool
	}{
		{"All is done.\n\nALL_DONE\n", "ALL_DONE", true},
		{"**ALL_DONE**", "ALL_DONE", true},
		{"## `ALL_DONE`\r\n", "ALL_DONE", true},
		{"<promise>the tests  pass</promise>", "<promise>the tests pass</promise>", true},
		{"<promise> the tests pass </promise>", "<promise>the tests pass</promise>", true},
		{"<promise>\nthe tests\npass\n</promise>", "<promise>the tests pass</promise>", true},
		{"I say ALL_DONE when it is.", "ALL_DONE", false},
		{"ALL_DONE_NOT", "ALL_DONE", false},
		{"all_done", "ALL_DONE", false},
		{"<promise>\n\nthe tests pass</promise>", "<promise>the tests pass</promise>", false},
		{"the tests\nfail", "the tests pass", false},
		{"", "", false},
		{"**", "**", false},
	} {
		if got := newIndex([]string{c.text}).said(c.marker); got != c.want {
			t.Errorf("said(%q) in %q is %v", c.marker, c.text, got)
		}
	}
	two := newIndex([]string{"first", "second"})
	if !two.said("first") || !two.said("second") || two.said("first second") {
		t.Error("a marker is looked for in each text, and not across two")
	}
}

func TestMentions(t *testing.T) {
	i := newIndex([]string{"All  Tasks\ncomplete now", "earlier text"})
	for words, want := range map[string]bool{"all tasks complete": true, "nothing|NOW": true, "earlier": false, "": false, "|": false} {
		if got := i.mentions(words); got != want {
			t.Errorf("mentions(%q) is %v", words, got)
		}
	}
}

func TestPassedSinceEdit(t *testing.T) {
	ran := func(line string) Tool { return Tool{Name: "Bash", Command: line} }
	failed := func(line string) Tool { return Tool{Name: "Bash", Command: line, Failed: true} }
	edit := Tool{Name: "Edit", Edit: true}
	for _, c := range []struct {
		name  string
		tools []Tool
		want  bool
	}{
		{"it passed", []Tool{edit, ran("go test ./...")}, true},
		{"after other commands and variables", []Tool{ran("cd api && CGO_ENABLED=0 go test ./...")}, true},
		{"before an edit", []Tool{ran("go test ./..."), edit}, false},
		{"before an edit that failed", []Tool{ran("go test ./..."), {Edit: true, Failed: true}}, true},
		{"it failed", []Tool{failed("go test ./...")}, false},
		{"it failed the last time", []Tool{ran("go test ./..."), failed("go test ./...")}, false},
		{"its status is lost", []Tool{ran("go test ./... | tail")}, false},
		{"its status does not count", []Tool{ran("go test ./... || true")}, false},
		{"another command", []Tool{ran("go test2 ./..."), ran("echo go test")}, false},
		{"nothing ran", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := passedSinceEdit([]Turn{{Role: "assistant", Tools: c.tools}}, "go  test"); got != c.want {
				t.Errorf("it is %v", got)
			}
		})
	}
	if passedSinceEdit([]Turn{{Tools: []Tool{ran("ls")}}}, " ") {
		t.Error("no command has passed")
	}
}

// Markers and texts come from agents: whatever they are, the index says the same as a look at each line.
func FuzzSaid(f *testing.F) {
	f.Add("a\nALL_DONE\nb", "ALL_DONE")
	f.Add("<p>\nx\n</p>", "<p>x</p>")
	f.Fuzz(func(t *testing.T, text, marker string) {
		alone := false
		for line := range strings.Lines(text) {
			alone = alone || bare(line) == bare(marker) && bare(marker) != ""
		}
		if alone && !newIndex([]string{text}).said(marker) {
			t.Errorf("%q is alone on a line of %q", marker, text)
		}
	})
}
