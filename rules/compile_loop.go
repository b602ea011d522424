package rules

import (
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/nearest"
	"github.com/ralph-sdk/ralph/internal/yamltree"
	"github.com/ralph-sdk/ralph/schema"
)

// Loop is the loop section of a policy: the piece of work that it keeps going. Use [Program.Loop] to get one.
type Loop struct {
	// State is the fact that holds the loop's state: while it is missing there is no loop.
	State *Fact
	// Archived reports whether a rule of the policy archives the state.
	Archived bool
	// Owner is the field of State with the loop's session, as a path of names; nil if the policy has no owner, or not
	// as such a path.
	Owner []any
	// Start lists the facts that [Program.Start] writes, in order; nil if the policy does not declare how its loop
	// starts.
	Start []*Fact
	// Uses lists the names after "start." that Start reads: name, prompt, promise, max and session.
	Uses []string
	// Argument is what the argument of ralph start sets: "prompt", "name", or "" if Uses has neither.
	Argument string
	// Word is what that argument is to people: prompt, or what the policy calls its loop, as feature for name: ${feature};
	// otherwise name.
	Word string
}

// Loop returns the policy's loop, or nil if it has none. The result must not be modified.
func (p *Program) Loop() *Loop {
	if p = p.loaded(); p.head.loop == nil {
		return nil
	}
	return &p.head.loop.info
}

// loop is the compiled loop of a policy.
type loop struct {
	info  Loop
	pos   Pos // of its state
	name  *text
	on    *cond
	owner *cond
	start []startFact
}

// startFact is a fact that starting a loop writes.
type startFact struct {
	fact  *Fact
	node  *yamltree.Node
	value *template
}

// loop compiles the loop section of the policy.
func (c *compiler) loop(doc *document, sc *scope) {
	d := doc.loop
	if d == nil {
		return
	}
	name := strings.TrimSpace(d.state.Value)
	s := sc.symbols[name]
	if s == nil || s.kind != factSymbol {
		facts := sc.facts(nil)
		c.errorf(sc, d.state, "unknown-fact", nearest.DidYouMean(name, facts), "the state of a loop must be a fact; got %q; %s", name, theyAre("the facts", facts))
		return
	}
	s.used.Store(true)
	c.index.node(sc, d.state)
	l := &loop{info: Loop{State: s.fact}, pos: sc.file.at(d.state.Start), on: c.conditions(sc, d.on), name: c.newText(sc, d.name)}
	if d.owner != nil {
		snip := snippetOf(sc, d.owner)
		root, nt := c.expression(snip, false)
		if l.owner = root; root != nil {
			c.checkValue(snip, root, nt, &schema.Schema{Kind: schema.String, Nullable: true, Optional: true}, "the owner of the loop", "type")
			c.checkShown(sc, d.owner, root, "owner")
			if p := rootTerm(root); p != nil && p.sym == s {
				for _, step := range p.path {
					l.info.Owner = append(l.info.Owner, step)
				}
			}
		}
	}
	if l.name != nil && !c.lazy {
		for _, part := range c.program.compiled(l.name) {
			for _, seg := range part.segs {
				c.checkShown(sc, d.name, seg.placeholder, "name")
			}
		}
	}
	own := *sc
	own.starts = true
	for _, f := range d.start {
		if fact := c.startFact(sc, &own, f, &l.info); fact != nil {
			l.start = append(l.start, *fact)
			l.info.Start = append(l.info.Start, fact.fact)
		}
	}
	for _, name := range []string{"prompt", "name"} {
		if l.info.Argument == "" && slices.Contains(l.info.Uses, name) {
			l.info.Argument = name
		}
	}
	l.info.Word = l.info.Argument
	if word := wholeName(d.name); l.info.Argument == "name" && sc.symbols[word] != nil {
		l.info.Word = word
	}
	c.program.head.loop = l
}

// wholeName returns the name that is the one placeholder of a text, or "".
func wholeName(n *yamltree.Node) string {
	if n == nil {
		return ""
	}
	inner, opened := strings.CutPrefix(strings.TrimSpace(n.Value), "${")
	inner, closed := strings.CutSuffix(inner, "}")
	if inner = strings.TrimSpace(inner); !opened || !closed || !isIdentifier(inner) {
		return ""
	}
	return inner
}

