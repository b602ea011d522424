package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// The columns, in pixels. Boxes begin at multiples of step; readers connect at multiples of step, facts half a step
// between them, so that no two horizontal lines meet.
const (
	step        = 12
	unit        = 8 // between columns
	margin      = 16
	factWidth   = 136
	ruleWidth   = 236
	arrowWidth  = 36
	verdictSize = 212
	gap         = 2 * step // between rows
	lanePitch   = 9
	laneSpace   = 170 // for all lanes
	padding     = 10
	shapeSide   = 8 // side space for the shape of a verdict
)

// picture is a graph with positions.
type picture struct {
	width, height int
	labels        []label
	boxes         []*box
	wires         []wire // of all edges except reads
	lanes         []lane
}

type rect struct{ x, y, w, h int }

func (r rect) right() int  { return r.x + r.w }
func (r rect) bottom() int { return r.y + r.h }

// box is a node with a position.
type box struct {
	rect
	node   *Node
	way    bool
	labels []label
	title  string
	over   int // of a row: its beginning, including the includes that it opens
}

// text is a string with its font, maximum number of lines, and indentation.
type text struct {
	font   font
	s      string
	most   int
	indent int
}

// label is one line of text.
type label struct {
	font font
	x, y int // of the start of its baseline
	text string
}

// rect returns the maximum extent of the label.
func (l label) rect() rect {
	h := l.font.height()
	return rect{l.x, l.y - h*3/4, int(l.font.width(l.text)) + 1, h}
}

// wire is an arrow: straight, or from a continue to the limits by the lane to the right of everything.
type wire struct {
	edge   *Edge
	x1, y1 int
	x2, y2 int
	lane   int // its place, 0 if the arrow is straight
	dashed bool
}

// lane is the line of a fact, from which lines to its readers branch.
type lane struct {
	fact     string
	index    int // 0 is next to the rules
	x        int
	from, y  int // where the fact connects
	top, end int
	taps     []tap
}

// tap is where a reader connects.
type tap struct {
	x, y   int
	hollow bool // only its texts and effects read it
}

// A plan is a layout under construction.
type plan struct {
	g     *Graph
	pic   *picture
	boxes map[string]*box
	into  map[string][]*Edge // reads, by reader
	y     int
	rules int // the left edge of the column
	inset int // of the boxes of includes, at most
}

// layout places everything: questions in one column in the order in which they are asked, verdicts to their right, and
// right of these the lane of continues; facts to their left at their first reader, and between them a lane for each fact.
func (g *Graph) layout() *picture {
	p := &plan{g: g, pic: &picture{}, boxes: map[string]*box{}, into: map[string][]*Edge{}}
	reads := map[string]bool{}
	for i := range g.Edges {
		if e := &g.Edges[i]; e.Kind == "reads" || e.Kind == "shows" {
			p.into[e.To] = append(p.into[e.To], e)
			reads[e.From] = true
		}
	}
	p.inset = unit * p.nesting()
	facts := slices.ContainsFunc(g.Nodes, func(n Node) bool { return n.Kind == "fact" })
	p.rules = margin + p.inset
	if facts {
		p.rules += factWidth + 2*unit
	}
	p.head()
	p.column()
	if facts {
		p.facts()
		p.lanes()
	}
	pic := p.pic
	pic.width = p.rules + textWidth + p.inset + margin
	p.arrows()
	p.foot(reads)
	pic.height = p.y + margin
	return pic
}

// nesting returns the maximum depth of nested includes.
func (p *plan) nesting() int {
	depth, most := map[string]int{}, 0
	for _, n := range p.g.Nodes {
		if n.Kind == "include" {
			depth[n.ID] = depth[n.Parent] + 1
			most = max(most, depth[n.ID])
		}
	}
	return most
}

// textWidth is the width of a rule with its verdict.
const textWidth = ruleWidth + arrowWidth + verdictSize

// lines returns the labels of texts below y, and their bottom.
func lines(x, y, width int, texts []text) (labels []label, bottom int) {
	for _, t := range texts {
		for _, l := range t.font.wrap(t.s, float64(width-t.indent), t.most) {
			y += t.font.height()
			labels = append(labels, label{t.font, x + t.indent, y - t.font.height()/4, l})
		}
	}
	return labels, y
}

// write adds texts.
func (p *plan) write(width int, texts ...text) {
	labels, y := lines(margin, p.y, width, texts)
	p.pic.labels, p.y = append(p.pic.labels, labels...), y
}

