package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/ralph-sdk/ralph/internal/form"
	"github.com/ralph-sdk/ralph/internal/nearest"
	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/internal/yamltree"
)

// parser converts the YAML nodes of one file to a document. It does not stop at the first problem: it reports and omits
// what is unusable.
type parser struct {
	file  *file
	load  *loading
	diags *Diagnostics
	rules form.Keys // the keys of a rule, once there is one
}

func (p *parser) errorf(n *yamltree.Node, check, help, format string, args ...any) {
	p.report(n, Error, check, help, format, args...)
}

func (p *parser) warnf(n *yamltree.Node, check, help, format string, args ...any) {
	p.report(n, Warning, check, help, format, args...)
}

func (p *parser) report(n *yamltree.Node, sev Severity, check, help, format string, args ...any) {
	p.diags.add(p.file, n.Start, n.End(), sev, check, fmt.Sprintf(format, args...), help)
}

// parseFile reads a file. The document is nil if nothing of it is usable.
func parseFile(f *file, guard bool, l *loading, diags *Diagnostics) *document {
	p := &parser{file: f, load: l, diags: diags}
	if root := p.root(f.src); root != nil {
		return p.document(root, guard)
	}
	return nil
}

// parseMore reads more lines of a file into the document of the lines above them.
func parseMore(d *document, lines []byte, l *loading, diags *Diagnostics) {
	p := &parser{file: d.file, load: l, diags: diags}
	if root := p.root(lines); root != nil {
		p.keys(d, root, "a policy", form.PolicyKeys())
	}
}

// root parses lines from the beginning of the file.
func (p *parser) root(lines []byte) *yamltree.Node {
	root, problems := yamltree.Parse(lines)
	for _, pr := range problems {
		p.diags.add(p.file, pr.Start, pr.End, Error, pr.Check, pr.Message, pr.Help)
	}
	switch {
	case root == nil:
	case !p.load.affords(root.Count()):
		p.errorf(root, yamltree.CheckSize, "split the policy", "the policy and its files have more than %d values", p.load.limits.Nodes)
	case root.Kind != yamltree.Map:
		p.errorf(root, "syntax", "start the file with the line: ralph: 1", "a policy must be a map of keys; got %s", root.KindName())
	default:
		return root
	}
	return nil
}

// fields calls f for each key of n that the table knows and reports the others.
// what names the object in messages.
func (p *parser) fields(n *yamltree.Node, what string, ks form.Keys, f func(key *yamltree.Node, value *yamltree.Node)) bool {
	if n.Kind != yamltree.Map {
		p.errorf(n, "syntax", "", "%s must be a map with the keys %s; got %s", what, list(ks.Names()), n.KindName())
		return false
	}
	for _, fl := range n.Fields {
		if !ks.Has(fl.Key.Value) {
			p.errorf(fl.Key, "unknown-key", unknownKeyHelp(fl.Key.Value, ks),
				"unknown key %q in %s; expected one of %s", fl.Key.Value, what, few(ks.Names()))
			continue
		}
		f(fl.Key, fl.Value)
	}
	return true
}

// A target is the destination of a key's value: a pointer, whose type is that of the value, or a function that reads
// it.
type target struct {
	key string
	to  any
}

type targets []target

// A choice is one of a few words, the first of which is the default.
type choice struct {
	to    *string
	words []string
}

// object reads the keys of n, each into its target. The caller reads keys without a target.
func (p *parser) object(n *yamltree.Node, what string, ks form.Keys, ts targets) bool {
	return p.fields(n, what, ks, func(k, v *yamltree.Node) {
		i := slices.IndexFunc(ts, func(t target) bool { return t.key == k.Value })
		if i < 0 {
			return
		}
		switch to := ts[i].to.(type) {
		case *string:
			*to, _ = p.text(v, k.Value)
		case *bool:
			*to = p.boolean(v, k.Value)
		case *time.Duration:
			*to = p.duration(v, k.Value)
		case choice:
			*to.to = to.words[p.word(v, k.Value, to.words)]
		case *[]*yamltree.Node:
			*to = p.oneOrMore(v, k.Value)
		case **yamltree.Node:
			if ks.Shape(k.Value) == form.Parts {
				*to = p.parts(v, k.Value)
			} else {
				*to = p.scalar(v, k.Value)
			}
		case **Unless:
			*to = p.unless(v)
		case func(k, v *yamltree.Node):
			to(k, v)
		}
	})
}

