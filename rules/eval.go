package rules

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/expr-lang/expr/vm"
)

// Query asks for a fact.
type Query struct {
	Fact    *Fact
	Args    []string          // the argument, rendered: a path, a question, or a program and its arguments
	Options map[string]string // rendered: dir of exec; model, system, turns, max_tokens of judge
	Command []string          // of judge: the program that is asked instead of a service
	// Usable says why the policy cannot use a decoded value at all, nil if it can. A young file is read again until it can.
	Usable func(value any) error
}

// Found is the answer to a Query. Its zero value is that of a missing fact.
type Found struct {
	OK      bool   // there is a value
	Value   any    // as it was decoded; Eval applies the policy's schema to it, and may change it
	Err     error  // there is something that cannot be used: the fact is invalid
	Problem string // why the fact is missing or invalid; of a glob, the files that were left out
	Path    string // of the file, from the root
	Time    time.Time
	Version any // of the file, for the effects that change it; opaque here
}

// World is what an evaluation asks about everything outside of it. Its methods are called at most once per question, from one
// goroutine. A nil World has nothing.
type World interface {
	// Fact gathers a fact that has no value in Input.Values.
	Fact(ctx context.Context, q Query) Found
	// Name returns the value of one of ralph's names when it is first read, such as "session_id" or "transcript", or nil for its zero
	// value. An error makes what reads it unknown. A variable is asked for by its name, such as "env.HOME". It is not asked for loop.
	Name(ctx context.Context, name string) (any, error)
	// Ask answers the functions said, mentions, exists (all bool) and which (string).
	Ask(ctx context.Context, function, argument string) (any, error)
}

// Input is what one evaluation gets, with its memory and time; a Loop makes it of a loop.Event, which is what a program knows of a stop.
// Its zero value is a stop in a new session, with no values and nothing outside.
type Input struct {
	Event  string         // "" is "Stop"
	Values map[string]any // by name: values of facts, of ralph's names, and of Options.Values; a fact that is nil is missing
	World  World
	Memory Memory
	Total  int       // continuations of the session by all policies
	Now    time.Time // its zone is that of date
	Limits Limits    // ceilings of the program; zero: none
	Run    bool      // an iteration of ralph run: limits.continuations does not count
	Trace  bool      // fill in Verdict.Trace
}

// truth is what is known of a value or a condition, from the best to the worst.
type truth uint8

const (
	no      truth = iota // of a value: it was not tried
	yes                  // of a value: it is known
	missing              // unknown, since something is not there
	failed               // unknown, since something is invalid or failed
	open                 // an analysis has not given it a value yet
)

func (t truth) String() string {
	return []string{"false", "true", "unknown", "unknown", "open"}[t]
}

// result is what an expression came to. value is set if state is yes, why if it is not.
type result struct {
	value any
	state truth
	why   error
}

// evaluation is one decision.
type evaluation struct {
	p        *Policy
	ctx      context.Context
	in       Input
	env      map[string]any // what expressions read
	got      []*gathered    // by the IDs of names
	tested   []lookup       // by the IDs of paths
	asked    map[[2]string]result
	machine  vm.VM
	stack    [4]any // of the machine, enough for most expressions
	running  bool
	progress result
	wrong    error // a value that the program must give
	doubt    error // why a done is not certain
	trace    *Trace
	text     string // in start
	model    *model // of an analysis
}

func (p *Policy) evaluation(ctx context.Context, in Input) *evaluation {
	if ctx == nil {
		ctx = context.Background()
	}
	c := p.compiler
	e := &evaluation{p: p, ctx: ctx, in: in, env: map[string]any{}, got: make([]*gathered, c.sizes.names), tested: make([]lookup, c.sizes.paths)}
	e.machine.MemoryBudget, e.machine.Stack = memoryBudget, e.stack[:0]
	if in.Trace {
		e.trace = &Trace{}
	}
	return e
}

// value evaluates an expression.
func (e *evaluation) value(x *expression) result {
	x.ready(e.p.compiler)
	if x.problem == nil && x.root.leaf != nil {
		return e.run(x.root.leaf)
	}
	t, why := e.holds(x)
	return result{value: t == yes, state: max(t, yes), why: why}
}

// holds evaluates a condition, nil for one that always holds.
func (e *evaluation) holds(x *expression) (truth, error) {
	if x == nil {
		return yes, nil
	}
	if x.ready(e.p.compiler); x.problem != nil {
		return failed, x.problem
	}
	return e.cond(x.root)
}

