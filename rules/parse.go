package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/rules/internal/source"
)

// parser turns the YAML nodes of one file into a document. It never stops at the
// first problem: whatever is unusable is reported and left out.
type parser struct {
	file  *file
	kinds []SourceKind
	diags *Diagnostics
}

func (p *parser) pos(at source.Pos) Pos { return Pos{File: p.file.name, Line: at.Line, Col: at.Col} }

func (p *parser) errorf(n *source.Node, check, help, format string, args ...any) {
	*p.diags = append(*p.diags, Diagnostic{
		Pos: p.pos(n.Start), End: p.pos(n.End()), Check: check,
		Message: fmt.Sprintf(format, args...), Help: help,
		Line: source.Line(p.file.src, n.Start.Line),
	})
}

// parseFile reads src. The document is nil if nothing of it can be used.
func parseFile(f *file, guard bool, kinds []SourceKind, diags *Diagnostics) *document {
	p := &parser{file: f, kinds: kinds, diags: diags}
	root, problems := source.Parse(f.src)
	for _, pr := range problems {
		*diags = append(*diags, Diagnostic{
			Pos: p.pos(pr.Start), End: p.pos(pr.End), Check: pr.Check, Message: pr.Message, Help: pr.Help,
			Line: source.Line(f.src, pr.Start.Line),
		})
	}
	if root == nil {
		return nil
	}
	if root.Kind != source.Map {
		p.errorf(root, "syntax", "start the file with the line: ralph: 1", "a policy is a map of keys, this is %s", kindName(root))
		return nil
	}
	return p.document(root, guard)
}

func kindName(n *source.Node) string {
	switch {
	case n.Kind == source.Map:
		return "a map"
	case n.Kind == source.List:
		return "a list"
	case n.Tag == "!!null":
		return "empty"
	}
	return "a text"
}

// fields calls f for each key of n that the table knows and reports the others.
// what names the object in messages.
func (p *parser) fields(n *source.Node, what string, ks keys, f func(key *source.Node, value *source.Node)) bool {
	if n.Kind != source.Map {
		p.errorf(n, "syntax", "", "%s is a map with the keys %s, this is %s", what, list(ks.names()), kindName(n))
		return false
	}
	for _, fl := range n.Fields {
		if !ks.has(fl.Key.Value) {
			p.errorf(fl.Key, "unknown-key", didYouMean(fl.Key.Value, ks.names()),
				"unknown key %q in %s, expected one of %s", fl.Key.Value, what, list(ks.names()))
			continue
		}
		f(fl.Key, fl.Value)
	}
	return true
}

func (p *parser) document(root *source.Node, guard bool) *document {
	d := &document{file: p.file, guard: guard, prefix: "ralph", events: []string{"Stop"}, limits: defaultLimits()}
	what, ks := "a policy", policyKeys()
	if guard {
		what, ks = "an included file", guardKeys()
	}
	version := root.Get("ralph")
	switch {
	case version == nil:
		p.errorf(root, "version", "write ralph: 1 as the first line", "the key \"ralph\" with the version of the policy language is missing")
		return nil
	case version.Value != strconv.Itoa(LanguageVersion):
		p.errorf(version, "version", "write ralph: 1, or use a release of ralph that knows this version",
			"version %s of the policy language is not known, this release reads version %d", version.Value, LanguageVersion)
		return nil
	}
	p.fields(root, what, ks, func(k, v *source.Node) {
		switch k.Value {
		case "description":
			d.description, _ = p.text(v, k.Value)
		case "prefix":
			d.prefix, _ = p.text(v, k.Value)
		case "events":
			d.events = p.events(v)
		case "gate":
			d.gate = Gate(p.word(v, "gate", []string{"first", "all"}))
		case "params":
			p.named(v, "params", func(key, val *source.Node) {
				d.params = append(d.params, paramDecl{name: key.Value, key: key, schema: val})
			})
		case "facts":
			p.named(v, "facts", func(key, val *source.Node) {
				if f, ok := p.fact(key, val); ok {
					d.facts = append(d.facts, f)
				}
			})
		case "let":
			d.lets = p.expressions(v, "let")
		case "limits":
			d.limitsNode = v
			d.limits = p.limits(v)
		case "progress":
			d.progress = p.oneOrMore(v, "progress")
		case "rules":
			p.each(v, "rules", func(item *source.Node) {
				if r, ok := p.rule(item); ok {
					d.rules = append(d.rules, r)
				}
			})
		case "finally":
			p.each(v, "finally", func(item *source.Node) {
				if f, ok := p.finally(item); ok {
					d.finally = append(d.finally, f)
				}
			})
		}
	})
	return d
}

