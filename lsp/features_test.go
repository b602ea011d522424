package lsp_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const written = `ralph: 1
params:
  most: {type: integer, default: 3, description: How often at most.}
facts:
  state:
    json: s.json
    schema: {properties: {phase: {enum: [plan, work], description: Where it is.}, todo: {type: array, items: {properties: {done: {type: boolean}}}}}}
memory: {seen: {type: integer, default: 0}}
let:
  open: any(state.todo, not .done)
loop: {state: state}
rules:
  - include: guard.yaml
    with: {n: most}
  - name: go
    when: open and state.phase == "plan" and loop.total < most
    continue: "𝒳 ${state.phase} ${cut(transcript.last, 5)}"
    then: [{remember: seen = seen + 1}]
  # ralph:ignore shadowed-rule because it stays
`

const guard = "ralph: 1\nparams: {n: {type: integer}}\nrules:\n  - {name: a, when: loop.total > n, stop: enough}\n"

const writtenTests = `tests:
  - name: more to do
    given: {facts: {state: {phase: plan, todo: [{done: false}]}}}
    expect: {rule: go}
`

// workspace returns an editor with a policy, what it includes and its tests, of which only the policy and the tests are open.
func workspace(t testing.TB) *editor {
	e := edit(t, map[string]string{".ralph/guard.yaml": guard, ".ralph/p.yaml": "", ".ralph/p_test.yaml": ""})
	e.open(".ralph/p.yaml", written)
	e.open(".ralph/p_test.yaml", writtenTests)
	return e
}

// at returns the params of a request at the byte after a part of a text.
func at(name, src, before string) object {
	i := strings.Index(src, before)
	if i < 0 {
		panic("no " + before)
	}
	return object{"textDocument": object{"uri": uri(name)}, "position": pointAt(src, i+len(before))}
}

// pointAt returns the position of a byte, in UTF-16.
func pointAt(src string, i int) object {
	line := strings.LastIndexByte(src[:i], '\n') + 1
	units := 0
	for _, r := range src[line:i] {
		if units++; r > 0xffff {
			units++
		}
	}
	return object{"line": strings.Count(src[:i], "\n"), "character": units}
}

func TestHover(t *testing.T) {
	e := workspace(t)
	for _, tt := range []struct{ name, src, before, want string }{
		{".ralph/p.yaml", written, "when: open and sta", "```\nfact state: object\n```\n\njson s.json\n\n"},
		{".ralph/p.yaml", written, "and state.ph", "```\nfield phase: \"plan\" | \"work\"\n```\n\nWhere it is."},
		{".ralph/p.yaml", written, "when: op", "```\nlet open\n```\n\nany(state.todo, not .done)"},
		{".ralph/p.yaml", written, "with: {n: mo", "```\nparam most: integer\n```\n\nHow often at most."},
		{".ralph/p.yaml", written, "$" + "{cu", "```\nfunction cut\n```\n\nThe first n characters"},
		{".ralph/p.yaml", written, "transcript.la", "```\nname transcript.last: string\n```\n\n"},
		{".ralph/p.yaml", written, "ralph:ignore shadowed", "**shadowed-rule** (warning): "},
		{".ralph/p.yaml", written, "mem", "**memory**: Small values that the loop keeps"},
		{".ralph/p.yaml", written, "    the", "**then**: Changes that this rule asks for"},
		{".ralph/p.yaml", written, "    js", "**json**: "},
		{".ralph/p_test.yaml", writtenTests, "facts: {sta", "```\nfact state: object\n```\n\njson s.json"},
		{".ralph/p_test.yaml", writtenTests, "exp", "**expect**: What the policy must say and do."},
		{".ralph/p.yaml", written, "# ral", ""},
	} {
		var got struct{ Contents struct{ Value string } }
		e.call("textDocument/hover", at(tt.name, tt.src, tt.before), &got)
		if v := got.Contents.Value; !strings.HasPrefix(v, tt.want) || v != "" && tt.want == "" {
			t.Errorf("%q: %q, want %q", tt.before, v, tt.want)
		}
	}
}

