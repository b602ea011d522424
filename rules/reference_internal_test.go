package rules

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/expr-lang/expr/builtin"

	"github.com/ralph-sdk/ralph/internal/form"
	"github.com/ralph-sdk/ralph/internal/reference"
	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/schema"
)

// The pages about the language say what the tables of the language say.

func TestPolicyKeysPage(t *testing.T) {
	p := reference.New(t, "policy-keys", "Keys of a policy")
	p.Text("All keys that a policy can have; [the policy language](../policy.md) explains them. [Sources](sources.md) lists the keys of each kind of fact. " +
		"`ralph help schema` prints the same as JSON Schema, for editors.")
	section := func(title, about string, ks form.Keys) {
		p.Section(2, title)
		p.Text("%s", about)
		p.Table(keyRows(t, ks)...)
	}
	section("The top level", fmt.Sprintf("Only `ralph` is required. An [included](../policy.md#includes) file can only have %s.",
		reference.Code(form.GuardKeys().Names()...)), form.PolicyKeys())
	section("loop", "`state` is required.", form.LoopKeys())
	section("A rule", "A rule has a `name` and at most one of `continue`, `stop`, `ask`, `wait` and `note`.", form.RuleKeys())
	section("A part", "A text of a rule can be a list. Each item is a template, or a map with these keys. Parts are trimmed at the end and joined by a line break.", form.PartKeys())
	section("An include", "An item of `rules`.", form.IncludeKeys())
	section("An effect", "An item of `then` has one of these keys.", form.EffectKeys())
	section("run of an effect", "`run` is required; `timeout` is a key of the same effect.", form.RunKeys())
	section("prune", "Both keys are required.", form.PruneKeys())
	section("finally", "An entry of the list `finally` has `prune`, `log` or both.", form.FinallyKeys())
	section("unless_repeated", fmt.Sprintf("`times` is required, and %s at most.", reference.Number(maxSaid)), form.UnlessKeys())
	section("measure", "Both keys are required.", form.MeasureKeys())
	section("run of the policy", "Defaults of [`ralph run`](../run.md). `client` is required if `args` is set. Command-line flags override both.", form.AgentKeys())
	section("Every fact", "A fact has one [source](sources.md), the keys of that source, and these.", form.FactOptionKeys())

	p.Section(2, "limits")
	p.Text("`iterations` and `cost` apply only in a run. Instead of a limit above its ceiling, ralph uses the ceiling.")
	rows := [][]string{{"key", "value", "default", "ceiling", "meaning"}}
	usual, highest := reflect.ValueOf(defaultLimits()), reflect.ValueOf(ceilings())
	for _, k := range form.LimitKeys() {
		field := strings.ToUpper(k.Name[:1]) + k.Name[1:]
		absent, ceiling := limitWords(usual.FieldByName(field)), limitWords(highest.FieldByName(field))
		if k.Name == "repeats" && !defaultLimits().HasRepeats || k.Name != "failures" && usual.FieldByName(field).IsZero() {
			absent = "no limit"
		}
		if highest.FieldByName(field).IsZero() {
			ceiling = "none"
		}
		meaning, _, _ := strings.Cut(k.Doc, ";") // after it comes what the table has
		rows = append(rows, []string{reference.Code(k.Name), shapeWords(t, k.Shape), absent, ceiling, meaning + "."})
	}
	p.Table(rows...)

	p.Section(2, "Values")
	rows = [][]string{{"value", "what you write"}}
	for s := range form.Finally + 1 {
		if words, about := shapeWords(t, s), shapeAbout()[s]; about != "" {
			rows = append(rows, []string{words, about})
		}
	}
	p.Table(rows...)
	p.Check()
}

