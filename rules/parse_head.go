package rules

import (
	"bytes"
	"io/fs"
	"maps"

	"github.com/ralph-sdk/ralph/rules/internal/source"
)

// LoadHead reads a policy in two steps, for a process that decides one event and
// ends: most events are none of the policy's business, and a policy that has a when
// of its own says so in its first lines.
//
// head is the policy as far as these lines: what it says of itself, its params and
// its when. It has no facts and no rules, so that its verdict is worth something
// only where it is [Verdict.Idle]. It is nil if the policy has no when, or if
// anything about these lines is unusual. rest gives what [Load] would have given;
// it can be called once head is not idle, and always where head is nil.
//
// What is wrong behind the head is found by rest, so nobody is told of it while the
// policy is idle. LoadHead, and each rest, may be called by many goroutines at once;
// a rest reads the policy's own file no second time.
func LoadHead(fsys fs.FS, name string, cfg Config) (head *Program, rest func() (*Program, Diagnostics)) {
	f, err := readFile(includeFS{fsys: fsys}, name)
	if err != nil {
		return nil, func() (*Program, Diagnostics) { return nil, unreadable(name, err) }
	}
	return loadHead(f, cfg), func() (*Program, Diagnostics) { return loadFile(f, cfg) }
}

func loadHead(f *file, cfg Config) *Program {
	lines, ok := headOf(f.src)
	if !ok {
		return nil
	}
	var diags Diagnostics
	above := *f
	above.src = lines
	doc := parseFile(&above, false, nil, &diags)
	if doc == nil || len(doc.when) == 0 {
		return nil
	}
	c := newCompiler(doc, cfg, &diags)
	p := c.program
	p.when = c.ownWhen(doc, c.declare(doc, "", c.given(doc)))
	if diags.HasErrors() || p.when == nil {
		return nil
	}
	return p
}

// behindHead are the keys that stand behind the when of a policy.
func behindHead(key string) bool {
	switch key {
	case "facts", "let", "limits", "progress", "rules", "finally":
		return true
	}
	return false
}

// headOf gives the lines of a policy above the first of these keys. It goes by
// the first letters of lines alone: all that stands within a key is indented. ok is
// false if there is no when among these lines, or if they may not be all of the head.
func headOf(src []byte) (lines []byte, ok bool) {
	end, has := -1, false
	for at := 0; at < len(src); {
		line := src[at:]
		next := len(src)
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			line, next = line[:i], at+i+1
		}
		key, _, isKey := bytes.Cut(line, []byte(":"))
		switch {
		case len(line) == 0 || line[0] == ' ' || line[0] == '#' || line[0] == '\r':
		case !isKey || line[0] < 'a' || line[0] > 'z': // quoted keys, marks of documents, …
			return nil, false
		case behindHead(string(key)):
			if end < 0 {
				end = at
			}
		case end >= 0: // a key of the head, too late
			return nil, false
		default:
			has = has || string(key) == "when"
		}
		at = next
	}
	if end < 0 || !has {
		return nil, false
	}
	return src[:end], true
}

// ownWhen compiles the when of the policy itself. It is read before all that
// costs something, so it knows the params and ralph's own names.
func (c *compiler) ownWhen(doc *document, sc *scope) *cond {
	if len(doc.when) == 0 {
		return nil
	}
	own := &scope{file: sc.file, names: sc.names, symbols: maps.Clone(sc.symbols), behind: sc}
	maps.DeleteFunc(own.symbols, func(_ string, s *symbol) bool { return s.kind != constSymbol })
	when := c.conditions(own, doc.when)
	when.walk(func(o *operand) {
		for _, s := range o.syms {
			if s.kind == nameSymbol && s.info.askRow {
				c.report(sc.file, o.snippet.at(o.from), o.snippet.at(o.to), Error, "own-when", "ask for it in the when of a rule",
					quote(s.name)+" is about the loop, which begins only where the policy is for the event")
			}
		}
	})
	return when
}

// placeOfWhen reports a when of the policy that stands among its rules: it would be
// taken for that of a rule by everybody who reads the file.
func (p *parser) placeOfWhen(root *source.Node) {
	first := ""
	for _, f := range root.Fields {
		switch key := f.Key.Value; {
		case first == "" && behindHead(key):
			first = key
		case first != "" && key == "when":
			p.errorf(f.Key, "own-when", "move it above "+quote(first)+", or indent it if it belongs to a rule",
				"the when of a policy stands above its facts and rules")
		}
	}
}