// unknownKeyHelp returns what to write for an unknown key: the nearest one, its name in other tools, or where it
// belongs.
func unknownKeyHelp(name string, ks form.Keys) string {
	if help := nearest.DidYouMean(name, ks.Names()); help != "" {
		return help
	}
	for _, alias := range [...]struct{ theirs, ours string }{
		{"if", "when"}, {"condition", "when"}, {"unless", "when"}, {"block", "continue"}, {"deny", "continue"}, {"reason", "continue"},
		{"prompt", "continue"}, {"allow", "stop"}, {"question", "ask"}, {"confirm", "ask"}, {"sleep", "wait"}, {"interval", "every"}, {"max_wait", "for"}, {"message", "notice"}, {"do", "then"}, {"actions", "then"}, {"effects", "then"},
		{"id", "name"}, {"variables", "let"}, {"vars", "let"}, {"steps", "rules"}, {"max", "times"}, {"max", "continuations"}, {"max_iterations", "continuations"}, {"timeout", "elapsed"}, {"time", "elapsed"}, {"budget", "cost"}, {"path", "json"}, {"file", "json"},
		{"import", "include"}, {"uses", "include"}, {"update", "set"}, {"remove", "delete"}, {"version", "ralph"},
	} {
		if alias.theirs == name && ks.Has(alias.ours) {
			return "did you mean " + quote(alias.ours) + "?"
		}
	}
	if slices.Equal(ks.Names(), form.GuardKeys().Names()) && form.PolicyKeys().Has(name) {
		return "only the policy that includes the file can have it"
	}
	return ""
}

func (p *parser) document(root *yamltree.Node, guard bool) *document {
	d := &document{file: p.file, prefix: "ralph", gate: gateFirst, events: []string{vocab.Stop}, limits: defaultLimits()}
	what, ks := "a policy", form.PolicyKeys()
	if guard {
		what, ks = "an included file", form.GuardKeys()
	}
	version := root.Get("ralph")
	switch {
	case version == nil:
		p.errorf(root, "version", "write ralph: 1 as the first line", "the key \"ralph\" with the version of the policy language is missing")
		return nil
	case version.Tag != "!!int" || version.Value != strconv.Itoa(languageVersion):
		p.errorf(version, "version", "write ralph: 1, or use a release of ralph that knows this version",
			"this release reads version %d of the policy language; got %s", languageVersion, p.shown(version))
		return nil
	}
	if !guard {
		p.placeOfWhen(root)
	}
	p.keys(d, root, what, ks)
	return d
}

// keys reads the keys of a policy into its document.
func (p *parser) keys(d *document, root *yamltree.Node, what string, ks form.Keys) {
	p.fields(root, what, ks, func(k, v *yamltree.Node) {
		switch k.Value {
		case "description":
			d.description, _ = p.text(v, k.Value)
			p.uncut(v)
		case "prefix":
			d.prefix = p.prefix(v)
		case "events":
			d.events = p.events(v)
		case "gate":
			d.gate = gateWords()[p.word(v, "gate", gateWords())]
		case "params":
			p.named(v, "params", func(key, val *yamltree.Node) {
				d.params = append(d.params, p.param(key, val))
			})
		case "when":
			d.when = p.oneOrMore(v, "when")
		case "loop":
			d.loop = p.loop(k, v)
		case "facts":
			p.named(v, "facts", func(key, val *yamltree.Node) {
				f, ok := p.fact(key, val)
				if !ok { // reported; rules may still name it
					f = factDecl{name: key.Value, key: key, kind: SourceKind{File: true, Editable: true}}
				}
				d.facts = append(d.facts, f)
			})
		case "memory":
			p.named(v, "memory", func(key, val *yamltree.Node) { d.memory = append(d.memory, p.memory(key, val)) })
		case "let":
			d.lets = p.expressions(v, "let", func(key *yamltree.Node) { d.lost = append(d.lost, key) })
		case "limits":
			p.limits(d, v)
		case "measure":
			d.measure = p.measure(v)
		case "run":
			d.run = p.defaultsOfRun(v)
		case "progress":
			d.progress = p.oneOrMore(v, "progress")
		case "rules":
			d.rules = make([]*ruleDecl, 0, len(v.Items))
			p.each(v, "rules", func(item *yamltree.Node) {
				if r, ok := p.rule(item); ok {
					d.rules = append(d.rules, r)
				}
			})
		case "finally":
			p.each(v, "finally", func(item *yamltree.Node) {
				if f, ok := p.finally(item); ok {
					d.finally = append(d.finally, f)
				}
			})
		}
	})
}

// memory reads a value of memory: its schema, and per among the schema's keys.
func (p *parser) memory(key, n *yamltree.Node) memoryDecl {
	m := memoryDecl{name: key.Value, key: key, schema: n, per: perSession}
	if per := n.Get("per"); per != nil {
		m.per = memoryPer()[p.word(per, "per", memoryPer())]
	}
	return m
}

// prefix reads the prefix of log lines.
func (p *parser) prefix(n *yamltree.Node) string {
	s, ok := p.text(n, "prefix")
	if ok && (strings.TrimSpace(s) == "" || strings.ContainsFunc(s, unicode.IsControl)) {
		p.errorf(n, "bad-value", "write a word such as the name of the loop", "prefix must be a string on one line; got %q", s)
	}
	return s
}

// each iterates over a list; a missing value is an empty list.
func (p *parser) each(n *yamltree.Node, what string, f func(*yamltree.Node)) {
	if n.Kind == yamltree.Scalar && n.Tag == "!!null" {
		return
	}
	if n.Kind != yamltree.List {
		p.errorf(n, "syntax", "begin each item with a dash", "%s must be a list; got %s", what, n.KindName())
		return
	}
	for _, item := range n.Items {
		f(item)
	}
}

