// Package graph draws the procedure by which a policy decides: as SVG, as text for people and for Mermaid, and as JSON.
// It may change in any version.
//
// [New] returns the graph of a policy, computed from the program and [Marks] only. The texts of a policy become labels,
// which no format interprets as its own syntax. The package leaves out the page that shows graphs. Start with [New],
// then [Graph.SVG].
package graph

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/amount"
	"github.com/ralph-sdk/ralph/rules"
)

// Graph is a policy as nodes and edges. Its JSON form is that of ralph graph --format json. New fields may be added.
type Graph struct {
	V           int      `json:"v"`      // 1
	Policy      string   `json:"policy"` // the policy's file
	Description string   `json:"description,omitempty"`
	Gate        string   `json:"gate"`   // first: the first rule that holds decides; all: every continue rule that holds counts
	Events      []string `json:"events"` // that the policy decides
	Nodes       []Node   `json:"nodes"`  // in the order in which they are tried, each question before its verdict; the facts are last
	Edges       []Edge   `json:"edges"`
	Counts      *Counts  `json:"counts,omitempty"`
	Way         *Way     `json:"way,omitempty"`
}

// Node is a box of a graph. Its texts are as written in the policy, each on one line and shortened to 500 characters.
type Node struct {
	ID      string        `json:"id"`               // r0, v0, …: unique in the graph
	Kind    string        `json:"kind"`             // start, head, rule, limits, verdict, end, include or fact
	Name    string        `json:"name,omitempty"`   // of a rule, fact or include; of the head: off, when, loop.on, loop.state or loop.owner; of the start: the events
	Verb    string        `json:"verb,omitempty"`   // of a verdict or end: continue, stop, done (a stop with success), ask, wait, note, then (effects only) or idle
	Source  string        `json:"source,omitempty"` // of a fact
	When    string        `json:"when,omitempty"`   // of a rule, the head or the limits: the condition; "" is always true
	Text    string        `json:"text,omitempty"`   // of a fact: what it reads; of an include: its file; of others: in words
	Parts   []Part        `json:"parts,omitempty"`  // of a rule's verdict: its text
	Effects []string      `json:"effects,omitempty"`
	Until   string        `json:"until,omitempty"`   // of a rule with wait: the condition that ends the wait
	Unless  string        `json:"unless,omitempty"`  // of a rule: how often it decides, or how long it waits
	Parent  string        `json:"parent,omitempty"`  // the include with the node
	Pos     rules.Pos     `json:"pos,omitzero"`      // of a rule or fact
	Count   *Count        `json:"count,omitempty"`   // of a rule, the limits or the default, with Marks.Counts
	Outcome rules.Outcome `json:"outcome,omitempty"` // of a rule, with Marks.Way
	mark    string        // what is next to its name
}

// Part is a part of a verdict's text.
type Part struct {
	When string `json:"when,omitempty"` // its condition; "" is always true
	Text string `json:"text"`
}

// Edge connects two nodes.
type Edge struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Kind is next (tried next), verdict (what a rule, the head or a limit decides), reads (a fact that decides its
	// reader), or shows (a fact that only texts and effects read).
	Kind   string `json:"kind"`
	Answer string `json:"answer,omitempty"` // yes or no, the answer that leads this way; "" if both do
	Count  *int   `json:"count,omitempty"`  // how many decisions or tests went this way, with Marks.Counts
	Way    bool   `json:"way,omitempty"`    // the marked situation went this way
}

// Marks are what a graph shows of a policy's use. The zero Marks show nothing.
type Marks struct {
	Counts *Counts // nil shows none
	Way    *Way    // nil marks none
}

// Counts has how often the rules of a policy were tried, held and decided.
type Counts struct {
	Of     string           `json:"of"` // what is counted: decisions or tests
	Total  int              `json:"total"`
	Older  int              `json:"older,omitempty"` // decisions with an older version of the policy, which do not count
	None   int              `json:"none"`            // decisions or tests without a deciding rule
	Limits int              `json:"limits"`          // those that a limit made a stop
	Rules  map[string]Count `json:"-"`               // by name
}

// Count is how often a rule was tried and held, and how often it decided: its continue was given, or its stop.
type Count struct {
	Reached int `json:"reached"`
	Held    int `json:"held"`
	Decided int `json:"decided"`
}