func TestSourcesPage(t *testing.T) {
	p := reference.New(t, "sources", "Sources of facts")
	p.Text("Each fact has one source. Its key has the argument; other keys are [options](#options). [Facts and sources](../policy.md#facts-and-sources) explains how facts are read, "+
		"and [limits](limits.md) lists how large they can be. Every fact except an `input` also takes %s; see [every fact](policy-keys.md#every-fact).", reference.Code(form.FactOptionKeys().Names()...))
	rows := [][]string{{"source", "argument", "what it is"}}
	options := [][]string{{"option", "of", "value", "meaning"}}
	of := map[string][]string{}
	for _, s := range SourceKinds() {
		argument := shapeWords(t, s.argument())
		if len(s.Words) > 0 {
			argument = reference.Code(s.Words...)
		}
		rows = append(rows, []string{reference.Code(s.Name), argument, s.Doc})
		for _, k := range s.options() {
			words := shapeWords(t, k.Shape)
			for _, o := range s.Options {
				switch {
				case k.Name != o.Name || o.Words == nil:
				case o.Kind == optionWord:
					words = reference.Code(o.Words...)
				default:
					words = reference.Code(o.Words...) + ", or a template that renders one"
				}
			}
			if of[k.Name] == nil {
				options = append(options, []string{reference.Code(k.Name), "", words, k.Doc})
			}
			of[k.Name] = append(of[k.Name], s.Name)
		}
	}
	for _, row := range options[1:] {
		row[1] = reference.Code(of[strings.Trim(row[0], "`")]...)
	}
	p.Table(rows...)
	p.Text("A value in the placeholder of a path is taken literally. %s", strings.Join(traits(), " "))
	p.Section(2, "Options")
	p.Table(options...)
	for _, s := range SourceKinds() {
		value := s.Value.Type
		if s.Value.Around != nil {
			value = s.Value.Around(nil)
		}
		if fields, list := fieldsOf(value); fields != nil {
			title := "Fields of " + s.Name
			if list {
				title = "Fields of each item of " + s.Name
			}
			p.Section(2, title)
			rows := [][]string{{"field", "type", "meaning"}}
			for _, f := range slices.Sorted(maps.Keys(fields)) {
				words := typeWords(fields[f].String())
				if s.Name == "glob" && f == "age" {
					words = "duration" // schemas have none
				}
				rows = append(rows, []string{reference.Code(f), words, fieldDocs()[s.Name][f]})
			}
			p.Table(rows...)
		}
	}
	p.Check()
}

func TestNamesPage(t *testing.T) {
	p := reference.New(t, "names", "Names and functions")
	p.Text("What expressions can read and call without a declaration; see [names that every policy has](../policy.md#names-that-every-policy-has). " +
		"What a host does not send is empty: `\"\"`, `false`, `0` or an empty list.")
	p.Section(2, "Names")
	p.Text("Of values marked *private*, [the log](../security.md#the-decision-log) has only the size.")
	rows := [][]string{{"name", "type", "meaning"}}
	calls := [][]string{{"function", "returns", "meaning"}}
	for _, n := range knownNames() {
		private := ""
		if n.Private {
			private = " *private*"
		}
		if n.called() && n.goType.Kind() != reflect.Func { // now
			calls = append(calls, []string{reference.Code(n.Name + "()"), typeWords(n.words()), n.Doc})
			continue
		}
		if n.goType != nil && n.goType.Kind() == reflect.Func {
			calls = append(calls, []string{reference.Code(call(n.Name, []reflect.Type{n.goType})), typeWords(n.goType.Out(0).String()), n.Doc + private})
			continue
		}
		words := typeWords(n.words())
		if fields, list := fieldsOf(n.typ); list && fields != nil {
			words = "list of objects with " + reference.Code(slices.Sorted(maps.Keys(fields))...)
		}
		rows = append(rows, []string{reference.Code(n.Name), words, n.Doc + private})
	}
	env := environment("env.NAME")
	rows = append(rows, []string{reference.Code(env.Name), typeWords(env.words()), "Variable of the environment; empty if it is not set. *private*"})
	p.Table(rows...)

	p.Section(2, "Functions of the session and project")
	p.Table(calls...)

	p.Section(2, "Functions about facts")
	rows = [][]string{{"function", "returns", "meaning"}}
	for _, a := range askForms() {
		if !isAsk(a.name) {
			t.Errorf("%s is in the table and no ask", a.name)
		}
		rows = append(rows, []string{reference.Code(a.name + "(fact)"), typeWords(a.answer.String()), a.doc})
	}
	p.Table(rows...)

	p.Section(2, "Functions of values")
	p.Text("Their result depends only on their arguments.")
	rows = [][]string{{"function", "returns", "meaning"}}
	for _, f := range functions() {
		rows = append(rows, []string{reference.Code(call(f.Name, f.Types)), typeWords(f.Types[0].Out(0).String()), f.doc})
	}
	p.Table(rows...)

	p.Text("The [functions of expr](https://expr-lang.org/docs/language-definition) work too.")

	p.Section(2, "Names that you cannot declare")
	p.Text("A policy cannot declare a param, fact or let with one of the names above, or a keyword of expressions: %s.", reference.Code(keywords()...))
	var yields []string
	reserved := newNames()
	for _, name := range slices.Concat(reserved.flat(), reserved.functions(), builtin.Names) {
		if !reserved.taken(name) {
			yields = append(yields, name)
		}
	}
	slices.Sort(yields)
	if yields = slices.Compact(yields); len(yields) > 0 {
		p.Text("It can declare these, and its declaration then has precedence: %s.", reference.Code(yields...))
	}
	p.Check()
}

