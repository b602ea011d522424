package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/form"
	"github.com/ralph-sdk/ralph/schema"
)

// SourceKind declares a fact source: the key that names it in a policy and what
// its values are. A program that embeds ralph adds its own kinds to
// [Config.Sources] and gathers their values itself.
type SourceKind struct {
	Name string // the key, such as json
	Doc  string // one sentence, for the schema of policies

	// Given says that nothing gathers the value: a program gives it by name, with [Values]
	// or loop.WithValues, and its argument is the schema of the value. One that is not given
	// is missing, and that is reported.
	Given bool
	// Argv says that the argument is a list of words (exec) and not one text.
	Argv bool
	// Path says that the argument is a path: holes are literal and must stay
	// beneath the project root. With File it may be a list of paths; those that can be
	// evaluated are handed to the source, and the first at which there is a file counts,
	// else the last.
	Path bool
	// Glob says that the argument is a pattern: glob characters in holes are escaped too.
	Glob bool

	// Text says that the argument is shown to a reader and decides nothing by its
	// form: a hole that cannot be evaluated is written as (?), as in all texts.
	Text bool
	// Words are the only arguments that there are; nil means any.
	Words []string

	Schema bool // takes schema, and with it inline
	// Returns says that it takes returns, a schema that must be there: a question whose
	// answer costs. With gate: all, once a rule continues no later one asks it. Free texts
	// of the answer are private.
	Returns  bool
	Settle   bool           // takes settle
	Editable bool           // its value can be changed by set
	File     bool           // it is one file of the project, which can be deleted and archived
	Body     bool           // its value has a field body, the text below the front matter; takes lenient
	Session  bool           // it reads what the host keeps of the session, not the project
	Value    *schema.Schema // of the value of a fact without a schema of its own; nil is anything

	// Timeout is how long gathering may take where a fact has no timeout; 0 is not known.
	Timeout time.Duration

	// Trust says what gathering does that a user has to approve first, as the rest
	// of "it …": "runs a program". "" needs no approval.
	Trust string
	// Private says that its values are private: traces and logs show only how large they
	// are, and what is made of them. See [Value].Private for a source that only now and
	// then gives such a value.
	Private bool
	// Once says that it is asked at most once an event, also when a decision is made
	// again because something changed meanwhile.
	Once bool

	// Options are what the source takes beside schema, settle and what every fact
	// takes.
	Options []SourceOption
	// Around gives the type of the value from that of the document that the schema
	// declares, where the one holds the other: a glob is a list of such documents.
	// document is nil if there is no schema. nil means that both are the same.
	Around func(document *schema.Schema) *schema.Schema
	// Derive fills in the fields of a value that follow from others, where a test
	// gives only some. nil derives none.
	Derive func(fields map[string]any)

	shows *mask // of its value: which parts of it traces and logs show; nil shows all
}

// mask is that of a value of the source, given its type.
func (s SourceKind) mask(t *schema.Schema) *mask {
	switch {
	case s.Private:
		return hidden()
	case s.Returns:
		return answered(t)
	case s.Body: // the prompt of a loop
		return hiding("body")
	}
	return s.shows
}

// SourceOption is an option that one kind of source takes.
type SourceOption struct {
	Name string
	Doc  string // one sentence, for the schema of policies
	// Kind is what it takes: "text" (also if empty) and "argument" are a text with placeholders,
	// of which one without a value is (?) in a text and makes the fact missing in an argument;
	// "count" is a whole number from 1, and "word" is one of Words.
	Kind string
	// Words are the values of a word, the first of which is the default, and those that
	// an argument without holes can have; nil means any.
	Words []string
	// Needs names another option, a text, that a word cannot do without: without it the
	// fact is always missing. nil needs none.
	Needs map[string]string // by word
}

// The kinds of options.
const (
	optionText     = "text"
	optionArgument = "argument"
	optionCount    = "count"
	optionWord     = "word"
)

func (o SourceOption) shape() form.Shape {
	switch o.Kind {
	case optionCount:
		return form.Count
	case optionWord:
		return form.Word
	}
	return form.Template
}

// texts lists the options whose values are evaluated for each event.
func (s SourceKind) texts() []SourceOption {
	return slices.DeleteFunc(slices.Clone(s.Options), func(o SourceOption) bool {
		return o.Kind == optionCount || o.Kind == optionWord
	})
}

