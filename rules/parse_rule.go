package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/form"
	"github.com/ralph-sdk/ralph/internal/yamltree"
)

func (p *parser) rule(n *yamltree.Node) (*ruleDecl, bool) {
	r := &ruleDecl{node: n}
	if n.Kind != yamltree.Map {
		p.errorf(n, "syntax", "write - name: …", "a rule must be a map with the keys %s; got %s", list(form.RuleKeys().Names()), n.KindName())
		return r, false
	}
	if n.Get("include") != nil {
		with := func(_, v *yamltree.Node) {
			r.blind = v.Kind != yamltree.Map
			r.with = p.expressions(v, "with", func(key *yamltree.Node) { r.lost = append(r.lost, key.Value) })
		}
		p.object(n, "an include", form.IncludeKeys(), targets{{"include", &r.include}, {"with", with}, {"as", &r.as}})
		return r, r.include != nil
	}
	var found []*yamltree.Node
	verb := func(k, v *yamltree.Node) {
		found = append(found, k)
		r.text, r.verb = p.parts(v, k.Value), k.Value
	}
	then := func(_, v *yamltree.Node) {
		p.each(v, "then", func(item *yamltree.Node) {
			if e, ok := p.effect(item); ok {
				r.then = append(r.then, e)
			}
		})
	}
	if p.rules == nil {
		p.rules = form.RuleKeys()
	}
	p.object(n, "a rule", p.rules, targets{
		{"name", &r.name}, {"when", &r.when}, {verbContinue, verb}, {verbStop, verb}, {verbAsk, verb}, {verbWait, verb}, {verbNote, verb}, {"then", then}, {"success", &r.success}, {"empty", choice{&r.empty, emptyWords()}},
		{"notice", &r.notice}, {"log", &r.log}, {"unless_repeated", &r.unless}, {"until", &r.until}, {"every", &r.await.Every}, {"for", &r.await.For}, {"on_unknown", choice{&r.halt, haltWords()}},
	})
	if at := n.Get("success"); at != nil && r.verb != verbStop {
		p.errorf(at, "success", "write it beside stop:, in the rule that finds the work done", "success needs stop in the same rule")
	}
	if at := n.Get("empty"); at != nil && !r.success {
		p.errorf(at, "success", "write success: true beside it", "empty needs success in the same rule")
	}
	if len(found) > 1 {
		p.errorf(found[1], "verbs", "make two rules of it", "a rule must have at most one of continue, stop, ask, wait and note; got %s and %s", found[0].Value, found[1].Value)
	}
	p.wait(n, r)
	if at := n.Get("on_unknown"); at != nil && r.verb != verbContinue {
		p.errorf(at, "on-unknown", "remove it: a rule that stops ends the trying by itself, and other rules decide nothing", "on_unknown needs continue in the same rule")
	}
	switch {
	case n.Get("name") == nil:
		p.errorf(firstKey(n), "rule-name", "add name: with a name in kebab-case", "this rule has no name")
	case r.name != nil && !isKebab(r.name.Value):
		p.errorf(r.name, "rule-name", kebabHelp(r.name.Value), "the rule name %q is not kebab-case", r.name.Value)
	}
	if r.name == nil { // reported, and so are other problems of the rule
		r.name = &yamltree.Node{Kind: yamltree.Scalar, Tag: "!!str", Value: fmt.Sprintf("line-%d-%d", n.Start.Line, n.Start.Col), Start: n.Start}
	}
	return r, true
}

// wait checks the keys of a rule that waits.
func (p *parser) wait(n *yamltree.Node, r *ruleDecl) {
	every, most, at := n.Get("every"), n.Get("for"), n.Get(verbWait)
	if at == nil {
		for _, key := range [...]string{"until", "every", "for"} {
			if at := n.Get(key); at != nil {
				p.errorf(at, "wait", "write it beside wait:", "%s needs wait in the same rule", key)
			}
		}
		return
	}
	if n.Get("until") == nil {
		p.errorf(at, "wait", `add until: with the condition that ends the wait, such as until: exists("report.md")`, "a wait needs until")
	}
	switch d := r.await.For; {
	case most == nil:
		p.errorf(at, "wait", "add for: with the longest wait, such as for: 30m", "a wait needs for")
	case isSpan(most) && (d <= 0 || d > maxWait):
		p.errorf(most, "wait", "write for: 24h, or less", "for must be more than 0 and at most 24h; got %s", most.Value)
	}
	switch {
	case every == nil:
		r.await.Every = defaultEvery
	case isSpan(every) && r.await.Every < leastEvery:
		p.errorf(every, "wait", "write every: 10s, or more", "every must be 10s or more; got %s", every.Value)
	}
}

// isSpan reports whether a node is a duration; others are reported where they are read.
func isSpan(n *yamltree.Node) bool {
	_, err := time.ParseDuration(n.Value)
	return err == nil && n.Kind == yamltree.Scalar
}

func (p *parser) unless(n *yamltree.Node) *Unless {
	u := &Unless{Per: perSession}
	times := func(k, v *yamltree.Node) { u.Times = p.capped(v, k.Value, p.count(v, k.Value), maxSaid) }
	if !p.object(n, "unless_repeated", form.UnlessKeys(), targets{{"times", times}, {"within", &u.Within}, {"per", choice{&u.Per, perWords()}}}) {
		return nil
	}
	if times := n.Get("times"); u.Times == 0 && (times == nil || times.Value == "0") {
		p.errorf(n, "unless-times", "write times: 1 to use the rule once", "unless_repeated needs times, 1 or more")
		return nil
	}
	return u
}

