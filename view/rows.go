package view

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ralph-sdk/ralph/graph"
	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/rules"
)

// Bounds of what a server keeps, and of what it answers at once.
const (
	maxRows = 50_000
	atFirst = 500   // that the page shows first
	maxPage = 2_000 // further ones
	origin  = 1 << 30
)

// rows are the decisions that a server knows. They are numbered: the later one has the higher number. It reads the latest
// first, so that the page need not wait for older ones.
type rows struct {
	all  bool // of all projects
	most int

	mu      sync.Mutex
	older   []row                    // those below origin, the latest first
	newer   []row                    // from origin+gone on, the oldest first
	gone    int                      // newer ones that were dropped
	reading bool                     // older ones are still read
	used    map[string]*graph.Counts // by the digest of the policy
	recent  []key                    // of the latest decisions, of [rows.read] alone
	changed chan struct{}            // closed when a newer row comes
}

// key distinguishes decisions: the policies of one event share its ID.
type key struct {
	id, policy string
	at         time.Time
}

func keyOf(d project.Decision) key { return key{d.ID, d.Policy, d.Time} }

func emptyRows(p *project.Project) *rows {
	return &rows{all: p.Dir() == "", most: maxRows, used: map[string]*graph.Counts{}, changed: make(chan struct{})}
}

// newRows reads the latest decisions.
func newRows(p *project.Project) (*rows, error) {
	x := emptyRows(p)
	entries, err := p.History(project.Query{Last: atFirst})
	for _, e := range entries {
		x.add(e.Decision)
	}
	x.reading = len(entries) == atFirst
	return x, err
}

// add takes a decision that is later than all others.
func (x *rows) add(d project.Decision) {
	x.mu.Lock()
	defer x.mu.Unlock()
	r := x.row(d)
	r.N = origin + x.gone + len(x.newer)
	x.newer = append(x.newer, r)
	if x.recent = append(x.recent, keyOf(d)); len(x.recent) > 2*atFirst {
		x.recent = slices.Clone(x.recent[atFirst:])
	}
	if len(x.older)+len(x.newer) > x.most {
		if n := len(x.older); n > 0 {
			x.older = x.older[:n-1]
		} else {
			x.newer, x.gone = x.newer[1:], x.gone+1 // append copies what is left once in a while
		}
	}
	close(x.changed)
	x.changed = make(chan struct{})
}

// addOlder takes a decision that is earlier than all others, and reports whether there is room for more.
func (x *rows) addOlder(d project.Decision) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.older)+len(x.newer) >= x.most {
		return false
	}
	r := x.row(d)
	r.N = origin - 1 - len(x.older)
	x.older = append(x.older, r)
	return true
}

// row makes the row of a decision, and counts it.
func (x *rows) row(d project.Decision) row {
	r := newRow(d)
	if x.all {
		r.Root = short(d.Root)
	}
	if r.Digest != "" && d.V == 1 && r.Command == "" {
		c := x.used[r.Digest]
		if c == nil {
			c = &graph.Counts{Of: "decisions"}
			x.used[r.Digest] = c
		}
		c.Add(slices.DeleteFunc(d.Trace.Steps, func(s *rules.Step) bool { return s == nil }), cmp.Or(d.Rule, string(d.Cause)))
	}
	return r
}

// read follows the log until ctx is done. A log that cannot be read is tried again.
func (x *rows) read(ctx context.Context, p *project.Project) {
	var older sync.WaitGroup
	defer older.Wait()
	if x.reading {
		oldest := x.recent[0]
		older.Go(func() { x.readOlder(ctx, p, oldest) })
	}
	for ctx.Err() == nil {
		_ = p.Follow(ctx, project.Query{Last: atFirst}, func(e project.Entry) {
			if !slices.Contains(x.recent, keyOf(e.Decision)) {
				x.add(e.Decision)
			}
		})
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// readOlder reads what is older than a decision.
func (x *rows) readOlder(ctx context.Context, p *project.Project, than key) {
	older := false
	_, _ = p.History(project.Query{Last: 1, Match: func(d project.Decision) bool { // the latest first, until one matches
		if older && !x.addOlder(d) || ctx.Err() != nil {
			return true
		}
		older = older || keyOf(d) == than
		return false
	}})
	x.mu.Lock()
	defer x.mu.Unlock()
	x.reading = false
}

// page is what the server answers about rows.
type page struct {
	Rows    []row `json:"rows"`
	First   int   `json:"first"`
	Last    int   `json:"last"`
	Total   int   `json:"total"`
	Reading bool  `json:"reading,omitempty"`
}

// before returns the latest rows before a number, which is 0 for all.
func (x *rows) before(number, most int) page {
	x.mu.Lock()
	defer x.mu.Unlock()
	p := page{First: x.first(), Last: x.last(), Total: len(x.older) + len(x.newer), Reading: x.reading}
	if number <= 0 || number > p.Last {
		number = p.Last + 1
	}
	p.Rows = x.between(max(p.First, number-most), number)
	return p
}

// after returns the earliest rows after a number, and what is closed when there are more.
func (x *rows) after(number, most int) ([]row, <-chan struct{}) {
	x.mu.Lock()
	defer x.mu.Unlock()
	from := max(number+1, x.first())
	return x.between(from, min(x.last()+1, from+most)), x.changed
}

func (x *rows) first() int {
	if len(x.older) > 0 {
		return origin - len(x.older)
	}
	return origin + x.gone
}

func (x *rows) last() int { return origin + x.gone + len(x.newer) - 1 }

// between returns the rows from a number up to below another one.
func (x *rows) between(from, to int) []row {
	list := []row{} // in JSON not null
	for n := from; n < to; n++ {
		if n < origin {
			list = append(list, x.older[origin-1-n])
		} else {
			list = append(list, x.newer[n-origin-x.gone])
		}
	}
	return list
}

// of returns the rows with an ID.
func (x *rows) of(id string) (found []row) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, list := range [][]row{x.older, x.newer} {
		for i := range list {
			if list[i].ID == id {
				found = append(found, list[i])
			}
		}
	}
	return found
}

// counts returns what is counted of a policy, nil if no decision has its digest.
func (x *rows) counts(digest string) *graph.Counts {
	x.mu.Lock()
	defer x.mu.Unlock()
	kept := x.used[digest]
	if kept == nil {
		return nil
	}
	c := *kept
	c.Rules = maps.Clone(c.Rules)
	return &c
}
