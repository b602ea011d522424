package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/form"
	"github.com/ralph-sdk/ralph/schema"
)

// SourceKind declares a fact source: its key in a policy, and its arguments and values. A program that embeds ralph
// adds its own kinds to [Config.Sources] and gathers their values itself.
type SourceKind struct {
	Name string // the key, such as json
	Doc  string // one sentence, for the schema of policies

	// Argument is the shape of the argument. "" is one string, "words" a list of words (exec), and "text" a string for a
	// reader, in which a placeholder that cannot be evaluated becomes (?), as in all texts.
	//
	// "path" is a path: placeholders are literal, and the path must stay below the project root. With File it may be a
	// list of paths; the source receives those that can be evaluated, and uses the first with an existing file, otherwise
	// the last. "pattern" is a path in which glob characters in placeholders are also escaped.
	//
	// "schema" says that nothing gathers the value: the program provides it by name, with [Values] or loop.WithValues, and
	// the argument is the schema of the value. A value that is not provided is missing, which is reported.
	Argument string
	// Words are the valid arguments; nil means any.
	Words []string

	Schema   bool // has schema, and therefore inline
	File     bool // it is one file of the project, which can be deleted and archived
	Editable bool // set can change its value
	Session  bool // it reads the host's session data, not the project
	Value    SourceValue

	// Private says that its values are private: traces and logs show only their sizes, also of everything derived from
	// them. See [Value].Private for a source with only some private values.
	Private bool
	// Trust is what gathering does that needs a user's approval, completing the sentence "it …": "runs a program". ""
	// needs no approval.
	Trust string

	// Timeout is the default time limit for gathering; 0 is unknown. A source with one is slow: its facts are gathered at
	// the same time if they are needed for sure, and those of notes last.
	Timeout time.Duration
	// Once says to gather it at most once an event, even if a decision is made again after a conflict.
	Once bool

	// Options are its options in addition to schema and those of every fact.
	Options []SourceOption
}

// SourceValue is the shape of the values of a source. The zero SourceValue is anything.
type SourceValue struct {
	Type *schema.Schema // of the value of a fact without a schema; nil is anything
	Body bool           // it has a field body, the text below the front matter; the fact has lenient

	// Returns says that the fact has returns, a required schema: a question whose answer costs something. With gate: all,
	// no later rule asks it once a rule continues. Free texts of the answer are private.
	Returns bool

	// Around returns the type of the value from that of the document that the schema declares, if the value contains
	// such documents, as that of glob does. document is nil if there is no schema. If Around is nil, both are the same.
	Around func(document *schema.Schema) *schema.Schema
	// Derive sets fields of a value that follow from others, for tests that set only some. nil derives none.
	Derive func(fields map[string]any)

	shows *mask // which parts of the value traces and logs show; nil shows all
}

// The shapes of an argument.
const (
	argumentWords   = "words"
	argumentText    = "text"
	argumentPath    = "path"
	argumentPattern = "pattern"
	argumentSchema  = "schema"
)

func argumentShapes() []string {
	return []string{"", argumentWords, argumentText, argumentPath, argumentPattern, argumentSchema}
}

// given reports whether the program provides the value.
func (s SourceKind) given() bool { return s.Argument == argumentSchema }

// inProject reports whether the argument is a path or a pattern.
func (s SourceKind) inProject() bool {
	return s.Argument == argumentPath || s.Argument == argumentPattern
}

// mask returns the mask of a value of the source, given its type.
func (s SourceKind) mask(t *schema.Schema) *mask {
	switch {
	case s.Private:
		return hidden()
	case s.Value.Returns:
		return answered(t).spoken()
	case s.Value.Body: // a loop's prompt
		return hiding("body").spoken()
	}
	return s.Value.shows
}