// cond is three-valued: what is false or true anyway does not depend on what is unknown, and else the worse of two unknowns counts.
func (e *evaluation) cond(x *cond) (truth, error) {
	if x.leaf != nil {
		return e.leaf(x.leaf)
	}
	l, why := e.cond(x.l)
	decided := no
	switch x.op {
	case "not":
		if l <= yes {
			l = yes - l
		}
		return l, why
	case "or":
		decided = yes
	}
	if l == decided {
		return l, nil
	}
	if r, rightWhy := e.cond(x.r); r == decided || l <= yes || r > l {
		return r, rightWhy
	}
	return l, why
}

func (e *evaluation) leaf(o *operand) (truth, error) {
	r := e.run(o)
	if r.state == yes {
		if b, ok := r.value.(bool); !ok {
			r.state, r.why = failed, fmt.Errorf("%s is not true or false, but %s", o.text, kindOf(r.value))
		} else if !b {
			r.state = no
		}
	}
	if e.trace != nil {
		e.traceOperand(o, r)
	}
	return r.state, r.why
}

// run evaluates an operand if all that it reads is known. In an analysis, the model says what is.
func (e *evaluation) run(o *operand) result {
	if e.model != nil {
		return e.model.operand(e, o)
	}
	for i := range o.reads {
		r := &o.reads[i]
		if t := e.test(r.path); t.state != yes && (t.state != missing || !r.covered) {
			return result{state: t.state, why: t.why}
		}
	}
	return e.exec(o)
}

// exec evaluates an operand all of whose reads are known.
func (e *evaluation) exec(o *operand) result {
	machine := &e.machine
	if e.running { // a function gathers a fact whose path is an expression
		machine = &vm.VM{MemoryBudget: memoryBudget}
	}
	was := e.running
	e.running = true
	v, err := machine.Run(o.program, e.env)
	e.running = was
	if err != nil {
		return result{state: failed, why: &runError{o.text, err}}
	}
	return result{value: v, state: yes}
}

// runError is the failure of an operand. It unwraps to the error of a function.
type runError struct {
	text string
	err  error
}

func (e *runError) Error() string {
	message, _, _ := strings.Cut(e.err.Error(), "\n")
	place := regexp.MustCompile(` \(\d+:\d+\)$`)
	message, _ = reworded(place.ReplaceAllString(message, ""))
	return fmt.Sprintf("%s failed: %s", e.text, message)
}

func (e *runError) Unwrap() error { return e.err }

// lookup is what is known of the value at a path. It was not tested if state is no; why says what keeps it from being known.
type lookup struct {
	state truth
	why   error
}

// test returns what is known of the value at a path, and finds it once.
func (e *evaluation) test(p *valuePath) *lookup {
	for len(e.tested) <= p.id { // a lazy policy has found new paths
		e.tested = append(e.tested, lookup{})
	}
	t := &e.tested[p.id]
	if t.state == no {
		state, why := e.find(p) // which may find others
		t = &e.tested[p.id]
		t.state, t.why = state, why
	}
	return t
}

// find finds the value at a path.
func (e *evaluation) find(p *valuePath) (truth, error) {
	g := e.get(p.root)
	if g.state != yes {
		return g.state, g.why
	}
	top, v, ok := p.in(g.value)
	if s := p.root.fact; g.given && !g.complete && s != nil && (p.defaults || !ok) { // the program may leave out what has a default
		g.value, g.complete = s.Schema.Complete(g.value), true
		top, v, ok = p.in(g.value)
	}
	problem, bad := g.problems.Touching(p.steps)
	switch {
	case bad:
		return failed, errors.New(p.root.name + ": " + problemText(problem))
	case !ok && len(p.steps) > 0:
		return missing, (*absent)(p)
	case g.given && !fits(v, p.typ):
		return failed, e.mistake(p.String(), fmt.Sprintf("must be %s, and is %s", typeWord(p.typ.Kind), kindOf(v)))
	}
	e.env[p.written[0]] = top
	return yes, nil
}

// mistake notes a value that the program must give. The first one is the error of Eval.
func (e *evaluation) mistake(name, message string) error {
	if e.wrong == nil {
		e.wrong = &ValueError{name, message}
	}
	return e.wrong
}

// ask asks the world, once for each question.
func (e *evaluation) ask(function, argument string) (any, error) {
	key := [2]string{function, argument}
	r, ok := e.asked[key]
	if !ok && e.in.World != nil {
		r.value, r.why = e.in.World.Ask(e.ctx, function, argument)
		if e.asked == nil {
			e.asked = map[[2]string]result{}
		}
		e.asked[key] = r
	}
	return r.value, r.why
}