// named iterates over a map and checks its names.
func (p *parser) named(n *yamltree.Node, what string, f func(key, value *yamltree.Node)) {
	if n.Kind == yamltree.Scalar && n.Tag == "!!null" {
		return
	}
	if n.Kind != yamltree.Map {
		p.errorf(n, "syntax", "write NAME: VALUE, one a line", "%s must be a map from names to values; got %s", what, n.KindName())
		return
	}
	for _, fl := range n.Fields {
		if !isIdentifier(fl.Key.Value) {
			p.errorf(fl.Key, "bad-name", identifierHelp(fl.Key.Value), "%q cannot be used as a name in expressions", fl.Key.Value)
			continue
		}
		f(fl.Key, fl.Value)
	}
}

// limits reads limits that are numbers into those of the document, and records those that are names of params.
func (p *parser) limits(d *document, n *yamltree.Node) {
	l, most := &d.limits, ceilings()
	l.Written = p.fields(n, "limits", form.LimitKeys(), func(k, v *yamltree.Node) {
		l.HasRepeats = l.HasRepeats || k.Value == "repeats"
		if v.Kind == yamltree.Scalar && v.Tag == "!!str" && isIdentifier(v.Value) {
			d.limitParams = append(d.limitParams, limitParam{k.Value, v})
			return
		}
		switch k.Value {
		case "elapsed":
			if l.Elapsed = p.duration(v, k.Value); l.Elapsed > most.Elapsed {
				p.ceiling(v, k.Value, "720h")
				l.Elapsed = most.Elapsed
			}
		case "cost":
			l.Cost = p.amount(v, k.Value)
		default:
			*l.count(k.Value) = p.capped(v, k.Value, p.count(v, k.Value), *most.count(k.Value))
		}
	}) && len(n.Fields) > 0
}

// measure reads the measure of progress.
func (p *parser) measure(n *yamltree.Node) *measureDecl {
	m := &measureDecl{}
	ok := p.object(n, "measure", form.MeasureKeys(), targets{{"done", &m.done}, {"total", &m.total}})
	if ok && (n.Get("done") == nil || n.Get("total") == nil) {
		p.errorf(n, "syntax", "write for example {done: count(tasks, .done), total: len(tasks)}", "measure needs both done and total")
	}
	if m.done == nil || m.total == nil {
		return nil
	}
	return m
}

// defaultsOfRun reads the policy's settings for ralph run.
func (p *parser) defaultsOfRun(n *yamltree.Node) *runDecl {
	r := &runDecl{at: n.Start, fresh: true}
	client := func(k, v *yamltree.Node) {
		if s, ok := p.text(v, k.Value); ok && (s == "" || strings.TrimSpace(s) != s) {
			p.errorf(v, "bad-value", "write only the program: client: claude", "client must be a program; got %q", s)
		} else if ok {
			r.at, r.args = v.Start, slices.Insert(r.args, 0, s)
			p.placeholders(v)
		}
	}
	args := func(k, v *yamltree.Node) {
		if n.Get("client") == nil {
			p.errorf(k, "syntax", "write the program of the agent: client: claude", "args needs client")
		}
		p.each(v, k.Value, func(item *yamltree.Node) {
			if s := p.scalar(item, "an argument"); s != nil {
				r.args = append(r.args, s.Value)
				p.placeholders(s)
			}
		})
	}
	p.object(n, "run", form.AgentKeys(), targets{{"client", client}, {"args", args}, {"fresh", &r.fresh}, {"iteration", &r.iteration}})
	if v := n.Get("iteration"); v != nil && v.Tag == "!!str" {
		if d, err := time.ParseDuration(v.Value); err == nil && d == 0 {
			p.errorf(v, "bad-value", "write for example 30m", "the time of an iteration must be positive")
		}
	}
	return r
}

// placeholders reports a placeholder in a text that must have none.
func (p *parser) placeholders(n *yamltree.Node) {
	if strings.Contains(n.Value, "${") {
		p.errorf(n, "bad-value", "write the value itself", "the agent's command line cannot have placeholders")
	}
}

// capped returns a number, or its maximum if it is above. 0 is no maximum.
func (p *parser) capped(n *yamltree.Node, what string, value, most int) int {
	if most > 0 && value > most {
		p.ceiling(n, what, strconv.Itoa(most))
	}
	return capped(value, most)
}

// ceiling reports a limit above its maximum.
func (p *parser) ceiling(n *yamltree.Node, what, most string) {
	p.warnf(n, "limit-ceiling", "write "+most+" or less", "%s exceeds the maximum of %s; using %s", what, most, most)
}

// param reads a param: a setting with a schema, or a fact that the includer passes.
func (p *parser) param(key, n *yamltree.Node) paramDecl {
	d := paramDecl{name: key.Value, key: key, schema: n}
	if n.Get("fact") == nil {
		if private := n.Get("private"); private != nil {
			d.private = p.boolean(private, "private")
		}
		return d
	}
	p.object(n, "a param for a fact", form.FactParamKeys(), targets{{"fact", &d.fact}, {"inline", func(_, v *yamltree.Node) { d.inline = p.boolean(v, "inline") }}})
	return d
}