// effectKeys returns the keys of an effect, including those of the embedding program.
func (l *loading) effectKeys() form.Keys {
	ks := form.EffectKeys()
	for _, e := range l.cfg.Effects {
		ks = slices.DeleteFunc(ks, func(k form.Key) bool { return k.Name == e.Name })
		ks = append(ks, form.Key{Name: e.Name, Shape: form.Any, Doc: e.Doc})
	}
	return ks
}

// isEffect reports whether ralph itself has an effect of this name. A program may declare its own run, which replaces
// ralph's.
func isEffect(name string) bool { return form.EffectKeys().Has(name) && name != "run" || name == "log" }

func (p *parser) effect(n *yamltree.Node) (effectDecl, bool) {
	var e effectDecl
	ks := p.load.effectKeys()
	if n.Kind == yamltree.Map && n.Get("run") != nil && p.load.effect("run") == nil {
		return p.run(n)
	}
	if n.Kind != yamltree.Map || len(n.Fields) != 1 {
		at := n
		if len(n.Fields) > 1 {
			at = n.Fields[1].Key
		}
		p.errorf(at, "syntax", "write one effect an item: - set: fact.field = value", "an effect must be one of %s", list(ks.Names()))
		return e, false
	}
	if help := meantEffect(n.Fields[0], ks); help != "" {
		p.errorf(n.Fields[0].Key, "unknown-key", help, "unknown key %q in %s; expected one of %s", n.Fields[0].Key.Value, "an effect", few(ks.Names()))
		return e, false
	}
	ok := true
	p.fields(n, "an effect", ks, func(k, v *yamltree.Node) {
		switch kind := EffectKind(k.Value); kind {
		case SetEffect, RememberEffect:
			e.kind, e.node = kind, p.assignment(v, k.Value)
		case DeleteEffect, ArchiveEffect:
			e.kind, e.node = kind, p.scalar(v, k.Value)
		case PruneEffect:
			e, ok = p.prune(v)
		default:
			e.kind, e.own, e.node = OwnEffect, p.load.effect(k.Value), v
		}
		e.at = k.Start
	})
	return e, ok && e.node != nil
}

// meantEffect returns what to write for another tool's name of an effect, or "".
func meantEffect(f yamltree.Field, ks form.Keys) string {
	word := f.Key.Value
	switch {
	case ks.Has(word):
	case slices.Contains([]string{"shell", "sh", "bash", "exec", "command", "cmd", "script", "program", "call"}, word):
		program := "[program, argument]"
		switch {
		case f.Value.Kind == yamltree.Scalar:
			program = strings.TrimPrefix(execOf(f.Value.Value), "exec: ")
		case f.Value.Kind == yamltree.List && len(f.Value.Items) > 0:
			words := make([]string, len(f.Value.Items))
			for i, item := range f.Value.Items {
				words[i] = item.Value
			}
			program = "[" + strings.Join(words, ", ") + "]"
		}
		return "write {run: " + program + "}"
	case form.RuleKeys().Has(word):
		return "write " + word + ": in the rule, beside then:"
	case slices.Contains([]string{"notify", "message", "print", "echo"}, word):
		return "write notice: in the rule, beside then:, to show the user a string"
	case slices.Contains([]string{"create", "touch", "write", "append", "update"}, word):
		return "write set: fact.field = expression; it makes the file of a fact that has a default"
	}
	return ""
}

// assignment accepts a string such as fact.field = expression.
func (p *parser) assignment(n *yamltree.Node, what string) *yamltree.Node {
	if n.Kind == yamltree.Map && len(n.Fields) == 1 && n.Fields[0].Value.Kind == yamltree.Scalar {
		p.errorf(n, "syntax", fmt.Sprintf("write %s: %s = %s", what, n.Fields[0].Key.Value, n.Fields[0].Value.Value), "%s must be a string; got a map", what)
		return nil
	}
	return p.scalar(n, what)
}

// runKind returns the source of a program that an effect runs, for approvals.
func runKind() SourceKind {
	return SourceKind{Name: "run", Doc: "A program that an effect runs.", Argument: argumentWords, Trust: "runs a program", Timeout: runTimeout}
}

func (p *parser) run(n *yamltree.Node) (effectDecl, bool) {
	e := effectDecl{kind: RunEffect, node: n}
	program := func(k, v *yamltree.Node) { e.at, e.args = k.Start, p.arguments(runKind(), v) }
	covers := func(_, v *yamltree.Node) { e.covers = p.covers(v) }
	p.object(n, "run", form.RunKeys(), targets{{"run", program}, {"timeout", &e.limit}, {"covers", covers}})
	return e, len(e.args) > 0
}

func (p *parser) prune(n *yamltree.Node) (effectDecl, bool) {
	e := effectDecl{kind: PruneEffect, node: n}
	ok, older := p.object(n, "prune", form.PruneKeys(), targets{{"glob", &e.glob}, {"older", &e.older}}), n.Get("older") != nil
	if ok && (n.Get("glob") == nil || !older) {
		p.errorf(n, "prune", `write for example {glob: "tmp/*.md", older: 60m}`, "prune needs both glob and older")
	}
	return e, ok && e.glob != nil && older
}

func (p *parser) finally(n *yamltree.Node) (finallyDecl, bool) {
	var f finallyDecl
	pruned := false
	prune := func(k, v *yamltree.Node) {
		f.effect, pruned = p.prune(v)
		f.effect.at = k.Start
	}
	p.object(n, "a finally entry", form.FinallyKeys(), targets{{"name", &f.name}, {"when", &f.when}, {"prune", prune}, {"log", &f.log}})
	if n.Kind == yamltree.Map && n.Get("prune") == nil && n.Get("log") == nil {
		p.errorf(firstKey(n), "syntax", "add prune or log", "a finally entry needs prune or log")
	}
	return f, (pruned || f.log != nil) && (f.when != nil || n.Get("when") == nil)
}
