package rules

import (
	"slices"
	"sync"

	"github.com/expr-lang/expr/ast"
	exprparser "github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"github.com/ralph-sdk/ralph/schema"
)

// operand is a leaf of a skeleton: one expression of expr that is evaluated as a whole. It is unknown as soon as a
// fact, let or field that it names is.
type operand struct {
	id   int // its index in the program: an evaluation stores it where a pointer would cost more
	src  excerpt
	uses uses

	boolean  bool        // its value must be true or false
	branch   bool        // of a let that may be decided without it
	direct   *comparison // a shortcut past expr's machine, or nil
	explains []*Fact     // of a placeholder: the facts whose problem it shows

	// typ is the schema type of a plain path, so that enums and fields of a let that is one are still checked;
	// otherwise nil.
	typ *schema.Schema

	plain *term // set if the operand is only a literal or a path

	code code

	sides []side // of a comparison, shown by Explain
}

// excerpt is where an operand is written.
type excerpt struct {
	snippet  *snippet // the expression
	from, to int      // its range in the expression, in runes
	text     string
	shown    string // its text in a trace: as in the policy, with its not
	negated  bool   // shown is false if the operand is true
}

// pos returns where the operand begins. It is computed on demand: most operands never report anything.
func (e *excerpt) pos() Pos { return e.snippet.pos(e.from) }

func (e *excerpt) end() Pos { return e.snippet.pos(e.to) }

// uses is what an operand needs and asks for.
type uses struct {
	syms     []*symbol // everything that it names
	reads    []access  // of facts
	named    []access  // of ralph's names
	props    []string  // names of fields anywhere in it
	sections []string  // of a checklist, that it compares with
	calls    []string  // functions of the embedding program
	paths    []string  // paths of the project that it tests by name
	slow     []*Fact   // that it needs for sure, if others can be gathered beside them
}

// side is a node of an operand whose value Explain shows.
type side struct {
	text string
	code code
}

// tree returns the resolved and checked expression.
func (o *operand) tree() ast.Node { return o.code.tree.Node }

// code is the program of expr's machine for a checked tree. It is compiled on demand, because ralph evaluates most
// operands without the machine.
type code struct {
	once sync.Once
	tree *exprparser.Tree
	prog *vm.Program
	err  *exprError
}

// operand returns the one with an id.
func (p *Program) operand(id int) *operand {
	p.machine.mu.Lock()
	defer p.machine.mu.Unlock()
	return p.machine.compiler.operands[id-1]
}

// code returns the program of c, which it compiles at the first call.
func (p *Program) code(c *code) (*vm.Program, *exprError) {
	c.once.Do(func() {
		p.machine.mu.Lock()
		defer p.machine.mu.Unlock()
		c.prog, c.err = p.machine.compiler.engine.compile(c.tree)
	})
	return c.prog, c.err
}

// access is a path that an operand reads: state.specs.*.name.
type access struct {
	fact *symbol
	path []string // field names and indexes; "*" is a computed index
	name string   // as written; "" if it is read through a let

	// via are the operands of lets through which it is read, if a let may skip them.
	via []*operand

	// The path ends at a list whose elements the operand reads, or at a value that it compares as a whole. Otherwise an
	// invalid part of the value matters only if the operand names it: len(list) ignores the elements.
	elements bool
	whole    bool

	// The operand only uses the number of elements, or fields of theirs.
	asks bool

	needs extent // what the operand uses of the value
}

// looksInto reports whether an operand reads private parts of the value of s. If it does, its whole result is private:
// the flow inside of it is not tracked.
func (u *uses) looksInto(s *symbol, mark *mask) bool {
	if mark == nil || mark.shows == nil {
		return mark != nil
	}
	direct := false
	for _, all := range [...][]access{u.reads, u.named} {
		for _, a := range all {
			if a.fact != s {
				continue
			}
			direct = true
			if of := mark.at(a.path); of != nil && !(a.asks && of.showsAll(u.props)) {
				return true
			}
		}
	}
	return !direct
}

// spoilt reports whether an operand that reads a and names props must not be evaluated because the value at pointer is
// unusable.
func (a *access) spoilt(props, pointer []string) bool {
	for i := range min(len(a.path), len(pointer)) {
		if a.path[i] != pointer[i] && a.path[i] != "*" {
			return false
		}
	}
	if len(pointer) <= len(a.path) || a.whole {
		return true
	}
	beneath := pointer[len(a.path):]
	if last := beneath[len(beneath)-1]; !isIndex(last) {
		return slices.Contains(props, last)
	}
	for _, step := range slices.Backward(beneath) {
		if !isIndex(step) { // an element of a list is a field
			return slices.Contains(props, step)
		}
	}
	return a.elements
}

// term is a literal, or a static path into a symbol's value.
type term struct {
	literal any
	sym     *symbol
	path    []string
}

// termOf returns a resolved expression as a term; ok is false if it is not one.
func termOf(n ast.Node, t *table) (term, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return term{literal: n.Value}, true
	case *ast.IntegerNode:
		return term{literal: n.Value}, true
	case *ast.BoolNode:
		return term{literal: n.Value}, true
	case *ast.IdentifierNode:
		if s := t.find(n.Value); s != nil {
			return term{sym: s}, true
		}
	case *ast.MemberNode:
		if p, ok := n.Property.(*ast.StringNode); ok && !n.Optional {
			if base, ok := termOf(n.Node, t); ok && base.sym != nil {
				base.path = append(base.path, p.Value)
				return base, true
			}
		}
	}
	return term{}, false
}
