// Package regexpsize says how much work a regular expression is before any is done.
package regexpsize

import (
	"math"
	"math/bits"
	"regexp/syntax"
	"strings"
)

// Instructions is how large a pattern gets when it is compiled. A counted repetition
// is that many copies, which nest: some thirty bytes can stand for a thousand
// instructions, which [regexp.Compile] would make before anybody could count them.
func Instructions(src string) (int, error) {
	tree, err := syntax.Parse(src, syntax.Perl)
	if err != nil {
		return 0, err
	}
	return Of(tree), nil
}

// Of is Instructions of a pattern that is already parsed.
func Of(tree *syntax.Regexp) int { return add(2, copies(tree)) }

func copies(re *syntax.Regexp) int {
	n := 0
	for _, sub := range re.Sub {
		n = add(n, copies(sub))
	}
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCharClass:
		return 1 + len(re.Rune)/16 // its table is looked through
	case syntax.OpCapture:
		return add(n, 2)
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest:
		return add(n, 1)
	case syntax.OpRepeat:
		return mul(max(re.Min, re.Max, 1), add(n, 1))
	case syntax.OpAlternate:
		return add(n, len(re.Sub))
	case syntax.OpConcat:
		return n
	}
	return 1
}

// Parsing is what it costs to parse a pattern, in instructions: named classes are
// long tables, and ranges that go beyond ASCII are folded character by character.
func Parsing(src string) int {
	const table, folded = 300, 2_000
	n := len(src) + table*(strings.Count(src, `\p`)+strings.Count(src, `\P`))
	wide := strings.Contains(src, `\x`) || strings.ContainsFunc(src, func(r rune) bool { return r >= 0x80 })
	if _, flags, ok := strings.Cut(src, "(?"); ok && wide && strings.Contains(flags, "i") {
		n += folded * strings.Count(src, "-")
	}
	return n
}

func add(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

func mul(a, b int) int {
	if hi, lo := bits.Mul64(uint64(a), uint64(b)); hi == 0 && lo <= math.MaxInt {
		return int(lo)
	}
	return math.MaxInt
}
