package main

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"
)

// followed has the lines whose command a script ran as it was printed, where it was printed.
type followed struct {
	mu    sync.Mutex
	lines []string
}

func (f *followed) add(line string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lines = append(f.lines, strings.TrimSpace(line))
}

// commandIn returns the command that a line of ralph names, in backquotes or as the rest of its line or column, or "".
func commandIn(line string) string {
	m := regexp.MustCompile("`(ralph [^`]+)`|(?:^|: )\\s*(ralph .+?)(?:   |$)").FindStringSubmatch(line)
	if m == nil {
		return ""
	}
	return m[1] + m[2]
}

// advices returns every line of a message that names a command, as an expression, by what the program has in its place.
func advices(t *testing.T) map[string]*regexp.Regexp {
	out, err := exec.Command("go", "run", "../../internal/messages", "../..").Output()
	if err != nil {
		t.Fatal(err)
	}
	root := (&app{}).tree(&cobra.Command{Use: "eval"})
	all := map[string]*regexp.Regexp{}
	for line := range strings.Lines(string(out)) {
		place, text, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if strings.Contains(place, ".txt:") || strings.HasPrefix(place, "cmd/ralph/doctor_checks.go") || strings.HasPrefix(place, "internal/") && !strings.HasPrefix(place, "internal/approval") {
			continue // a page, which the tests of the documents run
		}
		for line := range strings.SplitSeq(text, `\n`) {
			line = strings.TrimSpace(line)
			command := strings.Fields(commandIn(line))
			if len(command) < 2 || !slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == command[1] }) {
				continue
			}
			as := regexp.QuoteMeta(line)
			all[line] = regexp.MustCompile(regexp.MustCompile(`%(\\\[\d\\\])?[a-z]`).ReplaceAllString(as, ".*"))
		}
	}
	return all
}

// check reports an advice that no script follows and that testdata/advice.txt does not excuse, and an excuse that nothing
// needs. Each line of the file is an advice, a tab and the reason.
func (f *followed) check(t *testing.T) {
	data, err := os.ReadFile("testdata/advice.txt")
	if err != nil {
		t.Fatal(err)
	}
	excuses := map[string]bool{}
	for line := range bytes.Lines(data) {
		if text, _, ok := strings.Cut(strings.TrimSpace(string(line)), "\t"); ok {
			excuses[text] = false
		}
	}
	for text, is := range advices(t) {
		if slices.ContainsFunc(f.lines, is.MatchString) {
			continue
		}
		if _, ok := excuses[text]; !ok {
			t.Errorf("no script runs the command of %q as it is printed", text)
		}
		excuses[text] = true
	}
	for text, used := range excuses {
		if !used {
			t.Errorf("testdata/advice.txt excuses %q, and no advice needs that", text)
		}
	}
}