// SourceOption is an option of one kind of source.
type SourceOption struct {
	Name string
	Doc  string // one sentence, for the schema of policies
	// Kind is the type of its value: "text" (may be empty) and "argument" are strings with placeholders, where a
	// missing value becomes (?) in a text and makes the fact missing in an argument; "count" is a whole number from 1,
	// and "word" is one of Words.
	Kind string
	// Words are the values of a word, the first of which is the default, or of an argument without placeholders; nil
	// means any.
	Words []string
	// Needs names another option, a text, that a word requires: without it the fact is always missing. nil requires
	// none.
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

// texts returns the options to evaluate for each event.
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

// schemaKey returns the key of the source's schema.
func (s SourceKind) schemaKey() string {
	switch {
	case s.given():
		return s.Name
	case s.Value.Returns:
		return "returns"
	}
	return "schema"
}

func (s SourceKind) argument() form.Shape {
	switch s.Argument {
	case argumentSchema:
		return form.Schema
	case argumentWords:
		return form.Words
	case argumentPath, argumentPattern:
		return form.Path
	}
	return form.Template
}

func (s SourceKind) options() form.Keys {
	takes := map[string]bool{"schema": s.Schema, "returns": s.Value.Returns, "inline": s.Schema && s.Editable, "lenient": s.Value.Body, "covers": s.Argument == argumentWords}
	ks := slices.DeleteFunc(form.SourceOptionKeys(), func(k form.Key) bool { return !takes[k.Name] })
	for _, o := range s.Options {
		ks = append(ks, form.Key{Name: o.Name, Shape: o.shape(), Doc: o.Doc})
	}
	return ks
}

// SourceKinds returns ralph's own sources.
func SourceKinds() []SourceKind {
	text := &schema.Schema{Kind: schema.String}
	boolean := &schema.Schema{Kind: schema.Bool}
	integer := &schema.Schema{Kind: schema.Int}
	anything := &schema.Schema{}
	listOf := func(t *schema.Schema) *schema.Schema { return &schema.Schema{Kind: schema.Array, Elem: t} }
	object := func(fields map[string]*schema.Schema) *schema.Schema {
		return &schema.Schema{Kind: schema.Object, Fields: fields}
	}
	// within returns the type of a document with others in a field.
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
		{Name: "input", Doc: "A value that the program provides by name. A missing one is reported.", Argument: argumentSchema},
		{Name: "text", Doc: "A text file, trimmed.", Argument: argumentPath, File: true, Value: SourceValue{Type: text}},
		{Name: "json", Doc: "A JSON file that holds an object.", Argument: argumentPath, Schema: true, Editable: true, File: true},
		{Name: "frontmatter", Doc: "The YAML front matter of a file; .body is the text below it.", Argument: argumentPath, Schema: true, Editable: true, File: true, Value: SourceValue{Body: true}},
		{Name: checklist, Doc: "The task list items of a Markdown file.", Argument: argumentPath, File: true, Value: SourceValue{Type: listOf(item)}},
		{
			Name: "glob", Doc: "The files that match a pattern; those that cannot be used are left out and named by problem(fact). A stop rule that reads a list from which files are left out is undecided.",
			Argument: argumentPattern, Schema: true,
			Options: []SourceOption{
				{Name: "parse", Kind: optionWord, Words: []string{"json", "frontmatter", "text"}, Doc: "How each file is read; json by default."},
				{Name: "max", Kind: optionCount, Doc: "Maximum number of files to read; 1000 by default."},
			},
			Value: SourceValue{Around: func(document *schema.Schema) *schema.Schema {
				return listOf(object(map[string]*schema.Schema{"path": text, "name": text, "age": anything, "value": within(document)}))
			}},
		},
		{
			Name: "junit", Doc: "The report of a test run, in JUnit's XML.", Argument: argumentPath, File: true,
			Value: SourceValue{Type: object(map[string]*schema.Schema{
				"tests": integer, "failures": integer, "skipped": integer, "failed": listOf(object(map[string]*schema.Schema{"name": text, "class": text, "text": text})),
			})},
		},
		{
			Name: "git", Doc: "What git reports about a path.", Argument: argumentPath, Once: true, Timeout: gitTimeout,
			Value: SourceValue{
				Type: object(map[string]*schema.Schema{
					"repo": boolean, "branch": text, "head": text, "dirty": boolean, "changed": listOf(text), "ahead": integer, "behind": integer,
				}),
				Derive: deriveStatus,
			},
		},
		{
			Name: "exec", Doc: "The output of a program; no shell reads its arguments.", Argument: argumentWords, Schema: true,
			Trust: "runs a program", Once: true, Timeout: execTimeout,
			Options: []SourceOption{{Name: "stdin", Kind: optionText, Doc: "What the program reads from its standard input."}},
			Value: SourceValue{
				Around: func(document *schema.Schema) *schema.Schema {
					return object(map[string]*schema.Schema{
						"code": integer, "stdout": text, "stderr": text, "lines": listOf(text), "json": within(document),
					})
				},
				Derive: deriveOutput,
			},
		},
		{
			Name: "tasks", Doc: "The task list of the host.", Words: []string{"claude"}, Session: true,
			Value:   SourceValue{Type: listOf(task), shows: showing("id", "status", "owner", "blocks", "blockedBy").spoken()}, // the other strings are the agent's words
			Options: []SourceOption{{Name: "list", Kind: optionArgument, Doc: "Name of the list; the list of the session by default."}},
		},
		{
			Name: "judge", Doc: "A model's answer to a question about the end of the conversation.", Argument: argumentText, Value: SourceValue{Returns: true}, Session: true,
			Trust: "sends the conversation to a model", Once: true, Timeout: judgeTimeout,
			Options: []SourceOption{
				{Name: "api", Kind: optionWord, Words: []string{"anthropic", "openai"}, Needs: map[string]string{"openai": "model"}, Doc: "Wire format of the model's service; anthropic by default."},
				{Name: "model", Kind: optionArgument, Doc: "Name of the model; openai needs it, anthropic has a default."},
				{Name: "system", Kind: optionText, Doc: "Instructions to the model: its role and its criteria."},
				{Name: "turns", Kind: optionCount, Doc: "How many turns of the conversation the model sees; 5 by default."},
				{Name: "tool_results", Kind: optionArgument, Words: []string{"true", "false"}, Doc: "Whether the model also sees the results of tools; false by default."},
				{Name: "max_tokens", Kind: optionCount, Doc: "Maximum number of tokens in its answer; 1024 by default."},
			},
		},
	}
}

// checklist is the source whose items are boxes to tick.
const checklist = "checklist"

// The default time limits for gathering a fact, and for a program that an effect runs.
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

// keys returns the keys of a fact with this source.
func (s SourceKind) keys() form.Keys {
	own := form.Keys{{Name: s.Name, Shape: s.argument(), Doc: s.Doc}}
	if s.given() { // it takes no time, and has no silent default
		return own
	}
	return slices.Concat(own, s.options(), form.FactOptionKeys())
}

// deriveStatus sets derived fields in the status of a repository.
func deriveStatus(fields map[string]any) {
	if _, given := fields["dirty"]; !given {
		changed, _ := fields["changed"].([]any)
		fields["dirty"] = len(changed) > 0
	}
	if _, given := fields["repo"]; !given {
		fields["repo"] = true
	}
}

// deriveOutput sets derived fields in the output of a program: stdout and lines follow from each other.
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
