package graph

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ralph-sdk/ralph/rules"
)

// overlap reports whether two rectangles have a point in common.
func (r rect) overlap(o rect) bool {
	return r.x < o.right() && o.x < r.right() && r.y < o.bottom() && o.y < r.bottom()
}

// within reports whether a rectangle is inside another.
func (r rect) within(o rect) bool {
	return r.x >= o.x && r.right() <= o.right() && r.y >= o.y && r.bottom() <= o.bottom()
}

// problems lists what is wrong with the places of a picture: nothing overlaps, boxes hold their labels and includes their
// boxes, lines cross no box, and everything is on the paper.
func (p *picture) problems(g *Graph) (problems []string) {
	failf := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	paper := rect{0, 0, p.width, p.height}
	if p.width > 900 {
		failf("it is %d wide", p.width)
	}
	byID := map[string]*box{}
	for _, b := range p.boxes {
		byID[b.node.ID] = b
	}
	inside := func(n *Node, include string) bool {
		for n.Parent != "" {
			if n.Parent == include {
				return true
			}
			n = byID[n.Parent].node
		}
		return false
	}
	type owned struct {
		text string
		at   rect
		of   *box
	}
	var labels []owned
	for _, l := range p.labels {
		labels = append(labels, owned{l.text, l.rect(), nil})
	}
	for i, b := range p.boxes {
		if !b.rect.within(paper) {
			failf("%s is not on the paper", b.node.ID)
		}
		for _, l := range b.labels {
			if !l.rect().within(b.rect) {
				failf("label %q is not inside %s: %v %v", l.text, b.node.ID, l.rect(), b.rect)
			}
			labels = append(labels, owned{l.text, l.rect(), b})
		}
		for _, o := range p.boxes[i+1:] {
			a, c := b, o
			if c.node.Kind == "include" {
				a, c = c, a
			}
			switch {
			case a.node.Kind == "include" && inside(c.node, a.node.ID):
				if !c.rect.within(a.rect) {
					failf("%s is not inside %s: %v %v", c.node.ID, a.node.ID, c.rect, a.rect)
				}
			case c.node.Kind == "include" && inside(a.node, c.node.ID):
				if !a.rect.within(c.rect) {
					failf("%s is not inside %s: %v %v", a.node.ID, c.node.ID, a.rect, c.rect)
				}
			case a.rect.overlap(c.rect):
				failf("%s and %s overlap: %v %v", a.node.ID, c.node.ID, a.rect, c.rect)
			}
		}
	}
	for i, l := range labels {
		if !l.at.within(paper) {
			failf("label %q is not on the paper", l.text)
		}
		for _, o := range labels[i+1:] {
			if l.at.overlap(o.at) {
				failf("labels %q and %q overlap: %v %v", l.text, o.text, l.at, o.at)
			}
		}
		for _, b := range p.boxes {
			if l.of == nil && l.at.overlap(b.rect) && (b.node.Kind != "include" || !l.at.within(b.rect)) {
				failf("label %q is on the border of %s: %v %v", l.text, b.node.ID, l.at, b.rect)
			}
		}
	}
	for _, w := range p.wires {
		turn := w.y2 - gap
		if w.lane == 0 {
			continue
		}
		for _, at := range []rect{{w.x1 + 1, w.y1, w.lane - w.x1, 1}, {w.lane, w.y1, 1, turn - w.y1}, {w.x2, turn, w.lane - w.x2, 1}, {w.x2, turn, 1, gap - 1}} {
			for _, b := range p.boxes {
				if at.overlap(b.rect) && b.node.Kind != "include" {
					failf("the way from %s to the limits crosses %s", w.edge.From, b.node.ID)
				}
			}
			if !at.within(paper) {
				failf("the way from %s to the limits leaves the paper", w.edge.From)
			}
		}
	}
	dots := map[[2]int]bool{}
	lines := map[int][]rect{} // horizontal ones of facts, by place
	for _, l := range p.lanes {
		vertical := rect{l.x, l.top, 1, l.end - l.top + 1}
		for _, b := range p.boxes {
			if vertical.overlap(b.rect) {
				failf("the lane of %s crosses %s", l.fact, b.node.ID)
			}
		}
		for _, o := range p.lanes {
			if l.fact != o.fact && l.x == o.x && vertical.overlap(rect{o.x, o.top - 6, 1, o.end - o.top + 12}) {
				failf("the lanes of %s and %s overlap", l.fact, o.fact)
			}
		}
		lines[l.y] = append(lines[l.y], rect{min(l.from, l.x), l.y, max(l.x-l.from, l.from-l.x), 1})
		for _, t := range l.taps {
			for dy := -5; dy <= 5; dy++ {
				if dots[[2]int{l.x, t.y + dy}] {
					failf("two dots of %s touch", l.fact)
				}
			}
			lines[t.y] = append(lines[t.y], rect{min(t.x, l.x), t.y, max(l.x-t.x, t.x-l.x), 1})
		}
		for _, t := range l.taps {
			dots[[2]int{l.x, t.y}] = true
		}
	}
	for y, at := range lines {
		for i, a := range at {
			for _, b := range at[i+1:] {
				if a.overlap(b) {
					failf("two lines overlap at %d", y)
				}
			}
		}
	}
	return problems
}