// each walks a list; a missing value counts as an empty list.
func (p *parser) each(n *source.Node, what string, f func(*source.Node)) {
	if n.Kind == source.Scalar && n.Tag == "!!null" {
		return
	}
	if n.Kind != source.List {
		p.errorf(n, "syntax", "begin each item with a dash", "%s is a list, this is %s", what, kindName(n))
		return
	}
	for _, item := range n.Items {
		f(item)
	}
}

// named walks a map from names to anything and checks the names.
func (p *parser) named(n *source.Node, what string, f func(key, value *source.Node)) {
	if n.Kind == source.Scalar && n.Tag == "!!null" {
		return
	}
	if n.Kind != source.Map {
		p.errorf(n, "syntax", "", "%s is a map from names to values, this is %s", what, kindName(n))
		return
	}
	for _, fl := range n.Fields {
		if !isIdentifier(fl.Key.Value) {
			p.errorf(fl.Key, "bad-name", "use letters, digits and _, and begin with a letter", "%q cannot be used as a name in expressions", fl.Key.Value)
			continue
		}
		f(fl.Key, fl.Value)
	}
}

func isIdentifier(s string) bool {
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

func isKebab(s string) bool {
	for _, part := range strings.Split(s, "-") {
		if part == "" || strings.ContainsFunc(part, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < '0' || r > '9')
		}) {
			return false
		}
	}
	return true
}

func (p *parser) text(n *source.Node, what string) (string, bool) {
	if n.Kind != source.Scalar || n.Tag == "!!null" {
		p.errorf(n, "syntax", "", "%s is a text, this is %s", what, kindName(n))
		return "", false
	}
	return n.Value, true
}

// scalar accepts any one-value node as the source of an expression or template:
// `when: true` and `limit: 5` are expressions too.
func (p *parser) scalar(n *source.Node, what string) *source.Node {
	if _, ok := p.text(n, what); !ok {
		return nil
	}
	return n
}

func (p *parser) word(n *source.Node, what string, words []string) int {
	s, ok := p.text(n, what)
	if !ok {
		return 0
	}
	i := slices.Index(words, s)
	if i < 0 {
		p.errorf(n, "bad-value", didYouMean(s, words), "%s is one of %s, not %q", what, list(words), s)
		return 0
	}
	return i
}

func (p *parser) count(n *source.Node, what string) int {
	i, err := strconv.Atoi(n.Value)
	if n.Kind != source.Scalar || err != nil || i < 0 {
		p.errorf(n, "bad-value", "", "%s is a whole number, 0 or more, not %q", what, n.Value)
		return 0
	}
	return i
}

func (p *parser) duration(n *source.Node, what string) time.Duration {
	d, err := time.ParseDuration(n.Value)
	if n.Kind != source.Scalar || err != nil || d < 0 {
		p.errorf(n, "bad-value", "write a number with its unit: 500ms, 30s, 5m, 24h", "%s is a time such as 30s, not %q", what, n.Value)
		return 0
	}
	return d
}

