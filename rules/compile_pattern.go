package rules

import (
	"errors"
	"fmt"
	"regexp"
	"sync"

	"github.com/expr-lang/expr/vm/runtime"

	"github.com/ralph-sdk/ralph/internal/regexpsize"
)

// pattern is a constant of matches, compiled when it is first used.
type pattern struct {
	src          string
	instructions int
	compiled     func() (*regexp.Regexp, error)
}

func newPattern(src string, instructions int) *pattern {
	return &pattern{src: src, instructions: instructions, compiled: sync.OnceValues(func() (*regexp.Regexp, error) { return regexp.Compile(src) })}
}

// patterns holds the patterns of one program, each compiled once.
type patterns struct {
	mu   sync.Mutex
	made map[string]*pattern
	room int // instructions that patterns may still use
}

// of returns the pattern of a constant. It fails before it compiles a large one.
func (ps *patterns) of(src string) (*pattern, error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if p := ps.made[src]; p != nil {
		return p, nil
	}
	if !ps.affords(regexpsize.Parsing(src)) {
		return nil, errPatterns
	}
	n, err := regexpsize.Instructions(src)
	if err != nil {
		return nil, err
	}
	if !ps.affords(n) {
		return nil, errPatterns
	}
	ps.made[src] = newPattern(src, n)
	return ps.made[src], nil
}

// affords reserves instructions, and reports whether there was room for them.
func (ps *patterns) affords(instructions int) bool {
	if ps.room < instructions {
		return false
	}
	ps.room -= instructions
	return true
}

var errPatterns = errors.New("the patterns of the policy are too large")

// matches applies a pattern, which is a constant of the policy or computed, to a string.
func matches(m *meter, a, b any) (any, error) {
	if runtime.IsNil(a) || runtime.IsNil(b) {
		return false, nil
	}
	s, ok := a.(string)
	if !ok {
		return nil, fmt.Errorf("matches takes a string; got %s", kindOf(a))
	}
	p, ok := b.(*pattern)
	if !ok {
		src, ok := b.(string)
		if !ok {
			return nil, fmt.Errorf("matches takes a pattern; got %s", kindOf(b))
		}
		m.charge(mul(regexpsize.Parsing(src), patternSteps/10))
		n, err := regexpsize.Instructions(src)
		if err != nil {
			return nil, err
		}
		m.charge(mul(n, patternSteps))
		p = newPattern(src, n)
	}
	re, err := p.compiled()
	if err != nil {
		return nil, err
	}
	m.charge(1 + mul(p.instructions, 1+len(s))/matchBytes)
	return re.MatchString(s), nil
}