// Add counts a decision: the outcomes of rules, and the rule, limit or error that decided.
func (c *Counts) Add(steps []*rules.Step, decided string) {
	if c.Rules == nil {
		c.Rules = map[string]Count{}
	}
	for _, s := range steps {
		n := c.Rules[s.Rule]
		n.Reached++
		if s.Outcome == rules.Holds {
			n.Held++
			if s.Rule == decided {
				n.Decided++
			}
		}
		c.Rules[s.Rule] = n
	}
	switch c.Total++; {
	case strings.HasPrefix(decided, "limits."):
		c.Limits++
	case len(steps) > 0 && decided == "":
		c.None++
	}
}

// Way is the path of one situation through the policy.
type Way struct {
	Decided string        `json:"decided,omitempty"` // the rule or limit that decided, "" if none did
	Ended   string        `json:"ended,omitempty"`   // the part of the head at which it ended: when, on, state or owner; "" if rules were tried
	Steps   []*rules.Step `json:"-"`
}

// builder builds a graph.
type builder struct {
	*Graph
	includes []string          // open ones, by prefix
	ids      map[string]string // of facts by name, and of includes by prefix
	last     string            // the node before the next one, or ""
	answer   string            // of the last node, that leads to the next one
	onWay    bool              // the marked situation reached this node
	counts   Counts            // none without Marks.Counts
	given    int               // how many decisions gave a continue
}

// New returns the graph of a policy.
func New(p *rules.Program, m Marks) *Graph {
	g := &Graph{V: 1, Policy: p.Name, Description: line(p.Description), Gate: p.Gate, Events: slices.Clone(p.Events), Counts: m.Counts, Way: m.Way}
	b := &builder{Graph: g, ids: map[string]string{}, onWay: m.Way != nil, last: "start"}
	if m.Counts != nil {
		b.counts = *m.Counts
	}
	outline, facts, decided := p.Outline(), p.Facts(), p.Rules()
	for i, f := range facts {
		b.ids[f.Name] = fmt.Sprint("f", i)
	}
	b.node(Node{ID: "start", Kind: "start", Name: line(strings.Join(p.Events, ", "))})
	b.head(rules.Outline{Kind: "off"})
	for i, o := range outline[:len(outline)-len(facts)] {
		if n := i - (len(outline) - len(facts) - len(decided)); n < 0 {
			b.head(o)
		} else {
			b.rule(n, decided[n], o)
		}
	}
	b.ends(p)
	for i, f := range facts {
		id := b.ids[f.Name]
		b.node(Node{ID: id, Kind: "fact", Name: f.Name, Source: f.Source.Name, Text: line(strings.Join(f.Args, " ")), Pos: f.Pos})
		b.reads(id, "reads", outline[len(outline)-len(facts)+i].Reads)
	}
	return g
}

func (b *builder) node(n Node) { b.Nodes = append(b.Nodes, n) }

// next connects a node with the one above it.
func (b *builder) next(id string, count *int) {
	if b.last != "" {
		b.Edges = append(b.Edges, Edge{From: b.last, To: id, Kind: "next", Answer: b.answer, Count: count, Way: b.onWay})
	}
	b.last, b.answer = id, ""
}

// counted returns what is counted, nil without counts.
func counted[T any](b *builder, what T) *T {
	if b.Counts == nil {
		return nil
	}
	return &what
}

// reads connects a reader with its facts.
func (b *builder) reads(id, kind string, facts []string) {
	for _, f := range facts {
		b.Edges = append(b.Edges, Edge{From: b.ids[f], To: id, Kind: kind})
	}
}

// head adds a question before the rules, and the end to which one answer leads. Only the first has a count: a decision
// that ends in the head does not say where.
func (b *builder) head(o rules.Outline) {
	q := map[string]struct{ name, when, text, why string }{
		"off":   {"off", "", "RALPH_OFF, .ralph/off, ralph pause, ralph stop, or a run that decides instead", "switched off"},
		"when":  {"when", o.When, "", "not for this event"},
		"on":    {"loop.on", o.When, "", "switched off"},
		"state": {"loop.state", "not missing(" + o.Name + ")", "", "there is no loop"},
		"owner": {"loop.owner", o.When, "is empty or this session", "the loop of another session"},
	}[o.Kind]
	end, pass, count := "no", "yes", (*int)(nil)
	if o.Kind == "off" {
		end, pass, count = "yes", "no", counted(b, b.counts.Total)
	}
	n := Node{ID: "h_" + o.Kind, Kind: "head", Name: q.name, When: line(q.when), Text: q.text}
	b.node(n)
	b.next(n.ID, count)
	ends := b.onWay && b.Way.Ended == o.Kind
	b.verdict(Node{ID: "v_" + o.Kind, Verb: "idle", Text: q.why}, Edge{From: n.ID, Answer: end, Way: ends})
	b.answer, b.onWay = pass, b.onWay && !ends
	b.reads(n.ID, "reads", o.Reads)
}