// rootTerm returns the path that a whole expression is, or nil.
func rootTerm(root *cond) *term {
	if root.op != leaf || root.operand.plain == nil || root.operand.plain.sym == nil {
		return nil
	}
	return root.operand.plain
}

// checkShown reports an expression that the log shows although it reads something private.
func (c *compiler) checkShown(sc *scope, n *yamltree.Node, root *cond, what string) {
	if root != nil && readsPrivate(root, map[*symbol]bool{}) {
		c.errorf(sc, n, "loop-private", "leave "+what+" out, or use a value that the log may show",
			"the %s of a loop is shown in the log, and this reads something private", what)
	}
}

// readsPrivate reports whether an expression reads something that the log hides.
func readsPrivate(root *cond, seen map[*symbol]bool) (found bool) {
	root.walk(func(o *operand) {
		for _, s := range o.uses.syms {
			switch {
			case s.private:
				found = true
			case s.kind == nameSymbol:
				found = found || o.uses.looksInto(s, s.info.mark)
			case s.kind == factSymbol:
				found = found || o.uses.looksInto(s, s.fact.plan.private)
			case s.kind == letSymbol && s.let.root != nil && !seen[s]:
				seen[s] = true
				found = found || readsPrivate(s.let.root, seen)
			}
		}
	})
	return found
}

// startFact compiles what a start writes into one fact. It reports problems and then returns nil.
func (c *compiler) startFact(sc, own *scope, f yamltree.Field, info *Loop) *startFact {
	s := sc.symbols[f.Key.Value]
	writable := func(f *Fact) bool { return f.Source.File && (f.Source.Editable || f.Source.Name == "text") }
	if s == nil || s.kind != factSymbol || !writable(s.fact) {
		facts := sc.facts(writable)
		c.errorf(sc, f.Key, "unknown-fact", nearest.DidYouMean(f.Key.Value, facts),
			"start must name facts that have a file; got %q; %s", f.Key.Value, theyAre("they", facts))
		return nil
	}
	s.used.Store(true)
	c.index.node(sc, f.Key)
	out := &startFact{fact: s.fact, node: f.Value}
	switch isObject := f.Value.Kind == yamltree.Map; {
	case s.fact.Source.Editable && !isObject:
		c.errorf(sc, f.Value, "syntax", "write {FIELD: VALUE}", "%q must be an object; got %s", f.Key.Value, f.Value.KindName())
		return nil
	case !s.fact.Source.Editable && f.Value.Kind != yamltree.Scalar:
		c.errorf(sc, f.Value, "syntax", "write ${start.name}", "%q must be a string; got %s", f.Key.Value, f.Value.KindName())
		return nil
	}
	if t := s.typ; t != nil && len(t.Fields) > 0 {
		for _, field := range f.Value.Fields {
			if name := field.Key.Value; t.Fields[name] == nil {
				c.errorf(sc, field.Key, "unknown-field", nearest.DidYouMean(name, fieldNames(t)), "%q has no field %q; it has %s", f.Key.Value, name, list(fieldNames(t)))
			}
		}
	}
	out.value = c.template(own, f.Value, func(t *text) {
		for _, name := range startNames() {
			if strings.Contains(t.node.Value, "start."+name) && !slices.Contains(info.Uses, name) {
				info.Uses = append(info.Uses, name)
			}
		}
	})
	return out
}

// startNames returns the names after "start.".
func startNames() []string { return []string{"name", "prompt", "promise", "max", "session"} }

// checkHead reports reads in the head that are known only once rules are tried.
func (c *compiler) checkHead() {
	look := func(root *cond) {
		root.walk(func(o *operand) {
			readBy(&cond{op: leaf, operand: o}, map[*symbol]bool{}, func(s *symbol) {
				if s.kind == nameSymbol && s.info.Memory {
					c.report(o.src.snippet.scope.file, o.src.snippet.at(o.src.from), o.src.snippet.at(o.src.to), Error, "early-name", "test it in the when of a rule",
						quote(s.name)+" is known only when rules are tried, and this is read before")
				}
			})
		})
	}
	look(c.program.head.when)
	if l := c.program.head.loop; l != nil {
		look(l.on)
		look(l.owner)
	}
}