func keyRows(t *testing.T, ks form.Keys) [][]string {
	rows := [][]string{{"key", "value", "meaning"}}
	for _, k := range ks {
		rows = append(rows, []string{reference.Code(k.Name), shapeWords(t, k.Shape), k.Doc})
	}
	return rows
}

// shapeWords names what a key takes.
func shapeWords(t *testing.T, s form.Shape) string {
	t.Helper()
	words, ok := map[form.Shape]string{
		form.Text: "text", form.Name: "name", form.Template: "template", form.Parts: "template or parts", form.Path: "path", form.Expr: "expression", form.Exprs: "expressions",
		form.Assignment: "assignment", form.Bool: "`true` or `false`", form.Int: "whole number", form.Count: "count", form.Duration: "duration",
		form.Version: fmt.Sprintf("`%d`", languageVersion), form.Events: "one of " + reference.Code(vocab.Events()...) + ", or a list of them",
		form.Gate: "one of " + reference.Code(gateWords()...), form.Per: "one of " + reference.Code(perWords()...), form.OK: "`ok`", form.Halt: "`stop`", form.Word: "word", form.Any: "any value",
		form.Schema: "schema", form.Fact: "name of a fact", form.Words: "list of templates", form.Params: "name → schema", form.Facts: "name → fact",
		form.Memory: "name → schema, with `per`",
		form.Lets:   "name → expression", form.Bindings: "name → expression", form.Limits: "[keys](#limits)",
		form.Limit: "whole number or param", form.Span: "duration or param", form.Amount: "number or param", form.Measure: "[keys](#measure)", form.Run: "[keys](#run-of-the-policy)", form.Args: "array of strings", form.Unless: "[keys](#unless_repeated)",
		form.Rules: "list of [rules](#a-rule) and [includes](#an-include)", form.Effects: "list of [effects](#an-effect)",
		form.Loop: "[keys](#loop)", form.Starts: "name of a fact → value", form.Prune: "[keys](#prune)", form.Finally: "list of [entries](#finally)",
	}[s]
	if !ok {
		t.Errorf("the shape %d has no words", s)
	}
	return words
}

// shapeAbout says what the words mean, where they do not say it themselves.
func shapeAbout() map[form.Shape]string {
	return map[form.Shape]string{
		form.Text:       "Plain text. A number or boolean is read as a string.",
		form.Name:       "Lower-case letters and digits, with `-` between words: `next-task`.",
		form.Template:   "Text with `${expression}` in it; `$${` is a literal `${`.",
		form.Parts:      "A template, or a list of [parts](#a-part).",
		form.Path:       "A path or pattern with slashes, relative to the root of the project, with `${expression}` in it. See [paths](../policy.md#paths).",
		form.Exprs:      "An expression, or a list of which all must be true.",
		form.Assignment: "`fact.field = expression` for `set`, where the field may be nested: `state.specs[0].status`. `name = expression` for `remember`.",
		form.Int:        "0 or more.",
		form.Count:      "A whole number, 1 or more.",
		form.Duration:   "As in Go: `500ms`, `30s`, `5m`, `1h30m`.",
		form.Limit:      "0 or more, or the name of a param.",
		form.Span:       "A duration, or the name of a param of type string.",
		form.Schema:     "[JSON Schema](../policy.md#schemas): written in place, or the name of a file beside the policy, or `ralph:NAME` for one that ships with ralph.",
		form.Memory:     "A [JSON Schema](../policy.md#schemas), written in place, with a `default`, and with the key `per`: `session` (the default) or `project`.",
		form.Starts:     "A string for a string fact, else an object. `${start.NAME}` and every other placeholder are filled in; a value that reads a name of `start` that was not given is left out.",
		form.Words:      "The program and its arguments, each a template. No shell reads them.",
	}
}