// verdict adds a verdict, and what leads to it.
func (b *builder) verdict(n Node, e Edge) {
	n.Kind, e.To, e.Kind = "verdict", n.ID, "verdict"
	b.node(n)
	b.Edges = append(b.Edges, e)
}

// deciding reports whether a rule decides once it holds.
func deciding(r *rules.Rule) bool { return new(rules.Action).UnmarshalText([]byte(r.Verb)) == nil }

// rule adds a rule and its decision.
func (b *builder) rule(i int, r *rules.Rule, o rules.Outline) {
	n := Node{ID: fmt.Sprint("r", i), Kind: "rule", Name: r.Name, When: line(o.When), Pos: r.Pos, Parent: b.include(r)}
	if u := r.Unless; u != nil {
		n.Unless = fmt.Sprintf("at most %d× per %s", u.Times, u.Per)
		if u.Within > 0 {
			n.Unless += " in " + amount.Time(u.Within)
		}
	}
	if w := r.Await; w != nil {
		n.Until, n.Unless = line(o.Until), strings.TrimPrefix(n.Unless+", for at most "+amount.Time(w.For), ", ")
	}
	if r.Halts {
		n.Unless = strings.TrimPrefix(n.Unless+", stops if it is unknown", ", ")
	}
	count, decides := b.counts.Rules[r.Name], deciding(r)
	stops := decides && r.Verb != "continue"
	if r.Verb == "continue" {
		b.given += count.Decided
	}
	n.Count = counted(b, count)
	if b.Way != nil {
		step := slices.IndexFunc(b.Way.Steps, func(s *rules.Step) bool { return s.Rule == r.Name })
		if b.onWay = b.onWay && step >= 0; step >= 0 {
			n.Outcome = b.Way.Steps[step].Outcome
			n.mark = string(n.Outcome)
		}
	}
	b.node(n)
	b.next(n.ID, counted(b, count.Reached))
	b.reads(n.ID, "reads", o.Reads)
	b.reads(n.ID, "shows", o.Shows)
	v := Node{ID: fmt.Sprint("v", i), Verb: cmp.Or(r.Verb, "then"), Parent: n.Parent}
	if r.Success {
		v.Verb = "done"
	}
	for _, t := range o.Text {
		v.Parts = append(v.Parts, Part{line(t.When), line(t.Text)})
	}
	for _, e := range o.Effects {
		v.Effects = append(v.Effects, line(e))
	}
	if decides && count.Decided != count.Held {
		v.mark = fmt.Sprint("decided ", count.Decided)
	}
	holds, always := n.Outcome == rules.Holds, o.When == "" && r.Unless == nil && r.Await == nil
	e := Edge{From: n.ID, Count: counted(b, count.Held), Way: b.onWay && holds && (!stops || r.Name == b.Way.Decided)}
	if !always {
		e.Answer = "yes"
	}
	b.verdict(v, e)
	if r.Verb == "continue" {
		e.From, e.To, e.Kind, e.Answer = v.ID, "limits", "next", ""
		b.Edges = append(b.Edges, e)
	}
	if stops || decides && b.Gate != "all" {
		b.answer = "no"
		if b.onWay = b.onWay && !holds; always {
			b.last = "" // nothing passes it
		}
	}
}

