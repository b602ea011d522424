// Package graph draws policies: as SVG, as text for Mermaid and Graphviz, and as JSON. It may change in any version.
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
	Nodes       []Node   `json:"nodes"`  // the start, the head, the rules with their verdicts, the end; includes; facts
	Edges       []Edge   `json:"edges"`
	Counts      *Counts  `json:"counts,omitempty"`
	Way         *Way     `json:"way,omitempty"`
}

// Node is a box of a graph. Its texts are as written in the policy, each on one line and shortened to 500 characters.
type Node struct {
	ID      string        `json:"id"`               // r0, v0, …: unique in the graph
	Kind    string        `json:"kind"`             // start, head, rule, verdict, end, include or fact
	Name    string        `json:"name,omitempty"`   // of a rule, fact or include; of the head: when, on, state or owner; of the start: the events
	Verb    string        `json:"verb,omitempty"`   // of a verdict or the end: continue, stop, done (a stop with success), note, then (effects only) or idle
	Source  string        `json:"source,omitempty"` // of a fact
	When    string        `json:"when,omitempty"`   // of a rule or the head: its condition; "" is always true
	Text    string        `json:"text,omitempty"`   // of a verdict: its text; of a fact: what it reads; of an include: its file
	Effects []string      `json:"effects,omitempty"`
	Unless  string        `json:"unless,omitempty"`  // of a rule: how often it decides
	Parent  string        `json:"parent,omitempty"`  // the include with the node
	Pos     rules.Pos     `json:"pos,omitzero"`      // of a rule or fact
	Count   *Count        `json:"count,omitempty"`   // of a rule, with Marks.Counts
	Outcome rules.Outcome `json:"outcome,omitempty"` // of a rule, with Marks.Way
}

// Edge connects two nodes.
type Edge struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Kind is next (tried next), verdict (the decision of a rule or the head), reads (a fact that decides its reader),
	// or shows (a fact that only texts and effects read).
	Kind  string `json:"kind"`
	Count *int   `json:"count,omitempty"` // how many decisions or tests went this way, with Marks.Counts
	Way   bool   `json:"way,omitempty"`   // the marked situation went this way
}

// Marks are what a graph shows of a policy's use. The zero Marks show nothing.
type Marks struct {
	Counts *Counts // nil shows none
	Way    *Way    // nil marks none
}

// Counts has how often the rules of a policy were tried and held.
type Counts struct {
	Of    string           `json:"of"` // what is counted: decisions or tests
	Total int              `json:"total"`
	Older int              `json:"older,omitempty"` // decisions with an older version of the policy, which do not count
	None  int              `json:"none"`            // decisions or tests without a deciding rule
	Rules map[string]Count `json:"-"`               // by name
}

// Count is how often a rule was tried and held.
type Count struct {
	Reached int `json:"reached"`
	Held    int `json:"held"`
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
		}
		c.Rules[s.Rule] = n
	}
	if c.Total++; len(steps) > 0 && decided == "" {
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
	onWay    bool              // the marked situation reached this node
}

// New returns the graph of a policy.
func New(p *rules.Program, m Marks) *Graph {
	g := &Graph{V: 1, Policy: p.Name, Description: line(p.Description), Gate: p.Gate, Events: slices.Clone(p.Events), Counts: m.Counts, Way: m.Way}
	b := &builder{Graph: g, ids: map[string]string{}, onWay: m.Way != nil, last: "start"}
	outline, facts, decided := p.Outline(), p.Facts(), p.Rules()
	for i, f := range facts {
		b.ids[f.Name] = fmt.Sprint("f", i)
	}
	b.node(Node{ID: "start", Kind: "start", Name: line(strings.Join(p.Events, ", "))})
	for i, o := range outline[:len(outline)-len(facts)] {
		if n := i - (len(outline) - len(facts) - len(decided)); n < 0 {
			b.head(o)
		} else {
			b.rule(n, decided[n], o)
		}
	}
	if b.last != "" {
		end := Node{ID: "none", Kind: "end", Verb: "idle", Text: "no rule decides"}
		if slices.ContainsFunc(decided, func(r *rules.Rule) bool { return r.Verb == "stop" || r.Verb == "continue" }) {
			end.Verb = "stop"
		}
		b.node(end)
		b.next(end.ID, func(c *Counts) int { return c.None })
	}
	for i, f := range facts {
		id := b.ids[f.Name]
		b.node(Node{ID: id, Kind: "fact", Name: f.Name, Source: f.Source.Name, Text: line(strings.Join(f.Args, " ")), Pos: f.Pos})
		b.reads(id, "reads", outline[len(outline)-len(facts)+i].Reads)
	}
	return g
}

