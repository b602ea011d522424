package rules

import (
	"time"

	"github.com/ralph-sdk/ralph/internal/nearest"
	"github.com/ralph-sdk/ralph/internal/yamltree"
	"github.com/ralph-sdk/ralph/schema"
)

// limits sets the limits that are names of params. A param above the maximum of its limit counts as the maximum,
// without a finding: a user set it.
func (c *compiler) limits(doc *document, sc *scope) {
	l, most := &c.program.head.limits, ceilings()
	l.Progress = len(doc.progress) > 0
	for _, d := range doc.limitParams {
		sym := sc.symbols[d.node.Value]
		if sym == nil || sym.kind != constSymbol {
			names := doc.paramNames()
			c.errorf(sc, d.node, "unknown-name", nearest.DidYouMean(d.node.Value, names),
				"limits.%s must be a literal or the name of a param; got %q; %s", d.key, d.node.Value, theyAre("the params", names))
			continue
		}
		sym.used.Store(true)
		c.index.node(sc, d.node)
		if sym.typ == nil || sym.value == nil { // reported at the param
			continue
		}
		wrong := func(want string) {
			c.errorf(sc, d.node, "type", "", "limits.%s must be %s; the param %q is %s", d.key, want, d.node.Value, sym.typ)
		}
		unfit := func(want string) {
			c.errorf(sc, d.node, "param-value", "", "limits.%s must be %s; the param %q is %s", d.key, want, d.node.Value, display(sym.value))
		}
		switch d.key {
		case "elapsed":
			text, ok := sym.value.(string)
			if !ok {
				wrong("a duration such as \"30m\"")
				continue
			}
			span, err := time.ParseDuration(text)
			if err != nil || span < 0 {
				unfit("a duration such as 30m")
				continue
			}
			l.Elapsed = capped(span, most.Elapsed)
		case "cost":
			switch v := sym.value.(type) {
			case int:
				l.Cost = float64(v)
			case float64:
				l.Cost = v
			default:
				wrong("a number")
			}
			if l.Cost < 0 {
				unfit("a number, 0 or more")
			}
		default:
			n, ok := sym.value.(int)
			switch {
			case !ok || sym.typ.Kind != schema.Int:
				wrong("a whole number")
			case n < 0:
				unfit("a whole number, 0 or more")
			default:
				*l.count(d.key) = capped(n, *most.count(d.key))
			}
		}
	}
}

// measure compiles the progress: when it is first evaluated if the program is loaded lazily, since most hooks never
// need it.
func (c *compiler) measure(doc *document, sc *scope) {
	if doc.measure == nil {
		return
	}
	for _, n := range []*yamltree.Node{doc.measure.done, doc.measure.total} {
		c.program.head.measure = append(c.program.head.measure, c.addText(&text{scope: sc, node: n, expr: true}))
	}
}

// runDefaults reads the defaults for ralph run.
func (c *compiler) runDefaults(doc *document, sc *scope) {
	d := doc.run
	if d == nil {
		return
	}
	run := &struct {
		Agent     *Fact
		Fresh     bool
		Iteration time.Duration
	}{Fresh: d.fresh, Iteration: d.iteration}
	if len(d.args) > 0 {
		kind := runKind()
		kind.Doc = "The agent of ralph run."
		run.Agent = &Fact{Name: "agent of ralph run", Source: kind, Args: d.args, Known: d.args, Pos: sc.file.at(d.at)}
	}
	c.program.Run = run
}

// number compiles an expression whose value must be a number.
func (c *compiler) number(sc *scope, n *yamltree.Node) []segment {
	s := snippetOf(sc, n)
	root, nt := c.expression(s, false)
	if root != nil && !isUnknown(nt) && (!nt.IsNumber() || nt.IsDuration()) {
		from, to := s.trimmed()
		c.report(sc.file, s.at(from), s.at(to), Error, "type", "", "measure takes numbers; got "+typeName(nt))
	}
	return []segment{{placeholder: root, src: n.Value, broken: root == nil}}
}