func (p *parser) events(n *source.Node) []string {
	if n.Kind == source.Scalar {
		if s, ok := p.text(n, "events"); ok {
			return []string{s}
		}
		return nil
	}
	var out []string
	p.each(n, "events", func(item *source.Node) {
		s, ok := p.text(item, "an event")
		if !ok {
			return
		}
		if !slices.Contains(KnownEvents(), s) {
			p.errorf(item, "bad-value", didYouMean(s, KnownEvents()), "unknown event %q, expected one of %s", s, list(KnownEvents()))
			return
		}
		out = append(out, s)
	})
	return out
}

// KnownEvents are the hook events that a policy can list, under Claude Code's names.
func KnownEvents() []string { return []string{"Stop", "SubagentStop", "UserPromptSubmit"} }

func (p *parser) expressions(n *source.Node, what string) []letDecl {
	var out []letDecl
	p.named(n, what, func(k, v *source.Node) {
		if e := p.scalar(v, "the value of "+k.Value); e != nil {
			out = append(out, letDecl{name: k.Value, key: k, expr: e})
		}
	})
	return out
}

// oneOrMore reads an expression or a list of them.
func (p *parser) oneOrMore(n *source.Node, what string) []*source.Node {
	if n.Kind != source.List {
		if n.Kind == source.Scalar && n.Tag != "!!null" && strings.TrimSpace(n.Value) != "" {
			return []*source.Node{n}
		}
		if n.Kind == source.Scalar {
			p.errorf(n, "empty", "leave the key out, or write an expression", "%s is empty", what)
		} else {
			p.errorf(n, "syntax", "quote the expression, or put it into a |- block", "%s is an expression or a list of them, this is %s", what, kindName(n))
		}
		return nil
	}
	var out []*source.Node
	for _, item := range n.Items {
		out = append(out, p.oneOrMore(item, what)...)
	}
	return out
}

func (p *parser) fact(name, n *source.Node) (factDecl, bool) {
	f := factDecl{name: name.Value, key: name}
	if n.Kind != source.Map {
		p.errorf(n, "syntax", "write for example {json: path/to/state.json}", "a fact is a map with a source, one of %s", list(sourceNames(p.kinds)))
		return f, false
	}
	var found []string
	for _, fl := range n.Fields {
		if k, ok := findSource(p.kinds, fl.Key.Value); ok {
			f.kind = k
			found = append(found, fl.Key.Value)
			f.args = p.arguments(k, fl.Value)
		}
	}
	if len(found) != 1 {
		help := ""
		if len(found) == 0 {
			help = didYouMean(firstKey(n), sourceNames(p.kinds))
		}
		p.errorf(name, "fact-source", help, "the fact %q needs exactly one source, one of %s; it has %d", name.Value, list(sourceNames(p.kinds)), len(found))
		return f, false
	}
	what := "a " + f.kind.Name + " fact"
	ks := slices.Concat(keys{{f.kind.Name, f.kind.argument(), ""}}, f.kind.options(), factOptionKeys())
	p.fields(n, what, ks, func(k, v *source.Node) {
		if o, ok := f.kind.option(k.Value); ok {
			p.option(&f, o, v)
			return
		}
		switch k.Value {
		case f.kind.schemaKey():
			f.schema = v
		case "default":
			f.deflt = v
		case "settle":
			f.settle = p.duration(v, k.Value)
		case "timeout":
			f.timeout = p.duration(v, k.Value)
		case "inline":
			if p.word(v, "inline", []string{"false", "true"}) == 1 {
				f.inline = v
			}
		}
	})
	if f.inline != nil && f.schema == nil {
		p.errorf(f.inline, "inline", "add schema, so that the names of its fields are known", "inline needs a schema")
		f.inline = nil
	}
	if f.kind.Returns && f.schema == nil {
		p.errorf(name, "fact-returns", "add returns: {properties: {done: {type: boolean}}, required: [done]}", "the fact %q needs returns, the schema of the answer", name.Value)
		return f, false
	}
	return f, len(f.args) > 0
}

