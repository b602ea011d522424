package rules

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/expr-lang/expr/vm"
)

// Query asks for a fact.
type Query struct {
	Fact    *Fact
	Args    []string          // the argument, rendered: a path, a question, or a program and its arguments
	Options map[string]string // rendered: dir of exec; model, system, turns, max_tokens, … of judge
	Command []string          // of judge: the program that is asked instead of a service
	// Usable reports why a decoded value cannot be used at all, nil if it can. A young file is read again until it can. It may change
	// the value as Eval would.
	Usable func(value any) error
}

// Status says whether a fact has a value.
type Status int

const (
	Missing Status = iota // nothing is there
	OK
	Invalid // something is there and cannot be used
)

// Found is the answer to a Query. Value is as it was decoded; the policy's schema is applied to it by Eval, which may change it.
type Found struct {
	Status  Status
	Value   any
	Problem string // why it is not OK; of a glob, the files that were left out
	Path    string // of the file, from the root
	Time    time.Time
	Version any   // of the file, for the effects that change it; opaque here
	Err     error // what Problem says, for errors.Is
}

// World is what an evaluation asks about everything outside of it. Its methods are called at most once per question, from one
// goroutine. A nil World has nothing.
type World interface {
	// Fact gathers a fact that has no value in Input.Values.
	Fact(ctx context.Context, q Query) Found
	// Name returns the value of one of ralph's names when it is first read, such as "session_id", "env" or "transcript", or nil for its
	// zero value. A variable that env does not have is asked for as "env.NAME"; nil is an empty one. An error makes what reads the name
	// unknown. loop is never asked for.
	Name(ctx context.Context, name string) (any, error)
	// Ask answers the functions said, mentions, exists (all bool) and which (string).
	Ask(ctx context.Context, function, argument string) (any, error)
}

// Input is what one evaluation gets. Its zero value is a stop at the zero time in a new session, with no values and nothing outside.
type Input struct {
	Event  string         // "" is "Stop"
	Values map[string]any // by name: values of facts, of ralph's names, and of WithValues; nil says that nothing is there
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
	switch t {
	case no:
		return "false"
	case yes:
		return "true"
	}
	return "unknown"
}

// result is what an expression came to. value is there if state is yes, why if it is not.
type result struct {
	value any
	state truth
	why   error
}

// evaluation is one decision.
type evaluation struct {
	p        *Policy
	ctx      context.Context
	in       *Input
	env      map[string]any // what expressions read
	got      []*gathered    // by the IDs of names
	tested   []truth        // by the IDs of paths
	asked    map[string]result
	machine  vm.VM
	running  bool
	memory   Memory
	progress result
	wrong    error // a value that the program must give
	doubt    error // why a done is not certain
	trace    *Trace
	operands *[]OperandTrace // of the rule that is tried
	text     string          // in start
}

func (p *Policy) evaluation(ctx context.Context, in *Input) *evaluation {
	e := &evaluation{p: p, ctx: ctx, in: in, env: make(map[string]any, p.compiler.envSize), got: make([]*gathered, len(p.compiler.order)),
		tested: make([]truth, p.compiler.pathCount), memory: in.Memory}
	e.machine.MemoryBudget = memoryBudget
	e.env[selfName] = e
	if in.Trace {
		e.trace = &Trace{}
	}
	return e
}

// value evaluates an expression.
func (e *evaluation) value(x *expression) result {
	x.ready(e.p.compiler)
	if x.problem != nil {
		return result{state: failed, why: x.problem}
	}
	if x.root.op == isLeaf {
		return e.run(x.root.leaf)
	}
	t, why := e.cond(x.root)
	if t == no {
		return result{value: false, state: yes}
	}
	return result{value: true, state: t, why: why}
}

// holds evaluates a condition, nil for one that always holds.
func (e *evaluation) holds(x *expression) (truth, error) {
	if x == nil {
		return yes, nil
	}
	x.ready(e.p.compiler)
	if x.problem != nil {
		return failed, x.problem
	}
	return e.cond(x.root)
}

// cond is three-valued: what is false or true anyway does not depend on what is unknown, and else the worse of two unknowns counts.
func (e *evaluation) cond(x *cond) (truth, error) {
	if x.op == isLeaf {
		return e.leaf(x.leaf)
	}
	l, why := e.cond(x.l)
	if x.op == isNot {
		if l <= yes {
			l = yes - l
		}
		return l, why
	}
	decided := no
	if x.op == isOr {
		decided = yes
	}
	if l == decided {
		return l, nil
	}
	r, rightWhy := e.cond(x.r)
	switch {
	case r == decided:
		return r, nil
	case r > yes && r > l || l <= yes:
		return r, rightWhy
	}
	return l, why
}

