package analysis

// numbers decides conjunctions of x - y ≤ c over whole numbers. They are a graph: x - y ≤ c is an edge from y to x of
// length c, and the conjunction is satisfiable if and only if no cycle is shorter than 0. numbers always keeps a
// solution of all edges; an edge that violates it moves numbers down along the edges until it holds, and there is a
// cycle if the edge's own start would have to move.
//
// It also keeps the bounds of each number, which are the shortest paths from and to Zero. They decide most atoms
// without a search.
type numbers struct {
	dist     [3][]int    // of each number: see up, down and solution
	edges    [2][][]edge // that begin (up) and end (down) at a number
	degree   []int       // edges other than bounds of a number
	queue    []Var
	queued   []bool
	undo     []moved
	changed  func(Var)
	searched int // visited edges
}

// infinite is the distance between unconnected numbers. It is far above every sum of constants, and the sum of two of
// them does not overflow.
const infinite = 1 << 61

// The distances of a number.
const (
	up       = iota // the path from Zero: the upper bound
	down            // the path to Zero: the lower bound, negated
	solution        // a value, consistent with those of all others
	link            // only to undo: an edge from v to w was added
)

// edge is x ≤ y + length, at one of its ends.
type edge struct {
	to     Var
	length int
}

// moved is the previous value of a distance, or a new edge.
type moved struct {
	what uint8
	v, w Var
	was  int
}

// declare adds a variable; a number has a minimum and a maximum.
func (n *numbers) declare(number bool, minimum, maximum int) {
	v := Var(len(n.queued))
	for d, was := range [...]int{maximum, -minimum, max(minimum, min(maximum, 0))} {
		n.dist[d] = append(n.dist[d], was)
	}
	n.edges[up], n.edges[down] = append(n.edges[up], nil), append(n.edges[down], nil)
	n.queued, n.degree = append(n.queued, false), append(n.degree, 0)
	if !number || v == Zero {
		return
	}
	if maximum < infinite {
		n.link(Zero, v, maximum)
	}
	if minimum > -infinite {
		n.link(v, Zero, -minimum)
	}
	n.degree[v] = len(n.edges[up][v]) + len(n.edges[down][v])
}

// link adds x ≤ y + length.
func (n *numbers) link(y, x Var, length int) {
	n.edges[up][y] = append(n.edges[up][y], edge{x, length})
	n.edges[down][x] = append(n.edges[down][x], edge{y, length})
}

// value returns whether x - y ≤ c holds in every solution, in none, or cannot be decided without a search.
func (n *numbers) value(x, y Var, c int) value {
	switch {
	case n.dist[up][x]+n.dist[down][y] <= c:
		return yes
	case -n.dist[down][x]-n.dist[up][y] > c:
		return no
	case x == Zero || y == Zero:
		return open
	}
	for _, e := range n.edges[up][y] {
		if e.to == x && e.length <= c {
			return yes
		}
	}
	for _, e := range n.edges[up][x] { // y ≤ x + d means x - y ≥ -d
		if e.to == y && -e.length > c {
			return no
		}
	}
	return open
}

// assert adds x - y ≤ c. It reports whether a solution still exists.
func (n *numbers) assert(x, y Var, c int) bool {
	if mark := n.mark(); !n.lower(solution, x, n.dist[solution][y]+c, y) {
		n.back(mark)
		return false
	}
	n.link(y, x, c)
	n.undo = append(n.undo, moved{what: link, v: y, w: x})
	n.changed(x)
	n.changed(y)
	if n.dist[up][y] < infinite {
		n.lower(up, x, n.dist[up][y]+c, -1)
	}
	if n.dist[down][x] < infinite {
		n.lower(down, y, n.dist[down][x]+c, -1)
	}
	return true
}

// lower lowers a distance of v, and the distances that follow from it. It reports whether that ends without changing
// never, which it does unless a cycle is shorter than 0.
func (n *numbers) lower(which int, v Var, to int, never Var) bool {
	dist, edges := n.dist[which], n.edges[which%solution]
	n.queue = n.queue[:0]
	visit := func(v Var, to int) bool {
		if to >= dist[v] {
			return true
		}
		n.undo = append(n.undo, moved{what: uint8(which), v: v, was: dist[v]})
		dist[v] = to
		if which != solution {
			n.changed(v)
		}
		if !n.queued[v] {
			n.queued[v] = true
			n.queue = append(n.queue, v)
		}
		return v != never
	}
	ok := visit(v, to)
	for i := 0; i < len(n.queue); i++ {
		v := n.queue[i]
		n.queued[v] = false
		for _, e := range edges[v] {
			if !ok {
				break
			}
			n.searched++
			ok = visit(e.to, dist[v]+e.length)
		}
	}
	return ok
}

func (n *numbers) mark() int { return len(n.undo) }

// back undoes what was asserted since a mark.
func (n *numbers) back(mark int) {
	for i := len(n.undo) - 1; i >= mark; i-- {
		u := n.undo[i]
		if u.what != link {
			n.dist[u.what][u.v] = u.was
			continue
		}
		n.edges[up][u.v] = n.edges[up][u.v][:len(n.edges[up][u.v])-1]
		n.edges[down][u.w] = n.edges[down][u.w][:len(n.edges[down][u.w])-1]
	}
	n.undo = n.undo[:mark]
}

// linked reports whether x has constraints other than its own bounds.
func (n *numbers) linked(x Var) bool {
	return len(n.edges[up][x])+len(n.edges[down][x]) > n.degree[x]
}