// option reads an option that only this kind of source takes.
func (p *parser) option(f *factDecl, o SourceOption, v *source.Node) {
	switch o.Kind {
	case OptionCount:
		n := p.count(v, o.Name)
		if n == 0 && v.Value == "0" {
			p.errorf(v, "bad-value", "", "%s is a whole number, 1 or more, not 0", o.Name)
		}
		f.setOption(o.Name, n)
	case OptionWord:
		f.setOption(o.Name, o.Words[p.word(v, o.Name, o.Words)])
	default:
		if t := p.scalar(v, o.Name); t != nil {
			if f.texts == nil {
				f.texts = map[string]*source.Node{}
			}
			f.texts[o.Name] = t
		}
	}
}

func (f *factDecl) setOption(name string, v any) {
	if f.options == nil {
		f.options = map[string]any{}
	}
	f.options[name] = v
}

func firstKey(n *source.Node) string {
	if len(n.Fields) == 0 {
		return ""
	}
	return n.Fields[0].Key.Value
}

func (p *parser) arguments(k SourceKind, n *source.Node) []*source.Node {
	if !k.Argv {
		if t := p.scalar(n, "the argument of "+k.Name); t != nil {
			if len(k.Words) > 0 {
				p.word(t, k.Name, k.Words)
			}
			return []*source.Node{t}
		}
		return nil
	}
	if n.Kind != source.List || len(n.Items) == 0 {
		p.errorf(n, "syntax", "write [program, argument, …]", "%s takes a list of words: the program and its arguments", k.Name)
		return nil
	}
	var out []*source.Node
	for i, item := range n.Items {
		t := p.scalar(item, "an argument")
		if t == nil {
			return nil // reported: without it the others would stand in the wrong place
		}
		if i == 0 && (strings.Contains(t.Value, "${") || strings.TrimSpace(t.Value) == "") {
			p.errorf(t, "exec-program", "name the program itself; only its arguments have holes", "the program of %s stands in the policy, whatever the facts are", k.Name)
			return nil
		}
		out = append(out, t)
	}
	return out
}

func (p *parser) limits(n *source.Node) Limits {
	l := defaultLimits()
	l.Written = p.fields(n, "limits", limitKeys(), func(k, v *source.Node) {
		switch k.Value {
		case "continuations":
			l.Continuations = p.count(v, k.Value)
		case "repeats":
			l.Repeats, l.HasRepeats = p.count(v, k.Value), true
		case "elapsed":
			l.Elapsed = p.duration(v, k.Value)
		case "total":
			l.Total = p.count(v, k.Value)
		}
	}) && len(n.Fields) > 0
	return l
}

func (p *parser) rule(n *source.Node) (ruleDecl, bool) {
	r := ruleDecl{node: n}
	if n.Kind != source.Map {
		p.errorf(n, "syntax", "write - name: …", "a rule is a map with the keys %s, this is %s", list(ruleKeys().names()), kindName(n))
		return r, false
	}
	if n.Get("include") != nil {
		p.fields(n, "an include", includeKeys(), func(k, v *source.Node) {
			switch k.Value {
			case "include":
				r.include = p.scalar(v, "include")
			case "with":
				r.with = p.expressions(v, "with")
			case "as":
				r.as = p.scalar(v, "as")
			}
		})
		return r, r.include != nil
	}
	var verbs []string
	p.fields(n, "a rule", ruleKeys(), func(k, v *source.Node) {
		switch k.Value {
		case "name":
			r.name = p.scalar(v, "name")
		case "when":
			r.when, r.hasWhen = p.oneOrMore(v, "when"), true
		case "continue", "stop", "note":
			verbs = append(verbs, k.Value)
			r.text = p.scalar(v, k.Value)
			r.verb = Verb(1 + slices.Index([]string{"continue", "stop", "note"}, k.Value))
		case "notice":
			r.notice = p.scalar(v, k.Value)
		case "log":
			r.log = p.scalar(v, k.Value)
		case "then":
			p.each(v, "then", func(item *source.Node) {
				if e, ok := p.effect(item); ok {
					r.then = append(r.then, e)
				}
			})
		case "unless_repeated":
			r.unless = p.unless(v)
		}
	})
	if len(verbs) > 1 {
		p.errorf(n, "verbs", "make two rules of it", "a rule has at most one of continue, stop and note; this one has %s", strings.Join(verbs, " and "))
		return r, false
	}
	switch {
	case r.name == nil:
		p.errorf(n, "rule-name", "add name: and a word for it in kebab-case", "this rule has no name")
		return r, false
	case !isKebab(r.name.Value):
		p.errorf(r.name, "rule-name", "use small letters, digits and single dashes", "the rule name %q is not kebab-case", r.name.Value)
	}
	if r.hasWhen && r.when == nil {
		return r, false // reported: a rule whose condition is lost must not hold
	}
	return r, true
}