func (b *builder) node(n Node) { b.Nodes = append(b.Nodes, n) }

// next connects a node with the one above it.
func (b *builder) next(id string, count func(*Counts) int) {
	if b.last != "" {
		b.Edges = append(b.Edges, Edge{From: b.last, To: id, Kind: "next", Count: b.count(count), Way: b.onWay})
	}
	b.last = id
}

// count returns one of the counts, nil without counts.
func (b *builder) count(of func(*Counts) int) *int {
	if b.Counts == nil {
		return nil
	}
	n := of(b.Counts)
	return &n
}

// reads connects a reader with its facts.
func (b *builder) reads(id, kind string, facts []string) {
	for _, f := range facts {
		b.Edges = append(b.Edges, Edge{From: b.ids[f], To: id, Kind: kind})
	}
}

// head adds a part of the head, and the end that it leads to.
func (b *builder) head(o rules.Outline) {
	id, verdict := "h_"+o.Kind, "v_"+o.Kind
	text := map[string]string{
		"when": "not for this event", "on": "switched off", "state": "there is no loop", "owner": "the loop of another session",
	}[o.Kind]
	b.node(Node{ID: id, Kind: "head", Name: o.Kind, When: line(cmp.Or(o.When, o.Name))})
	b.next(id, func(c *Counts) int { return c.Total })
	b.node(Node{ID: verdict, Kind: "verdict", Verb: "idle", Text: text})
	ends := b.onWay && b.Way.Ended == o.Kind
	b.Edges = append(b.Edges, Edge{From: id, To: verdict, Kind: "verdict", Way: ends})
	b.onWay = b.onWay && !ends
	b.reads(id, "reads", o.Reads)
}

// rule adds a rule and its decision.
func (b *builder) rule(i int, r *rules.Rule, o rules.Outline) {
	n := Node{ID: fmt.Sprint("r", i), Kind: "rule", Name: r.Name, When: line(o.When), Pos: r.Pos, Parent: b.include(r)}
	if u := r.Unless; u != nil {
		n.Unless = fmt.Sprintf("at most %d× a %s", u.Times, u.Per)
		if u.Within > 0 {
			n.Unless += " in " + amount.Time(u.Within)
		}
	}
	if b.Counts != nil {
		count := b.Counts.Rules[r.Name]
		n.Count = &count
	}
	if b.Way != nil {
		step := slices.IndexFunc(b.Way.Steps, func(s *rules.Step) bool { return s.Rule == r.Name })
		if b.onWay = b.onWay && step >= 0; step >= 0 {
			n.Outcome = b.Way.Steps[step].Outcome
		}
	}
	b.node(n)
	b.next(n.ID, func(*Counts) int { return n.Count.Reached })
	b.reads(n.ID, "reads", o.Reads)
	b.reads(n.ID, "shows", o.Shows)
	v := Node{ID: fmt.Sprint("v", i), Kind: "verdict", Verb: cmp.Or(r.Verb, "then"), Text: line(o.Text), Parent: n.Parent}
	if r.Success {
		v.Verb = "done"
	}
	for _, e := range o.Effects {
		v.Effects = append(v.Effects, line(e))
	}
	b.node(v)
	holds := n.Outcome == rules.Holds
	b.Edges = append(b.Edges, Edge{From: n.ID, To: v.ID, Kind: "verdict", Count: b.count(func(*Counts) int { return n.Count.Held }), Way: b.onWay && holds})
	decides := r.Verb == "stop" || r.Verb == "continue" && b.Gate != "all"
	if b.onWay = b.onWay && !(holds && decides); decides && o.When == "" && r.Unless == nil {
		b.last = "" // nothing passes it
	}
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
			all = append(all, text{f, s, most})
		}
	}
	name := n.Name
	if n.Parent != "" {
		name = path.Base(name)
	}
	put(nameFont, cmp.Or(n.Verb, name), 1)
	put(quietFont, n.Source, 1)
	if n.When == "" && n.Kind == "rule" {
		put(codeFont, "always", 1)
	}
	put(codeFont, n.When, 5)
	put(map[bool]font{true: codeFont, false: textFont}[n.Kind == "fact"], n.Text, 3)
	for _, e := range n.Effects[:min(3, len(n.Effects))] {
		put(codeFont, e, 2)
	}
	if more := len(n.Effects) - 3; more > 0 {
		put(quietFont, fmt.Sprintf("and %d more", more), 1)
	}
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