// head writes the description of the policy.
func (p *plan) head() {
	p.y = margin - 4
	p.write(textWidth, text{titleFont, line(p.g.Policy), 1, 0}, text{textFont, p.g.Description, 2, 0})
	if p.g.Gate == "all" {
		p.write(textWidth, text{quietFont, "Every continue rule that holds counts, up to a stop rule that holds.", 1, 0})
	}
	p.y += gap
}

// grid returns the next multiple of step.
func grid(y int) int { return (y + step - 1) / step * step }

// column places everything except the facts.
func (p *plan) column() {
	var open []*box
	p.y = grid(p.y)
	leave := func(parent string) {
		for len(open) > 0 && open[len(open)-1].node.ID != parent {
			b := open[len(open)-1]
			b.h = grid(p.y-gap+step) - b.y
			p.y = b.bottom() + gap
			open = open[:len(open)-1]
		}
	}
	var row *box
	over := 0 // where the includes that the next row opens begin
	for i := range p.g.Nodes {
		n := &p.g.Nodes[i]
		switch n.Kind {
		case "include":
			leave(n.Parent)
			over = cmp.Or(over, p.y)
			width := p.inset - unit*len(open)
			b := &box{node: n, rect: rect{x: p.rules - width, y: p.y, w: textWidth + 2*width}, title: n.caption()}
			p.add(b)
			name := includeFont.one(n.caption(), textWidth-4*unit)
			b.labels = append(b.labels, label{includeFont, p.rules + 3*unit, p.y + 20, name})
			open = append(open, b)
			p.y += 3 * step
		case "start", "head", "rule", "limits", "end":
			leave(n.Parent)
			if n.Kind == "limits" { // with room for the lane that leads there
				p.y += gap
			}
			row = &box{node: n, rect: rect{p.rules, p.y, ruleWidth, 0}, over: cmp.Or(over, p.y)}
			over = 0
			p.fill(row)
			p.add(row)
			p.y = row.bottom() + gap
		case "verdict":
			b := &box{node: n, rect: rect{p.rules + ruleWidth + arrowWidth, row.y, verdictSize, 0}}
			p.fill(b)
			p.add(b)
			p.y = max(p.y, b.bottom()+gap)
		}
	}
	leave("")
	p.y -= gap
}

func (p *plan) add(b *box) {
	p.pic.boxes = append(p.pic.boxes, b)
	p.boxes[b.node.ID] = b
}

// fill writes the labels of a box and sets its height for them and its readers.
func (p *plan) fill(b *box) {
	n, side := b.node, padding
	if n.Kind == "verdict" || n.Kind == "end" {
		side += shapeSide
	}
	texts := n.texts()
	b.title = cmp.Or(n.Name, n.Verb)
	for _, t := range texts[1:] {
		b.title += " " + t.s
	}
	if n.mark != "" { // to the right of the name
		w := int(quietFont.width(n.mark)) + 1
		b.labels = append(b.labels, label{quietFont, b.right() - side - w, b.y + padding - 2 + nameFont.height()*3/4, n.mark})
		texts[0].s = nameFont.one(texts[0].s, float64(b.w-2*side-w-unit))
	}
	labels, bottom := lines(b.x+side, b.y+padding-2, b.w-2*side, texts)
	b.labels = append(b.labels, labels...)
	least := bottom + padding - 2 - b.y
	b.h = grid(least)
	if n.Kind != "verdict" {
		b.h = max(b.h, (len(p.into[n.ID])+2)*step)
	}
	for i := range b.labels {
		b.labels[i].y += min(b.h-least, step) / 2
	}
}

// facts places the facts, each at its first reader and below those that its arguments read. Unused ones are last.
func (p *plan) facts() {
	nodes, y := map[string]*Node{}, p.boxes["start"].y
	var place func(id string, least int)
	place = func(id string, least int) {
		if p.boxes[id] != nil {
			return
		}
		for _, e := range p.into[id] {
			place(e.From, least)
		}
		b := &box{node: nodes[id], rect: rect{margin, max(y, least), factWidth, 0}}
		p.fill(b)
		p.add(b)
		y = b.bottom() + step
	}
	for i := range p.g.Nodes {
		if n := &p.g.Nodes[i]; n.Kind == "fact" {
			nodes[n.ID] = n
		}
	}
	for _, n := range p.g.Nodes { // facts come after rules
		if n.Kind == "fact" {
			place(n.ID, 0)
			continue
		}
		for _, e := range p.into[n.ID] {
			place(e.From, p.boxes[n.ID].y)
		}
	}
	p.y = max(p.y, y-step)
}

