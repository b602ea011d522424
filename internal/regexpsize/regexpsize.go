// Package regexpsize computes the cost of a regular expression before compiling it. Start with [Instructions].
package regexpsize

import (
	"math"
	"regexp/syntax"
	"strings"
)

// Instructions returns the size of a compiled pattern. A counted repetition is that many copies, and they nest: thirty
// bytes can mean a thousand instructions, which [regexp.Compile] would make first.
func Instructions(src string) (int, error) {
	tree, err := syntax.Parse(src, syntax.Perl)
	if err != nil {
		return 0, err
	}
	return Of(tree), nil
}

// Of is Instructions for a parsed pattern.
func Of(tree *syntax.Regexp) int { return int(min(2+copies(tree), math.MaxInt32)) }

func copies(re *syntax.Regexp) (n float64) {
	for _, sub := range re.Sub {
		n += copies(sub)
	}
	switch re.Op {
	case syntax.OpLiteral:
		return float64(len(re.Rune))
	case syntax.OpCharClass:
		return float64(1 + len(re.Rune)/16) // matching searches its table
	case syntax.OpCapture:
		return n + 2
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest:
		return n + 1
	case syntax.OpRepeat:
		return float64(max(re.Min, re.Max, 1)) * (n + 1)
	case syntax.OpAlternate:
		return n + float64(len(re.Sub))
	case syntax.OpConcat:
		return n
	}
	return 1
}

// Parsing returns the cost of parsing a pattern, in instructions: named classes are large tables, and ranges beyond
// ASCII are folded character by character.
func Parsing(src string) int {
	const table, folded = 300, 2_000
	n := len(src) + table*(strings.Count(src, `\p`)+strings.Count(src, `\P`))
	wide := strings.Contains(src, `\x`) || strings.ContainsFunc(src, func(r rune) bool { return r >= 0x80 })
	if _, flags, ok := strings.Cut(src, "(?"); ok && wide && strings.Contains(flags, "i") {
		n += folded * strings.Count(src, "-")
	}
	return n
}