func (e *evaluation) leaf(o *operand) (truth, error) {
	r := e.run(o)
	t := r.state
	if t == yes {
		switch v := r.value.(type) {
		case bool:
			if !v {
				t = no
			}
		default:
			t, r.why = failed, fmt.Errorf("%s is not true or false, but %s", o.text, kindOf(v))
		}
	}
	if e.operands != nil {
		e.traceOperand(o, t, r.why)
	}
	return t, r.why
}

// run evaluates an operand if all that it reads is known.
func (e *evaluation) run(o *operand) result {
	for _, r := range o.reads {
		t := yes
		if id := r.path.id; id < len(e.tested) {
			t = e.tested[id]
		} else {
			t = no
		}
		if t == no {
			t = e.test(r.path)
		}
		if t != yes && (t != missing || !r.covered) {
			return result{state: t, why: e.lack(r.path)}
		}
	}
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
	if i := strings.LastIndex(message, " ("); i > 0 && strings.HasSuffix(message, ")") { // the place within the expression
		message = message[:i]
	}
	message, _ = reworded(message)
	return fmt.Sprintf("%s failed: %s", e.text, message)
}

func (e *runError) Unwrap() error { return e.err }

var errItself = errors.New("it depends on itself")

// test finds the value at a path, once.
func (e *evaluation) test(p *valuePath) truth {
	for len(e.tested) <= p.id { // a lazy policy has found new paths
		e.tested = append(e.tested, no)
	}
	t := e.find(p)
	e.tested[p.id] = t
	return t
}

func (e *evaluation) find(p *valuePath) truth {
	g := e.get(p.root)
	if g.state != yes {
		return g.state
	}
	if _, bad := g.problems.Touching(p.steps); bad {
		return failed
	}
	if p.root.name == envName && p.root.meaning == ralphName && len(p.steps) == 1 {
		return e.variable(p.steps[0], g)
	}
	v, ok := fieldAt(g.value, p.steps)
	if !ok {
		return missing
	}
	if g.given && p.typ != nil && !fits(v, p.typ) {
		e.mistake(p.String(), fmt.Sprintf("must be %s, and is %s", typeWord(p.typ.Kind), kindOf(v)))
		return failed
	}
	if p.inline != "" {
		e.env[p.inline] = v
	}
	return yes
}

const envName = "env"

// variable finds a variable of the environment, which is empty if it is not set. A program may have others than its process.
func (e *evaluation) variable(name string, g *gathered) truth {
	known, _ := g.value.(map[string]string)
	if _, ok := known[name]; ok {
		return yes
	}
	value := ""
	if _, given := e.in.Values[envName]; !given && e.in.World != nil {
		v, err := e.in.World.Name(e.ctx, envName+"."+name)
		if err != nil {
			*g = gathered{state: failed, why: fmt.Errorf("%s.%s: %w", envName, name, err)}
			return failed
		}
		value, _ = v.(string)
	}
	g.value = merged(known, map[string]string{name: value})
	e.env[envName] = g.value
	return yes
}

// lack says why the value at a path is not known.
func (e *evaluation) lack(p *valuePath) error {
	g := e.get(p.root)
	if g.state != yes {
		return g.why
	}
	if problem, bad := g.problems.Touching(p.steps); bad {
		return fmt.Errorf("%s: %s", p.root.name, problemText(problem))
	}
	if e.tested[p.id] == failed {
		return e.wrong
	}
	return p.absent
}

// mistake notes a value that the program must give. The first one is the error of Eval.
func (e *evaluation) mistake(name, message string) {
	if e.wrong == nil {
		e.wrong = &ValueError{name, message}
	}
}

// ask asks the world, once for each question.
func (e *evaluation) ask(function, argument string, zero any) (any, error) {
	key := function + "\x00" + argument
	if r, ok := e.asked[key]; ok {
		return r.value, r.why
	}
	r := result{value: zero}
	if e.in.World != nil {
		if v, err := e.in.World.Ask(e.ctx, function, argument); err != nil {
			r.why = err
		} else if v != nil {
			r.value = v
		}
	}
	if e.asked == nil {
		e.asked = map[string]result{}
	}
	e.asked[key] = r
	return r.value, r.why
}
