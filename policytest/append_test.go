package policytest_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/policytest"
)

// A test is added at the end of the list, in the file's own indentation and line
// ends, and every byte that was there stays.
func TestAppend(t *testing.T) {
	draft := policytest.Draft{
		Name:   "a situation",
		Given:  map[string]any{"facts": map[string]any{"state": map[string]any{"n": 3, "on": true, "text": "a: b"}}, "stop_hook_active": true},
		Expect: map[string]any{"rule": "", "stop": true},
	}
	const item = `  - name: a situation
    given:
      facts:
        state: {"n": 3, "on": true, text: 'a: b'}
      stop_hook_active: true
    expect: {rule: "", stop: true}
`
	flush := strings.ReplaceAll(item, "\n  ", "\n")[2:]
	for _, c := range []struct{ name, src, want string }{
		{"a new file", "", "# Tests of x.yaml. Run them with: ralph test\ntests:\n" + strings.TrimPrefix(item, "")},
		{"a list", "tests:\n  - name: a\n    expect: {rule: r}\n", "tests:\n  - name: a\n    expect: {rule: r}\n\n" + item},
		{"no line end", "tests:\n  - name: a\n    expect: {rule: r}", "tests:\n  - name: a\n    expect: {rule: r}\n\n" + item},
		{"keys behind the list", "tests:\n  - name: a\n    expect: {rule: r}\ngiven: {}   # mine\n", "tests:\n  - name: a\n    expect: {rule: r}\n\n" + item + "given: {}   # mine\n"},
		{"a list at the margin", "tests:\n- name: a\n  expect: {rule: r}\n", "tests:\n- name: a\n  expect: {rule: r}\n\n" + flush},
		{"a block text at the end", "tests:\n  - name: a\n    expect:\n      reason: |\n        one\n        two\n", "tests:\n  - name: a\n    expect:\n      reason: |\n        one\n        two\n\n" + item},
		{"CRLF", "tests:\r\n  - name: a\r\n    expect: {rule: r}\r\n", "tests:\r\n  - name: a\r\n    expect: {rule: r}\r\n\r\n" + strings.ReplaceAll(item, "\n", "\r\n")},
		{"a name that is taken", "tests:\n  - name: a situation\n    expect: {rule: r}\n", "tests:\n  - name: a situation\n    expect: {rule: r}\n\n" + strings.Replace(item, "a situation", "a situation (2)", 1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := policytest.Append("x_test.yaml", []byte(c.src), draft)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	for _, src := range []string{"tests: [{name: a, expect: {rule: r}}]\n", "tests:\n  - nam: a\n", "ralph: 1\n"} {
		if _, err := policytest.Append("x_test.yaml", []byte(src), draft); err == nil {
			t.Errorf("a test was added to %q: %v", src, err)
		}
	}
}

// Every text that a situation has can be written, such as one that begins with a line break.
func TestAppendText(t *testing.T) {
	const text = "\n  one\ntwo: {\n"
	src, err := policytest.Append("x_test.yaml", nil, policytest.Draft{
		Name: "a situation", Given: map[string]any{"facts": map[string]any{"state": map[string]any{"body": text}}}, Expect: map[string]any{"stop": true},
	})
	if err != nil {
		t.Fatal(err)
	}
	file, diags := policytest.Parse("x_test.yaml", src)
	if file == nil {
		t.Fatal(diags)
	}
	want := map[string]any{"facts": map[string]any{"state": map[string]any{"body": text}}, "input": map[string]any{}}
	if diff := cmp.Diff(want, file.Tests[0].Situation()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Whatever a file contains, Append returns a test file that begins with the same text and
// has one more test, or nothing.
func FuzzAppend(f *testing.F) {
	f.Add([]byte(""), "a")
	f.Add([]byte("tests:\n  - name: a\n    expect: {rule: r}\n"), "a")
	f.Add([]byte("tests:\n- name: 'x'\n  expect:\n    reason: |+\n      a\n\n\n# end\n"), "on: {")
	f.Add([]byte("\ufeffgiven: {}\ntests:\r\n  -\r\n    name: x\r\n    expect: {rule: r}\r\n..."), "\x00\u2028é")
	f.Fuzz(func(t *testing.T, src []byte, text string) {
		before := 0
		if file, _ := policytest.Parse("x_test.yaml", src); file != nil {
			before = len(file.Tests)
		}
		d := policytest.Draft{Name: "added", Given: map[string]any{"last_assistant_message": text}, Expect: map[string]any{"reason": []any{"x" + text}}}
		out, err := policytest.Append("x_test.yaml", src, d)
		if err != nil {
			return
		}
		file, diags := policytest.Parse("x_test.yaml", out)
		if file == nil || len(file.Tests) != before+1 {
			t.Fatalf("%q became %q: %v", src, out, diags)
		}
		rest := out
		for line := range bytes.Lines(bytes.TrimRight(src, "\n")) {
			i := bytes.Index(rest, bytes.TrimRight(line, "\r\n"))
			if i < 0 {
				t.Fatalf("%q lost the line %q: %q", src, line, out)
			}
			rest = rest[i:]
		}
	})
}

// No input makes Parse panic, and it returns a file or findings, never both or neither.
func FuzzParse(f *testing.F) {
	f.Add([]byte("tests:\n  - name: a\n    given: {facts: {s: {a: [1]}}, missing: [x], loop: {repeats: 1}}\n    expect: {continue: /x/, files: {a: null}}\n"))
	f.Add([]byte("tests: [{name: a, expect: {effects: [{set: 'a.b = 1'}]}}]"))
	f.Add([]byte("given: 3\ntests: {}"))
	f.Fuzz(func(t *testing.T, src []byte) {
		file, diags := policytest.Parse("x_test.yaml", src)
		if (file == nil) != (len(diags) > 0) {
			t.Fatalf("%q: file %v, findings %v", src, file, diags)
		}
		lines := bytes.Count(src, []byte("\n")) + 1
		for _, d := range diags {
			if d.Pos.Line < 1 || d.Pos.Line > lines || d.Pos.Col < 1 {
				t.Fatalf("%q: a finding stands outside of the file: %s", src, d)
			}
		}
	})
}

func ExampleFromSituation() {
	d, _ := policytest.FromSituation([]byte(`{"facts": {"state": {"phase": "execution", "taskIndex": 5, "totalTasks": 5}}, "names": {"stop_hook_active": false}}`))
	d.Name, d.Expect = "stops behind the last task", map[string]any{"rule": "verified", "stop": true}
	out, err := policytest.Append("speckit_test.yaml", nil, d)
	fmt.Print(string(out), err)
	// Output:
	// # Tests of speckit.yaml. Run them with: ralph test
	// tests:
	//   - name: stops behind the last task
	//     given:
	//       facts:
	//         state: {phase: execution, taskIndex: 5, totalTasks: 5}
	//       stop_hook_active: false
	//     expect: {rule: verified, stop: true}
	// <nil>
}