func (p *parser) unless(n *source.Node) *Unless {
	u := &Unless{}
	if !p.fields(n, "unless_repeated", unlessKeys(), func(k, v *source.Node) {
		switch k.Value {
		case "times":
			u.Times = p.count(v, k.Value)
		case "within":
			u.Within = p.duration(v, k.Value)
		case "per":
			u.Per = []Per{PerPrompt, PerSession, PerProject}[p.word(v, "per", []string{"prompt", "session", "project"})]
		}
	}) {
		return nil
	}
	if u.Times == 0 {
		p.errorf(n, "unless-times", "write times: 1 to let the rule speak once", "unless_repeated needs times, 1 or more")
		return nil
	}
	return u
}

func (p *parser) effect(n *source.Node) (effectDecl, bool) {
	var e effectDecl
	if n.Kind != source.Map || len(n.Fields) != 1 {
		p.errorf(n, "syntax", "write one effect an item: - set: fact.field = value", "an effect is one of %s", list(effectKeys().names()))
		return e, false
	}
	ok := false
	p.fields(n, "an effect", effectKeys(), func(k, v *source.Node) {
		switch k.Value {
		case "set":
			e.kind, e.node = SetEffect, p.scalar(v, "set")
			ok = e.node != nil
		case "delete":
			e.kind, e.node = DeleteEffect, p.scalar(v, "delete")
			ok = e.node != nil
		case "archive":
			e.kind, e.node = ArchiveEffect, p.scalar(v, "archive")
			ok = e.node != nil
		case "prune":
			e, ok = p.prune(v)
		}
	})
	return e, ok
}

func (p *parser) prune(n *source.Node) (effectDecl, bool) {
	e := effectDecl{kind: PruneEffect, node: n}
	older := false
	ok := p.fields(n, "prune", pruneKeys(), func(k, v *source.Node) {
		switch k.Value {
		case "glob":
			e.glob = p.scalar(v, "glob")
		case "older":
			e.older, older = p.duration(v, "older"), true
		}
	})
	if ok && (e.glob == nil || !older) {
		p.errorf(n, "prune", "", "prune needs both glob and older")
		ok = false
	}
	return e, ok
}

func (p *parser) finally(n *source.Node) (finallyDecl, bool) {
	f := finallyDecl{node: n}
	has := false
	broken := false
	p.fields(n, "a finally entry", finallyKeys(), func(k, v *source.Node) {
		switch k.Value {
		case "name":
			f.name, _ = p.text(v, "name")
		case "when":
			f.when = p.oneOrMore(v, "when")
			broken = f.when == nil
		case "prune":
			f.effect, has = p.prune(v)
		case "log":
			f.log = p.scalar(v, "log")
			has = has || f.log != nil
		}
	})
	if !has && n.Kind == source.Map {
		p.errorf(n, "syntax", "", "a finally entry needs prune or log")
	}
	return f, has && !broken
}
