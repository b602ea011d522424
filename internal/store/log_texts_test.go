package store

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A text that the log has is kept once, and every reader gets it in each line. A short one is in each line, and a line
// without references, as an older ralph writes it, is read as it is.
func TestSameTextsAreKeptOnce(t *testing.T) {
	s := Open(filepath.Join(t.TempDir(), "state"))
	text := func(c, end string) string { return strings.Repeat(c, 4000) + end }
	a, b := text("a", `\"\n`), text("b", "é")
	want := []string{
		`{"n":1,"a":"` + a + `","again":"` + a + `"}`,
		`{"n":2,"b":"` + b + `","a":["` + a + `"],"short":"aaa"}`,
		`{"n":3,"` + strings.Repeat("k", 300) + `":"` + b + `","b":{"b":"` + b + `"}}`,
		`{"n":4,"a":"` + a + `","b":"` + b + `","@":"@1 400"}`,
	}
	for i, line := range want {
		if i == 3 { // as after a full disk
			f, err := os.OpenFile(s.path(logName), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprint(f, `{"torn":"`+a[:700])
			f.Close()
		}
		if err := s.AppendLog([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(s.path(logName))
	if err != nil {
		t.Fatal(err)
	}
	for c, line := range map[string]string{"a": a, "b": b} {
		if n := bytes.Count(data, []byte(line)); n != 1 {
			t.Errorf("the text of %s is in the file %d times", c, n)
		}
	}
	lines, err := s.ReadLog(nil, 0)
	var got []string
	for _, line := range lines {
		got = append(got, string(line))
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}

	// A file that was damaged loses the text and nothing else.
	if err := os.WriteFile(s.path(logName), bytes.Replace(data, []byte(b+`"`), []byte(b+`x`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	lines, err = s.ReadLog(nil, 0)
	if last := lines[len(lines)-1]; err != nil || !bytes.Contains(last, []byte(`"b":"(4002 bytes are lost)"`)) || !bytes.Contains(last, []byte(a)) {
		t.Errorf("%v: %.200s", err, last)
	}
}

// Where the log was rotated, a text is in each file.
func TestSameTextAfterRotation(t *testing.T) {
	s := Open(filepath.Join(t.TempDir(), "state"))
	line := `{"a":"` + strings.Repeat("a", 500) + `"}`
	for range 2 {
		for range 2 {
			if err := s.AppendLog([]byte(line)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Rename(s.logPath(0), s.logPath(1)); err != nil {
			t.Fatal(err)
		}
	}
	lines, err := s.ReadLog(nil, 0)
	if len(lines) != 2 || string(lines[0]) != line || string(lines[1]) != line {
		t.Errorf("%v: %s", err, lines)
	}
}
