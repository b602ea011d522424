package host

import (
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/jsontext"
)

// recordKind is what a record is to the conversation.
type recordKind uint8

const (
	noRecord  recordKind = iota // no record of a format that is known
	noise                       // a known record that is no part of the conversation
	opening                     // a human prompt, or the reason with which a hook made the agent go on: a turn begins
	assistant                   // a message of the agent, or a part of one
	result                      // what a tool returned
)

// entry is what one record says.
type entry struct {
	kind    recordKind
	id      string         // the message that the record is a part of; "" if it stands for itself
	parts   []part         // in order
	results func() []part  // what tools returned, of a result: it may be megabytes, which few ask for
	tokens  int            // the size of the context with this message, 0 if it is not known
	total   int            // the tokens of the whole session until here, where that is counted
	used    int            // the tokens of a request that may be a subagent's; 0 means that tokens are
	replied int            // what came back, where that is all that is known
	turn    string         // the host's id of the turn, "" if it is not known
	open    bool           // the message is not finished with this record
	changed jsontext.Value // what a tool did, in the words of the host

	prompt bool     // an opening that is certainly the user's, and no continuation
	failed *Failure // the turn failed here

	rewritten bool // a newer record with the same id stands for this one
}

// partKind is what a part of an entry is.
type partKind uint8

const (
	said partKind = iota // a text that is not blank
	used                 // the use of a tool
	gave                 // what a tool returned
)

// part is a piece of an entry.
type part struct {
	kind  partKind
	text  string         // the text, or the name of the tool
	id    string         // of the use
	value jsontext.Value // what the tool is used for, or what it returned

	ok     bool // the use came to its end, and a command ended with status 0
	failed bool // the host says that the use did not succeed
}

// use is the use of a tool. Some hosts write its input as a string.
func use(id, name, input jsontext.Value) part {
	if s, ok := input.Decode(); ok && strings.HasPrefix(s, "{") {
		input = jsontext.Value(s)
	}
	return part{kind: used, text: name.Text(), id: id.Text(), value: input}
}

// words lists the texts of the parts of a kind: what was said, or the tools that were used.
func (e entry) words(kind partKind) (all []string) {
	for _, p := range e.parts {
		if p.kind == kind {
			all = append(all, p.text)
		}
	}
	return all
}

// has reports whether the entry has a part of a kind.
func (e entry) has(kind partKind) bool {
	return slices.ContainsFunc(e.parts, func(p part) bool { return p.kind == kind })
}

// all lists the parts, what tools returned too.
func (e entry) all() []part {
	if e.results != nil {
		return e.results()
	}
	return e.parts
}

// speaks reports whether the entry is seen in a turn.
func (e entry) speaks() bool {
	return e.kind == opening || e.kind == assistant && (e.has(said) || e.has(used))
}

// fields are the members of an object, also of the beginning of one that breaks off.
type fields struct {
	list  []member
	whole bool // it is an object, and nothing follows it
}

type member struct {
	key   []byte
	value jsontext.Value
}

// readFields reads an object. list is room for its members, which may be nil.
func readFields(v jsontext.Value, list []member) fields {
	c := v.Members()
	for c.Next() {
		list = append(list, member{c.Key, c.Value})
	}
	if c.Torn != nil {
		list = append(list, member{c.Key, c.Torn})
	}
	return fields{list, c.Whole}
}

// get is the last of the members with a name, as decoders have it; nil if there is none.
func (f fields) get(name string) jsontext.Value {
	for _, m := range slices.Backward(f.list) {
		if string(m.key) == name {
			return m.value
		}
	}
	return nil
}

func (f fields) text(name string) string { return f.get(name).Text() }
func (f fields) is(name string) bool     { return f.get(name).IsTrue() }

// record is the top level of one line.
type record struct {
	fields
	typ      string
	subagent bool // records that are marked as a subagent's are read as the main agent's
}

func readRecord(line []byte, subagent bool, list []member) record {
	r := record{fields: readFields(clean(line), list), subagent: subagent}
	r.typ = r.text("type")
	return r
}

// records reads records. Of their members only the values outlive a record.
type records struct{ list []member }

// read reads one line. The entry is noRecord unless the line is a JSON object that a host is known to write.
func (b *records) read(line []byte, subagent bool) entry {
	r := readRecord(line, subagent, b.list[:0])
	b.list = r.list
	if !r.whole {
		return entry{}
	}
	for _, h := range hosts {
		if h.record != nil {
			if e := h.record(r); e.kind != noRecord {
				return e
			}
		}
	}
	return entry{}
}

// content is what a message consists of, in the shapes of all formats: a text, a list of blocks with a type, or a list of
// parts that differ in their keys.
type content struct {
	parts  []part
	result bool // some block is what a tool returned
	media  bool // some block is a picture or a document
}

func readContent(v jsontext.Value) (all content) {
	say := func(v jsontext.Value) {
		if s := v.Text(); strings.TrimSpace(s) != "" {
			all.parts = append(all.parts, part{text: s})
		}
	}
	say(v)
	var room [8]member
	for c := v.Elements(); c.Next(); {
		say(c.Value) // Claude Code's additional context is a list of texts
		b := readFields(c.Value, room[:0])
		switch typ := b.text("type"); {
		case typ == "text", typ == "output_text", typ == "input_text", typ == "" && !b.is("thought"):
			say(b.get("text"))
		case typ == "image", typ == "document", typ == "input_image":
			all.media = true
		case strings.HasSuffix(typ, "tool_use"):
			all.parts = append(all.parts, use(b.get("id"), b.get("name"), b.get("input")))
		case strings.HasSuffix(typ, "tool_result"):
			failed := b.is("is_error")
			all.parts = append(all.parts, part{kind: gave, id: b.text("tool_use_id"), value: b.get("content"), ok: !failed, failed: failed})
			all.result = true
		}
		if call := b.get("functionCall"); call.There() {
			all.parts = append(all.parts, use(call.Field("id"), call.Field("name"), call.Field("args")))
		}
		if response := b.get("functionResponse"); response.There() {
			ok := !response.Field("response").Field("error").There() && printedOK(response)
			all.parts = append(all.parts, part{kind: gave, id: response.Field("id").Text(), ok: ok, failed: !ok})
			all.result = true
		}
	}
	return all
}

// first is the first text, without white space around it.
func (c content) first() string {
	for _, p := range c.parts {
		if p.kind == said {
			return strings.TrimSpace(p.text)
		}
	}
	return ""
}

func hasAnyPrefix(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}