// What is offered while one types, also where the text is not YAML yet.
func TestCompletion(t *testing.T) {
	e := workspace(t)
	version := 1
	for _, tt := range []struct {
		name, src  string
		old, typed string // typed, up to the cursor ‸, replaces old
		want       string // some of the labels, in their order; = before them: all of them
	}{
		{".ralph/p.yaml", written, "open and state.phase ==", "op‸ and state.phase ==", "open"},
		{".ralph/p.yaml", written, `state.phase == "plan"`, `state.‸`, "= phase todo"},
		{".ralph/p.yaml", written, `state.phase == "plan"`, `state.phase == "‸"`, "= plan work"},
		{".ralph/p.yaml", written, `${state.phase} `, `${state.‸} `, "= phase todo"},
		{".ralph/p.yaml", written, `${state.phase} `, `${sta‸`, "state"},
		{".ralph/p.yaml", written, "    continue: ", "    ‸\n    continue: ", "notice success"},
		{".ralph/p.yaml", written, "    continue: ", "    no‸\n    continue: ", "notice"},
		{".ralph/p.yaml", written, "memory: ", "mea‸\nmemory: ", "measure"},
		{".ralph/p.yaml", written, "    json: s.json", "    json: s.json\n    ‸", "inline"},
		{".ralph/p.yaml", written, "    json: s.json\n    schema", "    ‸\n    schema", "json frontmatter"},
		{".ralph/p.yaml", written, "loop: {state: state}", "loop: {state: ‸}", "= state"},
		{".ralph/p.yaml", written, "loop: {state: state}", "loop: {state: state}\ngate: ‸", "= first all"},
		{".ralph/p.yaml", written, "loop: {state: state}", "loop: {state: state}\nlimits: {repeats: ‸}", "most"},
		{".ralph/p.yaml", written, "include: guard.yaml", "include: ‸", "ralph:guards/limit guard.yaml"},
		{".ralph/p.yaml", written, "with: {n: most}", "with: {‸}", "= n"},
		{".ralph/p.yaml", written, "with: {n: most}", "with: {n: m‸}", "most"},
		{".ralph/p.yaml", written, "then: [{remember: seen = seen + 1}]", "then: [{‸}]", "set remember delete archive prune run"},
		{".ralph/p.yaml", written, "seen = seen + 1", "‸", "= seen"},
		{".ralph/p_test.yaml", writtenTests, "rule: go", "rule: ‸", "go guard/a"},
		{".ralph/p_test.yaml", writtenTests, "state: {phase: plan, todo: [{done: false}]}", "‸", "= state"},
		{".ralph/p_test.yaml", writtenTests, "    expect: {rule: go}", "    ev‸\n    expect: {rule: go}", "event"},
		{".ralph/p_test.yaml", writtenTests, "    expect: {rule: go}", "    event: ‸\n    expect: {rule: go}", "Stop"},
	} {
		src := strings.Replace(tt.src, tt.old, tt.typed, 1)
		before, after, _ := strings.Cut(src, "‸")
		version++
		e.change(tt.name, version, object{"text": before + after})
		var got struct{ Items []struct{ Label string } }
		e.call("textDocument/completion", object{"textDocument": object{"uri": uri(tt.name)}, "position": pointAt(before+after, len(before))}, &got)
		var labels []string
		want, all := strings.CutPrefix(tt.want, "= ")
		for _, i := range got.Items {
			if all || slices.Contains(strings.Fields(want), i.Label) {
				labels = append(labels, i.Label)
			}
		}
		slices.Sort(labels)
		wanted := strings.Fields(want)
		slices.Sort(wanted)
		if !slices.Equal(labels, wanted) {
			t.Errorf("%q: %q, want %q", tt.typed, labels, wanted)
		}
		version++
		e.change(tt.name, version, object{"text": tt.src})
	}
}

// What is accepted replaces the word that was begun, also after characters of two units.
func TestCompletionEdit(t *testing.T) {
	e := workspace(t)
	src := strings.Replace(written, "${state.phase}", "${state.ph}", 1)
	e.change(".ralph/p.yaml", 2, object{"text": src})
	var got struct {
		Items []struct {
			Label    string
			TextEdit textEdit
		}
	}
	e.call("textDocument/completion", at(".ralph/p.yaml", src, "${state.ph"), &got)
	want := textEdit{span{point{16, 26}, point{16, 28}}, "phase"}
	if len(got.Items) != 2 || got.Items[0].TextEdit != want {
		t.Errorf("got %+v, want %+v", got.Items, want)
	}
}

type textEdit struct {
	Range   span
	NewText string
}

// locations returns places as name:line:column.
func locations(raw json.RawMessage) string {
	var many []struct {
		URI   string
		Range span
	}
	if json.Unmarshal(raw, &many) != nil {
		raw = json.RawMessage("[" + string(raw) + "]")
		_ = json.Unmarshal(raw, &many)
	}
	var out []string
	for _, l := range many {
		out = append(out, fmt.Sprintf("%s:%d:%d", strings.TrimPrefix(l.URI, uri("")), l.Range.Start.Line, l.Range.Start.Character))
	}
	return strings.Join(out, " ")
}

