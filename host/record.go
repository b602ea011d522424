package host

import (
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/jsontext"
)

// recordKind is the role of a record in the conversation.
type recordKind uint8

const (
	noRecord  recordKind = iota // not a record of a known format
	noise                       // a known record outside the conversation
	opening                     // a human prompt or a hook's continuation: a turn begins
	assistant                   // a message of the agent, or a part of one
	result                      // what a tool returned
)

// entry is the content of one record.
type entry struct {
	kind    recordKind
	id      string        // the message that the record belongs to; "" if it is a whole message
	parts   []part        // in order
	results func() []part // results of tools, read on demand since they may be megabytes
	usage   usage
	turn    string         // the host's ID of the turn, "" if unknown
	open    bool           // more records of the message follow
	changed jsontext.Value // what a tool did, in the words of the host

	prompt bool     // an opening that is certainly a prompt, not a continuation
	again  bool     // an opening that is certainly a continuation
	failed *Failure // the turn failed here

	rewritten bool // a newer record with the same ID replaces this one
}

// usage is how many tokens a record reports; 0 is unknown.
type usage struct {
	tokens  int // the size of the context with the message
	total   int // of the whole session so far
	used    int // of a request that may be a subagent's; 0: use tokens
	replied int // of the reply, if only those are known
}

// partKind is the kind of a part of an entry.
type partKind uint8

const (
	said partKind = iota // text that is not blank
	used                 // the use of a tool
	gave                 // what a tool returned
)

// part is a piece of an entry.
type part struct {
	kind  partKind
	text  string         // the text, or the name of a tool
	id    string         // of the use
	value jsontext.Value // the input of a tool, or its result

	ok     bool // the use ended; a command ended with status 0
	failed bool // the host reported a failure
}

// use returns the use of a tool. Some hosts write its input as a string.
func use(id, name, input jsontext.Value) part {
	if s, ok := input.Decode(); ok && strings.HasPrefix(s, "{") {
		input = jsontext.Value(s)
	}
	return part{kind: used, text: name.Text(), id: id.Text(), value: input}
}

// words returns the texts of the parts of a kind: messages, or names of tools.
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

// all returns the parts, including results of tools.
func (e entry) all() []part {
	if e.results != nil {
		return e.results()
	}
	return e.parts
}

// speaks reports whether the entry counts in a turn.
func (e entry) speaks() bool {
	return e.kind == opening || e.kind == assistant && (e.has(said) || e.has(used))
}

// fields holds the members of an object, also of an object that is cut off.
type fields struct {
	list  []member
	whole bool // the object is complete, and nothing follows it
}

type member struct {
	key   []byte
	value jsontext.Value
}

// list provides room for its members and may be nil.
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

// get returns the last member called name, as decoders do; nil if there is none.
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
	subagent bool // records marked as a subagent's belong to the session that is read
}

func readRecord(line []byte, subagent bool, list []member) record {
	r := record{fields: readFields(clean(line), list), subagent: subagent}
	r.typ = r.text("type")
	return r
}

// records reads records. It reuses the list of members; only the values outlive a record.
type records struct{ list []member }

// read reads one line. It returns noRecord unless the line is a JSON object in the format of a known host.
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

// content is the content of a message, in the shapes of all formats: a string, a list of blocks with a type, or a list
// of parts that differ in their keys.
type content struct {
	parts  []part
	result bool // some block is a tool's result
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
		say(c.Value) // Claude Code's additional context is a list of strings
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

// first returns the first text, without surrounding white space.
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