// random makes a policy with includes, and marks for it.
func random(r *rand.Rand) fstest.MapFS {
	word := func() string {
		words := []string{"state", "tasks", "a", "very-long-name-of-something-that-nobody-would-write-by-hand-but-may-be", "итерация", "任务", "wwwwmmmm"}
		return words[r.IntN(len(words))]
	}
	text := func(most int) string {
		var b strings.Builder
		for range r.IntN(most) + 1 {
			b.WriteString(word() + " ")
		}
		return b.String()
	}
	fsys := fstest.MapFS{}
	var file func(name string, depth int, params string)
	file = func(name string, depth int, params string) {
		var b strings.Builder
		b.WriteString("ralph: 1\n" + params)
		if depth == 0 {
			fmt.Fprintf(&b, "description: %q\n", text(30))
			if r.IntN(2) == 0 {
				b.WriteString("gate: all\n")
			}
		}
		facts := r.IntN(12)
		var names []string
		if facts > 0 {
			b.WriteString("facts:\n")
		}
		for i := range facts {
			path := strings.ReplaceAll(strings.TrimSpace(text(2)), " ", "/")
			if i > 0 && r.IntN(3) == 0 {
				path = fmt.Sprintf("${f%d}/%s", r.IntN(i), path)
			}
			names = append(names, fmt.Sprintf("f%d", i))
			fmt.Fprintf(&b, "  f%d: {text: %q}\n", i, path+".txt")
		}
		condition := func() string {
			if len(names) == 0 {
				return fmt.Sprintf("session_id == %q", word())
			}
			var all []string
			for range r.IntN(6) + 1 {
				f := names[r.IntN(len(names))]
				all = append(all, []string{"missing(" + f + ")", f + " == " + fmt.Sprintf("%q", word())}[r.IntN(2)])
			}
			return strings.Join(all, []string{" and ", " or "}[r.IntN(2)])
		}
		if depth == 0 && len(names) > 0 && r.IntN(2) == 0 {
			fmt.Fprintf(&b, "loop:\n  state: %s\n  on: '%s'\n", names[r.IntN(len(names))], condition())
		}
		b.WriteString("rules:\n")
		for i := range r.IntN(10) + 1 {
			if depth < 3 && r.IntN(5) == 0 {
				inner := fmt.Sprintf("%s-%d", strings.TrimSuffix(name, ".yaml"), i)
				file(inner+".yaml", depth+1, "")
				fmt.Fprintf(&b, "  - include: %s.yaml\n", inner)
				continue
			}
			fmt.Fprintf(&b, "  - name: r%d%s\n", i, strings.Repeat("-long", r.IntN(20)))
			if r.IntN(8) > 0 {
				fmt.Fprintf(&b, "    when: '%s'\n", condition())
			}
			switch r.IntN(5) {
			case 0:
				fmt.Fprintf(&b, "    stop: %q\n    success: true\n", text(20))
			case 1:
				fmt.Fprintf(&b, "    stop: %q\n", text(20))
			case 2:
				hole := ""
				if len(names) > 0 {
					hole = " ${" + names[r.IntN(len(names))] + "}"
				}
				fmt.Fprintf(&b, "    continue: %q\n    unless_repeated: {times: 3, within: 10m}\n", text(40)+hole)
			case 3:
				fmt.Fprintf(&b, "    note: %q\n", text(8))
			default:
				fmt.Fprintf(&b, "    log: %q\n", text(3))
				if len(names) > 0 {
					b.WriteString("    then:\n")
					for range r.IntN(6) + 1 {
						fmt.Fprintf(&b, "      - archive: %s\n", names[r.IntN(len(names))])
					}
				}
			}
		}
		fsys[name] = &fstest.MapFile{Data: []byte(b.String())}
	}
	file("p.yaml", 0, "")
	return fsys
}

// randomGraph returns the graph of a random policy, with random marks.
func randomGraph(t *testing.T, seed uint64) *Graph {
	r := rand.New(rand.NewPCG(seed, 1))
	fsys := random(r)
	p, diags := rules.Load(t.Context(), fsys, "p.yaml", rules.Config{})
	if p == nil {
		t.Fatalf("policy %d: %v\n%s", seed, diags.Err(), fsys["p.yaml"].Data)
	}
	m := Marks{}
	if r.IntN(2) == 0 {
		m = Marks{Counts: &Counts{Of: "decisions", Total: r.IntN(1e6), Rules: map[string]Count{}, Older: 1}, Way: &Way{}}
		for _, rule := range p.Rules() {
			m.Counts.Rules[rule.Name] = Count{Reached: r.IntN(1e7), Held: r.IntN(10)}
			m.Way.Steps = append(m.Way.Steps, &rules.Step{Rule: rule.Name, Outcome: rules.SteppedOver})
		}
	}
	return New(p, m)
}

func TestGeometry(t *testing.T) {
	includes, lanes := 0, 0
	for seed := range uint64(200) {
		g := randomGraph(t, seed)
		pic := g.layout()
		for _, problem := range pic.problems(g) {
			t.Errorf("policy %d: %s", seed, problem)
		}
		for _, n := range g.Nodes {
			if n.Kind == "include" {
				includes++
			}
		}
		lanes += len(pic.lanes)
	}
	if includes < 100 || lanes < 500 {
		t.Errorf("only %d includes and %d lanes", includes, lanes)
	}
}