func TestDefinitionAndReferences(t *testing.T) {
	e := workspace(t)
	for _, tt := range []struct{ name, src, before, definition, references string }{
		{".ralph/p.yaml", written, "when: open and sta", ".ralph/p.yaml:4:2", ".ralph/p.yaml:4:2 .ralph/p.yaml:9:12 .ralph/p.yaml:10:14 .ralph/p.yaml:15:19 .ralph/p.yaml:16:20 .ralph/p_test.yaml:2:20"},
		{".ralph/p.yaml", written, "when: op", ".ralph/p.yaml:9:2", ".ralph/p.yaml:9:2 .ralph/p.yaml:15:10"},
		{".ralph/p.yaml", written, "with: {n", ".ralph/guard.yaml:1:9", ".ralph/guard.yaml:1:9 .ralph/guard.yaml:3:33 .ralph/p.yaml:13:11"},
		{".ralph/p.yaml", written, "include: gua", ".ralph/guard.yaml:0:0", ".ralph/p.yaml:12:13"},
		{".ralph/p.yaml", written, "- name: g", ".ralph/p.yaml:14:10", ".ralph/p.yaml:14:10 .ralph/p_test.yaml:3:19"},
		{".ralph/p_test.yaml", writtenTests, "rule: g", ".ralph/p.yaml:14:10", ".ralph/p.yaml:14:10 .ralph/p_test.yaml:3:19"},
		{".ralph/p.yaml", written, "transcript.la", "", ".ralph/p.yaml:16:39"},
		{".ralph/p.yaml", written, "ral", "", ""},
	} {
		var got json.RawMessage
		e.call("textDocument/definition", at(tt.name, tt.src, tt.before), &got)
		if l := locations(got); l != tt.definition {
			t.Errorf("%s: defined at %q, want %q", tt.before, l, tt.definition)
		}
		p := at(tt.name, tt.src, tt.before)
		p["context"] = object{"includeDeclaration": true}
		e.call("textDocument/references", p, &got)
		if l := locations(got); l != tt.references {
			t.Errorf("%s: used at %q, want %q", tt.before, l, tt.references)
		}
	}
}

// A name is replaced wherever it is used, in all files, unless a file would have a new error.
func TestRename(t *testing.T) {
	for _, tt := range []struct {
		before, name string
		want         map[string]int // edits in each file
		refused      string
	}{
		{before: "when: open and sta", name: "task", want: map[string]int{".ralph/p.yaml": 5, ".ralph/p_test.yaml": 1}},
		{before: "with: {n", name: "most_turns", want: map[string]int{".ralph/p.yaml": 1, ".ralph/guard.yaml": 2}},
		{before: "- name: g", name: "go-on", want: map[string]int{".ralph/p.yaml": 1, ".ralph/p_test.yaml": 1}},
		{before: "when: open and sta", name: "open", refused: `"open" cannot be the name`},
		{before: "when: open and sta", name: "my state", refused: `"my state" cannot be the name`},
		{before: "transcript.la", name: "x", refused: `"transcript.last" is not declared in a policy`},
	} {
		e := workspace(t)
		var got struct{ Changes map[string][]textEdit }
		p := at(".ralph/p.yaml", written, tt.before)
		p["newName"] = tt.name
		err := e.conn.Call(t.Context(), "textDocument/rename", p, &got)
		if tt.refused != "" {
			if err == nil || !strings.Contains(err.Error(), tt.refused) {
				t.Errorf("%s → %s: %v, want %s", tt.before, tt.name, err, tt.refused)
			}
			continue
		}
		edits := map[string]int{}
		for file, list := range got.Changes {
			edits[strings.TrimPrefix(file, uri(""))] = len(list)
			for _, one := range list {
				if one.NewText != tt.name {
					t.Errorf("%s: %+v", tt.before, one)
				}
			}
		}
		if diff := cmp.Diff(tt.want, edits); err != nil || diff != "" {
			t.Errorf("%s → %s: %v, -want +got\n%s", tt.before, tt.name, err, diff)
		}
	}
}