// lanes adds a vertical line for each fact that is read, and moves everything else to the right.
func (p *plan) lanes() {
	var all []*lane
	lanes := map[string]*lane{}
	for i := range p.g.Nodes {
		n := &p.g.Nodes[i]
		for k, e := range p.into[n.ID] {
			l := lanes[e.From]
			if l == nil {
				fact := p.boxes[e.From]
				y := fact.y + step + step/2
				l = &lane{fact: e.From, from: fact.right(), y: y, top: y, end: y}
				lanes[e.From], all = l, append(all, l)
			}
			t := tap{p.rules, p.boxes[n.ID].y + (k+1)*step, e.Kind == "shows"}
			if n.Kind == "fact" {
				t.x, t.y = margin+factWidth, t.y+step+step/2
			}
			l.taps = append(l.taps, t)
			l.top, l.end = min(l.top, t.y), max(l.end, t.y)
		}
	}
	short := slices.Clone(all)
	slices.SortStableFunc(short, func(a, b *lane) int { return cmp.Compare(a.end-a.top, b.end-b.top) })
	var used [][]*lane
	for _, l := range short {
		for ; l.index < len(used); l.index++ {
			if !slices.ContainsFunc(used[l.index], func(o *lane) bool { return l.top-step < o.end && o.top-step < l.end }) {
				break
			}
		}
		if l.index == len(used) {
			used = append(used, nil)
		}
		used[l.index] = append(used[l.index], l)
	}
	if len(used) == 0 {
		return
	}
	pitch := min(lanePitch, float64(laneSpace)/float64(len(used)))
	shift := int(pitch*float64(len(used))) + unit
	for _, b := range p.pic.boxes {
		if b.node.Kind != "fact" {
			b.x += shift
			for i := range b.labels {
				b.labels[i].x += shift
			}
		}
	}
	right := p.rules + shift - p.inset - unit - 2
	for _, l := range all {
		l.x = right - int(pitch*float64(l.index))
		for i := range l.taps {
			if l.taps[i].x == p.rules {
				l.taps[i].x += shift
			}
		}
		p.pic.lanes = append(p.pic.lanes, *l)
	}
	p.rules += shift
}

// arrows connects questions to the next ones and to their verdicts, and continues to the limits.
func (p *plan) arrows() {
	write := func(x, y int, s string) {
		if s != "" {
			p.pic.labels = append(p.pic.labels, label{countFont, x, y, s})
		}
	}
	for i := range p.g.Edges {
		e := &p.g.Edges[i]
		from, to := p.boxes[e.From], p.boxes[e.To]
		w := wire{edge: e, x1: from.x + 2*unit, y1: from.bottom(), x2: from.x + 2*unit, y2: to.y}
		switch {
		case e.Kind == "next" && from.node.Kind == "verdict":
			w = wire{edge: e, x1: from.right(), y1: from.y + from.h/2, x2: to.x + to.w/2, y2: to.y, lane: p.pic.width - unit}
		case e.Kind == "next":
			write(w.x1+unit, to.over-8, e.label())
		case e.Kind == "verdict":
			y := from.y + 2*unit
			w = wire{edge: e, x1: from.right(), y1: y, x2: to.x, y2: y, dashed: to.node.Verb == "note" || to.node.Verb == "then"}
			write(w.x1+4, y-5, e.Answer)
			write(w.x1+4, y+countFont.height(), strings.TrimSpace(strings.TrimPrefix(e.label(), e.Answer)))
		default:
			continue
		}
		if e.Way {
			from.way, to.way = true, true
		}
		p.pic.wires = append(p.pic.wires, w)
	}
}

// foot explains the picture.
func (p *plan) foot(read map[string]bool) {
	p.y += gap
	say := func(s string) { p.write(p.rules+textWidth-margin, text{quietFont, s, 2, 0}) }
	if len(read) > 0 {
		say("A filled dot: the fact decides. An open dot: only texts or effects read it.")
	}
	if slices.ContainsFunc(p.g.Nodes, func(n Node) bool { return n.Kind == "fact" && !read[n.ID] }) {
		say("A dashed fact: no rule reads it.")
	}
	for _, s := range p.g.notes() {
		say(s)
	}
}

// notes explains the marks.
func (g *Graph) notes() (all []string) {
	if c := g.Counts; c != nil {
		counted := fmt.Sprintf("Counts: %d %s.", c.Total, c.Of)
		if c.Older > 0 {
			counted += fmt.Sprintf(" %d more are of an older version of the policy.", c.Older)
		}
		all = append(all, counted)
	}
	if w := g.Way; w != nil {
		all = append(all, "The marked way is that of one situation: "+cmp.Or(line(w.Decided), "no rule")+" decided.")
	}
	return all
}