// ends adds what decides if no rule does, and the limits of those that continue.
func (b *builder) ends(p *rules.Program) {
	if b.last != "" {
		end := Node{ID: "none", Kind: "end", Name: "default", Verb: "idle", Text: "the default: no rule decides"}
		if slices.ContainsFunc(p.Rules(), deciding) {
			end.Verb = "stop"
		}
		none := b.counts.None
		end.Count = counted(b, Count{none, none, none})
		b.node(end)
		b.onWay = b.onWay && b.Way.Decided == ""
		b.next(end.ID, counted(b, none))
	}
	limited := b.Way != nil && strings.HasPrefix(b.Way.Decided, "limits.")
	wanted := slices.DeleteFunc(slices.Clone(b.Edges), func(e Edge) bool { return e.To != "limits" })
	if len(wanted) == 0 {
		return
	}
	stops := b.counts.Limits
	b.node(Node{ID: "limits", Kind: "limits", Name: "limits", When: reached(p.Limits()), Count: counted(b, Count{b.given + stops, stops, stops})})
	b.verdict(Node{ID: "v_limits", Verb: "stop", Text: "a limit is reached"}, Edge{From: "limits", Answer: "yes", Count: counted(b, stops), Way: limited})
	b.node(Node{ID: "continue", Kind: "end", Verb: "continue", Text: "the agent gets the text"})
	b.last, b.answer, b.onWay = "limits", "no", !limited && slices.ContainsFunc(wanted, func(e Edge) bool { return e.Way })
	b.next("continue", counted(b, b.given))
}

// reached returns the condition under which a limit is reached.
func reached(l rules.Limits) string {
	all := fmt.Sprintf("failures > %d or continuations >= %d or total >= %d or elapsed >= %s", l.Failures, l.Continuations, l.Total, amount.Time(l.Elapsed))
	if l.HasRepeats {
		all += fmt.Sprint(" or repeats >= ", l.Repeats)
	}
	for _, o := range []struct {
		name string
		most float64 // 0 is no limit
	}{{"iterations", float64(l.Iterations)}, {"tokens", float64(l.Tokens)}, {"cost", l.Cost}} {
		if o.most > 0 {
			all += fmt.Sprintf(" or %s >= %.12g", o.name, o.most)
		}
	}
	return all
}

// include opens and closes includes according to the name of a rule, and returns the ID of the innermost.
func (b *builder) include(r *rules.Rule) string {
	prefix := ""
	parents := strings.SplitAfter(r.Name, "/")
	parents = parents[:len(parents)-1]
	for i, step := range parents {
		parent := b.ids[prefix]
		prefix += step
		if i < len(b.includes) && b.includes[i] == prefix {
			continue
		}
		b.includes = append(b.includes[:min(i, len(b.includes))], prefix)
		b.ids[prefix] = fmt.Sprint("i", len(b.Nodes))
		n := Node{ID: b.ids[prefix], Kind: "include", Name: strings.TrimSuffix(step, "/"), Parent: parent}
		if i == len(parents)-1 { // the file of an outer include is unknown: its first rule is in another file
			n.Text = line(r.Pos.File)
		}
		b.node(n)
	}
	b.includes = b.includes[:len(parents)]
	return b.ids[prefix]
}

// texts returns the texts of a node, each with its font and maximum number of lines.
func (n *Node) texts() (all []text) {
	put := func(f font, s string, most int) {
		if s != "" {
			all = append(all, text{f, s, most, 0})
		}
	}
	more := func(n int) {
		if n > 0 {
			put(quietFont, fmt.Sprintf("and %d more", n), 1)
		}
	}
	name := n.Name
	if n.Parent != "" {
		name = path.Base(name)
	}
	put(nameFont, cmp.Or(n.Verb, name), 1)
	put(quietFont, n.Source, 1)
	if n.When == "" && n.Until == "" && n.Kind == "rule" {
		put(codeFont, "always", 1)
	}
	put(codeFont, n.When, map[bool]int{true: 8, false: 5}[n.Kind == "limits"])
	if n.Until != "" {
		put(codeFont, "until "+n.Until, 5)
	}
	put(map[bool]font{true: codeFont, false: textFont}[n.Kind == "fact"], n.Text, 3)
	for _, part := range n.Parts[:min(6, len(n.Parts))] {
		t := text{textFont, part.Text, 3, 0}
		if len(n.Parts) > 1 {
			t.most = 2
		}
		if part.When != "" {
			put(codeFont, "when "+part.When, 2)
			t.indent = padding
		}
		all = append(all, t)
	}
	more(len(n.Parts) - 6)
	for _, e := range n.Effects[:min(3, len(n.Effects))] {
		put(codeFont, e, 2)
	}
	more(len(n.Effects) - 3)
	put(quietFont, n.Unless, 1)
	return all
}

// caption returns the text in the box of an include.
func (n *Node) caption() string {
	if n.Text == "" {
		return n.Name
	}
	return n.Name + " (" + n.Text + ")"
}
