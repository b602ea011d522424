package policytest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/internal/yamltree"
	"github.com/ralph-sdk/ralph/rules"
)

// Draft is a test to write: its parts as in the file, as plain values.
type Draft struct {
	Name   string         `json:"name"`
	Event  string         `json:"event"` // "" is Stop
	Given  map[string]any `json:"given"`
	Expect map[string]any `json:"expect"`
	Note   string         `json:"note"` // becomes a comment above the test
}

// Append returns src with one more test at the end of its list. Every byte of src stays. An empty src becomes a new
// file. Append reads the result to verify that it has one more test. If the name is taken, it adds a number.
func Append(name string, src []byte, d Draft) ([]byte, error) {
	fail := func(format string, args ...any) ([]byte, error) {
		return nil, fmt.Errorf("the test cannot be added to %s: %w", name, fmt.Errorf(format, args...))
	}
	f := &File{}
	before, indent, end, gap := src, "  ", "\n", ""
	if len(bytes.TrimSpace(src)) == 0 {
		policy := strings.TrimSuffix(path.Base(strings.ReplaceAll(name, `\`, "/")), "_test.yaml") + ".yaml"
		before = append(bytes.Clone(src), "# Tests of "+policy+". Run them with: ralph test\ntests:\n"...)
		src = before
	} else {
		var diags rules.Diagnostics
		if f, diags = Parse(name, src); f == nil {
			return fail("it must be fixed first\n%s", diags.Format())
		}
		wanted := d.Name
		for n := 2; slices.ContainsFunc(f.Tests, func(t Test) bool { return t.Name == d.Name }); n++ {
			d.Name = fmt.Sprintf("%s (%d)", wanted, n)
		}
		root, _ := yamltree.Parse(src)
		tests := root.Get("tests")
		if tests.Style != yamltree.Block {
			return fail("its tests are in brackets; write one a line, each with a dash")
		}
		last := tests.Items[len(tests.Items)-1]
		lines := bytes.SplitAfter(src, []byte("\n"))
		before = bytes.Join(lines[:min(last.End().Line, len(lines))], nil)
		if bytes.Contains(src, []byte("\r\n")) {
			end = "\r\n"
		}
		if gap = end; !bytes.HasSuffix(before, []byte("\n")) {
			gap += end
		}
		line := yamltree.Line(src, last.Start.Line)
		indent = line[:len(line)-len(strings.TrimLeft(line, " "))]
	}
	out := slices.Concat(before, []byte(gap), d.text(indent, end), src[len(before):])
	after, diags := Parse(name, out)
	switch {
	case after == nil:
		return fail("it would no longer be a test file\n%s", diags.Format())
	case len(after.Tests) != len(f.Tests)+1:
		return fail("the end of its list of tests is unclear")
	}
	return out, nil
}

// text returns the draft as an item of a list.
func (d Draft) text(indent, end string) []byte {
	var b strings.Builder
	line := func(text string) { b.WriteString(indent + text + end) }
	if d.Note != "" {
		line("# " + strings.Join(strings.Fields(d.Note), " "))
	}
	line("- name: " + flow(d.Name))
	if d.Event != "" && d.Event != vocab.Stop {
		line("  event: " + flow(d.Event))
	}
	if len(d.Given) > 0 {
		line("  given:")
		for _, key := range slices.Sorted(maps.Keys(d.Given)) {
			facts, ok := d.Given[key].(map[string]any)
			if !ok || key != "facts" && key != "files" && key != "memory" {
				line("    " + key + ": " + flow(d.Given[key]))
				continue
			}
			line("    " + key + ":")
			for _, name := range slices.Sorted(maps.Keys(facts)) {
				line("      " + flow(name) + ": " + flow(facts[name]))
			}
		}
	}
	line("  expect: " + flow(d.Expect))
	return []byte(b.String())
}

// flow returns a value on one line.
func flow(v any) string {
	var n yaml.Node
	err := n.Encode([]any{v})
	n.Style = yaml.FlowStyle
	text, failed := yaml.Marshal(&n)
	if err != nil || failed != nil { // yaml cannot write every text, such as one that begins with a line break
		text, _ := json.Marshal(v) // drafts have only plain values
		return string(text)
	}
	return strings.TrimSuffix(strings.TrimPrefix(string(text), "["), "]\n")
}