func (s SourceKind) option(name string) (SourceOption, bool) {
	i := slices.IndexFunc(s.Options, func(o SourceOption) bool { return o.Name == name })
	if i < 0 {
		return SourceOption{}, false
	}
	return s.Options[i], true
}

// schemaKey is the key under which the source takes its schema.
func (s SourceKind) schemaKey() string {
	switch {
	case s.Given:
		return s.Name
	case s.Returns:
		return "returns"
	}
	return "schema"
}

func (s SourceKind) argument() form.Shape {
	switch {
	case s.Given:
		return form.Schema
	case s.Argv:
		return form.Words
	case s.Path:
		return form.Path
	}
	return form.Template
}

func (s SourceKind) options() form.Keys {
	takes := map[string]bool{"schema": s.Schema, "returns": s.Returns, "inline": s.Schema && s.Editable, "settle": s.Settle, "lenient": s.Body}
	ks := slices.DeleteFunc(form.SourceOptionKeys(), func(k form.Key) bool { return !takes[k.Name] })
	for _, o := range s.Options {
		ks = append(ks, form.Key{Name: o.Name, Shape: o.shape(), Doc: o.Doc})
	}
	return ks
}

// Sources gives the sources that ralph has itself.
func Sources() []SourceKind {
	text := &schema.Schema{Kind: schema.String}
	boolean := &schema.Schema{Kind: schema.Bool}
	integer := &schema.Schema{Kind: schema.Int}
	anything := &schema.Schema{}
	listOf := func(t *schema.Schema) *schema.Schema { return &schema.Schema{Kind: schema.Array, Elem: t} }
	object := func(fields map[string]*schema.Schema) *schema.Schema {
		return &schema.Schema{Kind: schema.Object, Fields: fields}
	}
	// within is the type of a document in a field of something larger.
	within := func(document *schema.Schema) *schema.Schema {
		if document == nil {
			return anything
		}
		return document
	}
	item := object(map[string]*schema.Schema{
		"text": text, "done": boolean, "tags": listOf(text), "depth": integer, "section": text, "source": text, "line": integer,
	})
	task := object(map[string]*schema.Schema{
		"id": text, "subject": text, "description": text, "status": text, "activeForm": text, "owner": text,
		"blocks": listOf(text), "blockedBy": listOf(text),
	})
	task.Extra = anything
	return []SourceKind{
		{Name: "input", Doc: "A value that a program gives by name. One that is missing is reported.", Given: true},
		{Name: "text", Doc: "A text file, trimmed.", Path: true, Settle: true, File: true, Value: text},
		{Name: "json", Doc: "A JSON file that holds an object.", Path: true, Schema: true, Settle: true, Editable: true, File: true},
		{Name: "frontmatter", Doc: "The YAML front matter of a file; .body is the text below it.", Path: true, Schema: true, Settle: true, Editable: true, File: true, Body: true},
		{Name: "checklist", Doc: "The task list items of a Markdown file.", Path: true, Settle: true, File: true, Value: listOf(item)},
		{
			Name: "glob", Doc: "The files that match a pattern; those that cannot be read are left out and reported by problem(fact).",
			Path: true, Glob: true, Schema: true,
			Options: []SourceOption{
				{Name: "parse", Kind: optionWord, Words: []string{"json", "frontmatter", "text"}, Doc: "How each file is read; json by default."},
				{Name: "max", Kind: optionCount, Doc: "Most files that are read; 1000 by default."},
			},
			Around: func(document *schema.Schema) *schema.Schema {
				return listOf(object(map[string]*schema.Schema{"path": text, "name": text, "age": anything, "value": within(document)}))
			},
		},
		{
			Name: "junit", Doc: "The report of a test run, in JUnit's XML.", Path: true, File: true,
			Value: object(map[string]*schema.Schema{
				"tests": integer, "failures": integer, "skipped": integer, "failed": listOf(object(map[string]*schema.Schema{"name": text, "class": text, "text": text})),
			}),
		},
		{
			Name: "git", Doc: "What git reports about a path: repo, branch, head, dirty, changed, ahead, behind.", Path: true, Once: true, Timeout: gitTimeout,
			Derive: deriveStatus,
			Value: object(map[string]*schema.Schema{
				"repo": boolean, "branch": text, "head": text, "dirty": boolean, "changed": listOf(text), "ahead": integer, "behind": integer,
			}),
		},
		{
			Name: "exec", Doc: "What a program printed; its arguments are a list and never a shell line.", Argv: true, Schema: true,
			Trust: "runs a program", Once: true, Timeout: execTimeout, Derive: deriveOutput,
			Options: []SourceOption{{Name: "stdin", Kind: optionText, Doc: "What the program reads from its standard input."}},
			Around: func(document *schema.Schema) *schema.Schema {
				return object(map[string]*schema.Schema{
					"code": integer, "stdout": text, "stderr": text, "lines": listOf(text), "json": within(document),
				})
			},
		},
		{
			Name: "tasks", Doc: "The task list of the host: claude.", Words: []string{"claude"}, Value: listOf(task), Session: true,
			shows:   showing("id", "status", "owner", "blocks", "blockedBy"), // the other texts are the agent's words
			Options: []SourceOption{{Name: "list", Kind: optionArgument, Doc: "Name of the list; that of the session by default."}},
		},
		{
			Name: "judge", Doc: "A model's answer to a question about the end of the conversation.", Text: true, Returns: true, Session: true,
			Trust: "sends the conversation to a model", Once: true, Timeout: judgeTimeout,
			Options: []SourceOption{
				{Name: "api", Kind: optionWord, Words: []string{"anthropic", "openai"}, Needs: map[string]string{"openai": "model"}, Doc: "Wire format of the model's service; anthropic by default."},
				{Name: "model", Kind: optionArgument, Doc: "Name of the model; openai needs it, anthropic has a default."},
				{Name: "system", Kind: optionText, Doc: "Instructions to the model: its role and its criteria."},
				{Name: "turns", Kind: optionCount, Doc: "How many turns of the conversation the model sees; 5 by default."},
				{Name: "tool_results", Kind: optionArgument, Words: []string{"true", "false"}, Doc: "Whether the model also sees what tools returned: true or false; false by default."},
				{Name: "max_tokens", Kind: optionCount, Doc: "Most tokens of its answer; 1024 by default."},
			},
		},
	}
}