// traits are what several sources have in common, as sentences.
func traits() []string {
	var trust, edit, file, once, times []string
	for _, s := range SourceKinds() {
		name := reference.Code(s.Name)
		if s.Trust != "" {
			trust = append(trust, name)
		}
		if s.Editable {
			edit = append(edit, name)
		}
		if s.File {
			file = append(file, name)
		}
		if s.Once {
			once = append(once, name)
		}
		if s.Timeout > 0 {
			times = append(times, reference.Duration(s.Timeout)+" for "+name)
		}
	}
	return []string{
		"`set` changes fields of " + inWords(edit) + "; `delete` and `archive` take " + inWords(file) + ".",
		inWords(trust) + " need [approval](../security.md#what-it-runs).",
		"ralph asks " + inWords(once) + " at most once per event. The usual `timeout` is " + inWords(times) + ".",
	}
}

func inWords(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// fieldDocs says what the fields of values are, by source.
func fieldDocs() map[string]map[string]string {
	return map[string]map[string]string{
		"checklist": {
			"text": "The item without its box.", "done": "The box is ticked.", "tags": "Words in capitals and brackets in the first line, such as `P` of `[P]`.",
			"depth": "0 for an item that is in no other item.", "section": "Heading above the item.",
			"source": "The item as written, with what is indented below it.", "line": "Line of the file, from 1.",
		},
		"glob": {
			"path": "The file, from the root of the project.", "name": "The last part of the path.", "age": "Time since the file was changed.",
			"value": "Content of the file, as `parse` reads it and `schema` declares it.",
		},
		"junit": {
			"tests": "Tests in the report.", "failures": "Tests that failed or ended with an error.", "skipped": "Tests that were skipped.",
			"failed": "The failures: `name`, `class` and `text`, the reason.",
		},
		"git": {
			"repo": "The path is in a repository.", "branch": "Current branch; empty if there is none.", "head": "Commit that is checked out.",
			"dirty": "Something below the path is changed or not tracked.", "changed": "Those files.",
			"ahead": "Commits that the branch has and its upstream lacks.", "behind": "Commits that the upstream has and the branch lacks.",
		},
		"exec": {
			"code": "Exit status. Every status is ok.", "stdout": "What the program printed.", "stderr": "What it printed to stderr.",
			"lines": "The lines of `stdout`.", "json": "`stdout` read as JSON; nil if it is not JSON.",
		},
		"tasks": {
			"id": "ID of the task.", "subject": "What to do.", "description": "More about it.", "status": "Such as `pending`, `in_progress` or `completed`.",
			"activeForm": "What the host shows while the task is in progress.", "owner": "Agent that works on it.",
			"blocks": "IDs of the tasks that wait for this one.", "blockedBy": "IDs of the tasks that this one waits for.",
		},
	}
}

// words returns the type of a name, as a program declares it.
func (n *nameInfo) words() string {
	if n.goType != nil {
		return n.goType.String()
	}
	return n.typ.String()
}

func fieldsOf(t *schema.Schema) (fields map[string]*schema.Schema, list bool) {
	if t != nil && t.Elem != nil {
		t, list = t.Elem, true
	}
	if t == nil {
		return nil, false
	}
	return t.Fields, list
}

// call is how a function of one of these types is called, with what may be left out in brackets.
func call(name string, types []reflect.Type) string {
	longest, least := types[0], types[0].NumIn()
	for _, f := range types {
		least = min(least, f.NumIn())
		if f.NumIn() > longest.NumIn() {
			longest = f
		}
	}
	var b strings.Builder
	for i := range longest.NumIn() {
		param := strings.Replace(typeWords(longest.In(i).String()), "integer", "n", 1)
		switch {
		case i >= least:
			fmt.Fprintf(&b, "[, %s]", param)
		case i > 0:
			fmt.Fprintf(&b, ", %s", param)
		default:
			b.WriteString(param)
		}
	}
	return name + "(" + b.String() + ")"
}

func limitWords(v reflect.Value) string {
	if d, ok := v.Interface().(time.Duration); ok {
		return reference.Duration(d)
	}
	if v.CanFloat() {
		return strconv.FormatFloat(v.Float(), 'f', -1, 64)
	}
	return reference.Number(v.Int())
}

// typeWords names a type of Go or of a schema. The words of an enum stay.
func typeWords(s string) string {
	words := map[string]string{
		"[]interface {}": "array", "interface {}": "anything", "time.Duration": "duration", "time.Time": "time", "bool": "boolean", "int": "integer",
	}
	return regexp.MustCompile(`"[^"]*"|\[\]interface {}|interface {}|time\.(?:Duration|Time)|\bbool\b|\bint\b`).ReplaceAllStringFunc(s, func(word string) string {
		return cmp.Or(words[word], word)
	})
}
