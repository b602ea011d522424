package analysis

// numbers decides conjunctions of x - y ≤ c over whole numbers. They are a graph:
// x - y ≤ c is an edge from y to x of length c, and the conjunction can be
// satisfied if and only if no circle is shorter than 0. at is a solution of all
// edges at any time; an edge that breaks it moves numbers down along the edges
// until it holds, and a circle shows by the edge's own start having to move.
//
// Beside that the bounds of each number are kept, which are the shortest ways
// from and to Zero. They decide most atoms without a search.
type numbers struct {
	at       []int
	low, up  []int
	out, in  [][]edge
	degree   []int // edges that are the bounds of a number
	queue    []Var
	queued   []bool
	undo     []bound
	moves    []bound // of at, within one assertion
	changed  func(Var)
	searched int // edges looked at
}

// edge is the other end of x ≤ y + length.
type edge struct {
	to     Var
	length int
}

type boundKind uint8

const (
	lowBound boundKind = iota
	upBound
	newEdge // v → w was added last
)

// bound is what something was before it was changed.
type bound struct {
	kind boundKind
	v, w Var
	was  int
}

func newNumbers(vars []variable, changed func(Var)) *numbers {
	n := &numbers{
		at: make([]int, len(vars)), low: make([]int, len(vars)), up: make([]int, len(vars)),
		out: make([][]edge, len(vars)), in: make([][]edge, len(vars)), queued: make([]bool, len(vars)),
		degree: make([]int, len(vars)), changed: changed,
	}
	for i, v := range vars {
		if v.size > 0 || Var(i) == Zero {
			continue
		}
		n.low[i], n.up[i] = v.min, v.max
		n.at[i] = max(v.min, min(v.max, 0))
		if v.max < infinite {
			n.link(Zero, Var(i), v.max)
		}
		if v.min > -infinite {
			n.link(Var(i), Zero, -v.min)
		}
		n.degree[i] = len(n.out[i]) + len(n.in[i])
	}
	return n
}

// link adds x ≤ y + length.
func (n *numbers) link(y, x Var, length int) {
	n.out[y] = append(n.out[y], edge{x, length})
	n.in[x] = append(n.in[x], edge{y, length})
}

// value reports whether x - y ≤ c holds in every solution, in none, or neither can
// be seen at once.
func (n *numbers) value(x, y Var, c int) value {
	switch {
	case n.up[x]-n.low[y] <= c:
		return yes
	case n.low[x]-n.up[y] > c:
		return no
	case x == Zero || y == Zero:
		return open
	}
	for _, e := range n.out[y] {
		if e.to == x && e.length <= c {
			return yes
		}
	}
	for _, e := range n.out[x] { // y ≤ x + d means x - y ≥ -d
		if e.to == y && -e.length > c {
			return no
		}
	}
	return open
}

// assert adds x - y ≤ c. It reports whether there is a solution still.
func (n *numbers) assert(x, y Var, c int) bool {
	if !n.move(y, x, c) {
		return false
	}
	n.link(y, x, c)
	n.undo = append(n.undo, bound{kind: newEdge, v: y, w: x})
	n.changed(x)
	n.changed(y)
	n.lowerUp(x, add(n.up[y], c))
	n.raiseLow(y, add(n.low[x], -c))
	return true
}

// move makes at a solution of x ≤ y + c too.
func (n *numbers) move(y, x Var, c int) bool {
	if n.at[x] <= n.at[y]+c {
		return true
	}
	n.moves = n.moves[:0]
	n.queue = n.queue[:0]
	n.set(x, n.at[y]+c)
	feasible := true
	for i := 0; i < len(n.queue); i++ {
		v := n.queue[i]
		n.queued[v] = false
		if !feasible {
			continue
		}
		for _, e := range n.out[v] {
			n.searched++
			if n.at[e.to] > n.at[v]+e.length {
				if e.to == y { // the way round is shorter than nothing
					feasible = false
					break
				}
				n.set(e.to, n.at[v]+e.length)
			}
		}
	}
	if !feasible {
		for i := len(n.moves) - 1; i >= 0; i-- {
			n.at[n.moves[i].v] = n.moves[i].was
		}
	}
	return feasible
}

func (n *numbers) set(v Var, to int) {
	n.moves = append(n.moves, bound{v: v, was: n.at[v]})
	n.at[v] = to
	if !n.queued[v] {
		n.queued[v] = true
		n.queue = append(n.queue, v)
	}
}

// add adds a constant to a bound that may be infinite.
func add(b, c int) int {
	if b >= infinite || b <= -infinite {
		return b
	}
	return b + c
}

// lowerUp makes to an upper bound of x and of what follows from it. It ends, for
// there is no circle shorter than 0.
func (n *numbers) lowerUp(x Var, to int) {
	n.queue = n.queue[:0]
	lower := func(v Var, to int) {
		if to >= n.up[v] {
			return
		}
		n.undo = append(n.undo, bound{kind: upBound, v: v, was: n.up[v]})
		n.up[v] = to
		n.changed(v)
		if !n.queued[v] {
			n.queued[v] = true
			n.queue = append(n.queue, v)
		}
	}
	lower(x, to)
	for i := 0; i < len(n.queue); i++ {
		v := n.queue[i]
		n.queued[v] = false
		for _, e := range n.out[v] {
			n.searched++
			lower(e.to, add(n.up[v], e.length))
		}
	}
}

// raiseLow makes to a lower bound of y and of what follows from it.
func (n *numbers) raiseLow(y Var, to int) {
	n.queue = n.queue[:0]
	raise := func(v Var, to int) {
		if to <= n.low[v] {
			return
		}
		n.undo = append(n.undo, bound{kind: lowBound, v: v, was: n.low[v]})
		n.low[v] = to
		n.changed(v)
		if !n.queued[v] {
			n.queued[v] = true
			n.queue = append(n.queue, v)
		}
	}
	raise(y, to)
	for i := 0; i < len(n.queue); i++ {
		v := n.queue[i]
		n.queued[v] = false
		for _, e := range n.in[v] {
			n.searched++
			raise(e.to, add(n.low[v], -e.length))
		}
	}
}

func (n *numbers) mark() int { return len(n.undo) }

// back undoes what was asserted since a mark. at may stay: fewer edges break no
// solution.
func (n *numbers) back(mark int) {
	for i := len(n.undo) - 1; i >= mark; i-- {
		switch u := n.undo[i]; u.kind {
		case lowBound:
			n.low[u.v] = u.was
		case upBound:
			n.up[u.v] = u.was
		case newEdge:
			n.out[u.v] = n.out[u.v][:len(n.out[u.v])-1]
			n.in[u.w] = n.in[u.w][:len(n.in[u.w])-1]
		}
	}
	n.undo = n.undo[:mark]
}

// linked reports whether something beside its own bounds was asserted of x.
func (n *numbers) linked(x Var) bool { return len(n.out[x])+len(n.in[x]) > n.degree[x] }