func TestSymbols(t *testing.T) {
	e := workspace(t)
	type symbol struct {
		Name           string
		SelectionRange span
		Children       []symbol
	}
	var got []symbol
	e.call("textDocument/documentSymbol", object{"textDocument": object{"uri": uri(".ralph/p.yaml")}}, &got)
	var lines []string
	for _, s := range got {
		line := s.Name + ":"
		for _, c := range s.Children {
			line += " " + c.Name
		}
		lines = append(lines, line)
	}
	want := []string{"params: most", "facts: state", "memory: seen", "let: open", "loop:", "rules: guard.yaml go"}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// The editor runs the command of a lens: the server runs nothing.
func TestLenses(t *testing.T) {
	e := workspace(t)
	var got []struct {
		Range   span
		Command struct {
			Title, Command string
			Arguments      []string
		}
	}
	e.call("textDocument/codeLens", object{"textDocument": object{"uri": uri(".ralph/p_test.yaml")}}, &got)
	var lines []string
	for _, l := range got {
		lines = append(lines, fmt.Sprint(l.Range.Start.Line, " ", l.Command.Title, ": ", l.Command.Command, l.Command.Arguments))
	}
	want := []string{"1 run all tests: ralph.runTest[file:///project/.ralph/p_test.yaml]", "1 run test: ralph.runTest[file:///project/.ralph/p_test.yaml more to do]"}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// The tokens of expressions are where they are in the text, and none is within another.
func TestTokens(t *testing.T) {
	e := workspace(t)
	var got struct{ Data []int }
	e.call("textDocument/semanticTokens/full", object{"textDocument": object{"uri": uri(".ralph/p.yaml")}}, &got)
	kinds := []string{"variable", "parameter", "property", "function", "string", "number", "operator"}
	lines := strings.Split(written, "\n")
	var words []string
	line, column := 0, 0
	for i := 0; i+5 <= len(got.Data); i += 5 {
		if got.Data[i] > 0 {
			column = 0
		}
		line, column = line+got.Data[i], column+got.Data[i+1]
		text := strings.ReplaceAll(lines[line], "𝒳", "xx") // two units
		if line >= 14 {
			words = append(words, kinds[got.Data[i+3]]+":"+text[column:column+got.Data[i+2]])
		}
	}
	want := strings.Fields(`variable:open operator:and variable:state property:phase operator:== string:"plan" operator:and variable:loop.total operator:< parameter:most
		variable:state property:phase function:cut variable:transcript.last number:5 variable:seen variable:seen operator:+ number:1`)
	if diff := cmp.Diff(want, words); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestActions(t *testing.T) {
	for _, tt := range []struct{ old, typed, title, want string }{
		{"state.phase ==", "state.phaze ==", "Replace with phase", "state.phase =="},
		{"    when: open", "    wen: open", "Replace with when", "    when: open"},
		{`state.phase == "plan"`, `state.phase == "plam"`, "Replace with plan", `state.phase == "plan"`},
		{`continue: "𝒳 ${state.phase} ${cut(transcript.last, 5)}"`, `continue: do more: now`, "Quote the value", `continue: 'do more: now'`},
		{"loop: {state: state}", "loop: {state: state}\nevents: [SessionEnd]", "Ignore ", "# ralph:ignore "},
	} {
		e := workspace(t)
		src := strings.Replace(written, tt.old, tt.typed, 1)
		e.change(".ralph/p.yaml", 2, object{"text": src})
		var got []struct {
			Title string
			Edit  struct{ Changes map[string][]textEdit }
		}
		end := pointAt(src, len(src))
		e.call("textDocument/codeAction", object{"textDocument": object{"uri": uri(".ralph/p.yaml")}, "range": object{"start": object{"line": 0, "character": 0}, "end": end}, "context": object{"diagnostics": []object{}}}, &got)
		found := false
		for _, action := range got {
			if !strings.HasPrefix(action.Title, tt.title) {
				continue
			}
			found = true
			if after := applied(src, action.Edit.Changes[uri(".ralph/p.yaml")][0]); !strings.Contains(after, tt.want) {
				t.Errorf("%s: %s makes\n%s\nwant %s", tt.typed, action.Title, after, tt.want)
			}
			break
		}
		if !found {
			t.Errorf("%s: got %+v, want %s", tt.typed, got, tt.title)
		}
	}
}

// applied returns a text after an edit, with positions in UTF-16.
func applied(src string, e textEdit) string {
	at := func(p point) int {
		lines := strings.SplitAfter(src, "\n")
		i := len(strings.Join(lines[:p.Line], ""))
		for units := 0; units < p.Character; {
			r := []rune(src[i:])[0]
			if units++; r > 0xffff {
				units++
			}
			i += len(string(r))
		}
		return i
	}
	return src[:at(e.Range.Start)] + e.NewText + src[at(e.Range.End):]
}