// How long gathering a fact may take, and a program that an effect runs, unless the policy says.
const (
	gitTimeout   = 2 * time.Second
	execTimeout  = 10 * time.Second
	judgeTimeout = 8 * time.Second
	runTimeout   = 2 * time.Second
)

func sourceNames(kinds []SourceKind) []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.Name
	}
	return names
}

func findSource(kinds []SourceKind, name string) (SourceKind, bool) {
	i := slices.IndexFunc(kinds, func(k SourceKind) bool { return k.Name == name })
	if i < 0 {
		return SourceKind{}, false
	}
	return kinds[i], true
}

// keys are the keys of a fact with this source.
func (s SourceKind) keys() form.Keys {
	own := form.Keys{{Name: s.Name, Shape: s.argument(), Doc: s.Doc}}
	if s.Given { // it takes no time, and has no silent default
		return own
	}
	return slices.Concat(own, s.options(), form.FactOptionKeys())
}

// deriveStatus completes the status of a repository.
func deriveStatus(fields map[string]any) {
	if _, given := fields["dirty"]; !given {
		changed, _ := fields["changed"].([]any)
		fields["dirty"] = len(changed) > 0
	}
	if _, given := fields["repo"]; !given {
		fields["repo"] = true
	}
}

// deriveOutput completes the output of a program: of stdout and lines either follows
// from the other.
func deriveOutput(fields map[string]any) {
	stdout, _ := fields["stdout"].(string)
	lines, _ := fields["lines"].([]any)
	switch text := strings.TrimRight(strings.ReplaceAll(stdout, "\r\n", "\n"), "\n"); {
	case len(lines) > 0 && stdout == "":
		var b strings.Builder
		for _, l := range lines {
			fmt.Fprintln(&b, l)
		}
		fields["stdout"] = b.String()
	case text != "":
		lines = nil
		for l := range strings.SplitSeq(text, "\n") {
			lines = append(lines, l)
		}
		fields["lines"] = lines
	}
}
