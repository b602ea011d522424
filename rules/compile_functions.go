package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/expr-lang/expr/builtin"
)

// maxString bounds a string that an expression makes, in bytes, so that the error is reported where it happens: the
// budget covers the total.
const maxString = 1 << 20

var errTooLong = errors.New("the result is longer than 1 MiB")

// pureFunction is a function that depends only on its arguments.
type pureFunction struct {
	doc string
	*builtin.Function
}

// ownFunctions returns the functions that expr does not have.
func ownFunctions() []string { return append([]string{"cut", "bullets"}, laterFunctions()...) }

// laterFunctions returns functions added after the first version of the language: a declaration in a policy replaces
// one.
func laterFunctions() []string { return []string{"digest", "similar", "folded"} }

// functions returns the pure functions that ralph adds to expr's own, and those of expr that it replaces. They are
// called with the meter before their arguments.
func functions() []pureFunction {
	function := func(name, doc string, f func(m *meter, args []any) (any, error), types ...reflect.Type) pureFunction {
		return pureFunction{doc, meteredFunction(name, f, types...)}
	}
	return []pureFunction{
		function("cut", "The first n characters of a string, or the last -n; the one at the cut is … if there are more.", func(m *meter, args []any) (any, error) {
			n, ok := args[1].(int)
			if !ok {
				return nil, errors.New("cut takes a string and a number of characters")
			}
			switch s := args[0].(type) {
			case nil:
				return "", nil
			case string:
				m.read(min(len(s), 4*max(n, -n)))
				if n < 0 {
					return cutFront(s, -n), nil
				}
				return cut(s, n), nil
			}
			return nil, fmt.Errorf("cut takes a string; got %s", kindOf(args[0]))
		}, reflect.TypeFor[func(string, int) string](), reflect.TypeFor[func(any, int) string]()),

		function("bullets", "The first n items of a list (5 by default), one \"- item\" a line, then how many more there are.", func(m *meter, args []any) (any, error) {
			n := 5
			if len(args) > 1 {
				var ok bool
				if n, ok = args[1].(int); !ok {
					return nil, errors.New("bullets takes an array and a number of items")
				}
			}
			items, err := elements(args[0])
			if err != nil {
				return nil, fmt.Errorf("bullets takes an array; got %s", kindOf(args[0]))
			}
			return bullets(m, items, n), nil
		}, reflect.TypeFor[func([]any) string](), reflect.TypeFor[func([]any, int) string](),
			reflect.TypeFor[func(any) string](), reflect.TypeFor[func(any, int) string]()),

		function("repeat", "A string repeated n times.", func(m *meter, args []any) (any, error) {
			s, ok1 := args[0].(string)
			n, ok2 := args[1].(int)
			switch {
			case !ok1 || !ok2 || n < 0:
				return nil, errors.New("repeat takes a string and a count, 0 or more")
			case len(s) > 0 && n > maxString/len(s):
				return nil, errTooLong
			}
			m.text(n * len(s))
			return strings.Repeat(s, n), nil
		}, reflect.TypeFor[func(string, int) string]()),

		function("join", "The strings of a list, joined by a separator.", func(m *meter, args []any) (any, error) {
			items, err := elements(args[0])
			if err != nil || args[0] == nil {
				return nil, fmt.Errorf("join takes an array of strings; got %s", kindOf(args[0]))
			}
			glue := ""
			if len(args) > 1 {
				glue, _ = args[1].(string)
			}
			return join(m, items, glue)
		}, reflect.TypeFor[func([]any, string) string](), reflect.TypeFor[func([]any) string](),
			reflect.TypeFor[func([]string, string) string](), reflect.TypeFor[func([]string) string](),
			reflect.TypeFor[func(any, string) string](), reflect.TypeFor[func(any) string]()),

		function("uniq", "A list without duplicates.", func(m *meter, args []any) (any, error) {
			items, err := elements(args[0])
			if err != nil {
				return nil, fmt.Errorf("uniq takes an array; got %s", kindOf(args[0]))
			}
			return uniq(m, items), nil
		}, reflect.TypeFor[func([]any) []any](), reflect.TypeFor[func(any) []any]()),

		function("replace", "A string with one part replaced by another: everywhere, or the first n times.", func(m *meter, args []any) (any, error) {
			s, ok1 := args[0].(string)
			from, ok2 := args[1].(string)
			to, ok3 := args[2].(string)
			n := -1
			if len(args) > 3 {
				var ok bool
				n, ok = args[3].(int)
				ok3 = ok3 && ok
			}
			if !ok1 || !ok2 || !ok3 {
				return nil, errors.New("replace takes a string, the part to replace and its replacement")
			}
			m.read(len(s))
			found := strings.Count(s, from)
			if n >= 0 {
				found = min(found, n)
			}
			if len(to) > len(from) && found > (maxString-len(s))/(len(to)-len(from)) {
				return nil, errTooLong
			}
			m.text(len(s) + found*max(0, len(to)-len(from)))
			return strings.Replace(s, from, to, n), nil
		}, reflect.TypeFor[func(string, string, string) string](), reflect.TypeFor[func(string, string, string, int) string]()),

		function("digest", "A digest of 32 characters, for example to remember whether a long string has changed.", func(m *meter, args []any) (any, error) {
			s, ok := args[0].(string)
			if !ok {
				return nil, fmt.Errorf("digest takes a string; got %s", kindOf(args[0]))
			}
			m.read(len(s))
			sum := sha256.Sum256([]byte(s))
			return hex.EncodeToString(sum[:16]), nil
		}, reflect.TypeFor[func(string) string](), reflect.TypeFor[func(any) string]()),

		function("similar", "How similar two strings are, from 0 to 1: the share of word pairs that they have in common, ignoring case.", func(m *meter, args []any) (any, error) {
			a, ok1 := args[0].(string)
			b, ok2 := args[1].(string)
			if !ok1 || !ok2 {
				return nil, fmt.Errorf("similar takes two strings; got %s and %s", kindOf(args[0]), kindOf(args[1]))
			}
			return similar(m, a, b), nil
		}, reflect.TypeFor[func(string, string) float64](), reflect.TypeFor[func(any, any) float64]()),

		function("folded", "A string without what differs when the same error comes again: numbers are #, directories of paths are left out, white space is one blank.", func(m *meter, args []any) (any, error) {
			s, ok := args[0].(string)
			if !ok {
				return nil, fmt.Errorf("folded takes a string; got %s", kindOf(args[0]))
			}
			m.text(mul(len(s), 2))
			return folded(s), nil
		}, reflect.TypeFor[func(string) string](), reflect.TypeFor[func(any) string]()),
	}
}

// similar returns the Dice coefficient of the pairs of adjacent words. Strings of fewer than two words have no pairs:
// they are similar if they are equal.
func similar(m *meter, a, b string) float64 {
	m.text(add(mul(len(a), 2), mul(len(b), 2)))
	first, second := wordsOf(a), wordsOf(b)
	pairs := len(first) + len(second) - 2
	m.charge(mul(max(0, pairs), visitSteps+keySteps))
	if len(first) < 2 || len(second) < 2 {
		if slices.Equal(first, second) {
			return 1
		}
		return 0
	}
	type pair struct{ left, right string }
	counts := make(map[pair]int, len(first)-1)
	for i := range first[1:] {
		counts[pair{first[i], first[i+1]}]++
	}
	common := 0
	for i := range second[1:] {
		if p := (pair{second[i], second[i+1]}); counts[p] > 0 {
			counts[p]--
			common++
		}
	}
	return 2 * float64(common) / float64(pairs)
}

// folded returns s with # for each number, without the directories of paths, and with one blank for white space. A number is
// a word of hexadecimal digits with at least one decimal one, also after 0x, or decimal digits within another word.
func folded(s string) string {
	var b []byte
	path := 0 // where the path at the end of b begins
	for i := 0; i < len(s); {
		n := 0
		for i+n < len(s) && isWord(s[i+n]) {
			n++
		}
		switch c := s[i]; {
		case n > 0:
			b = appendFolded(b, s[i:i+n])
			i += n
			continue
		case c == '/' || c == '\\':
			b = b[:path]
		case c == ' ' || c >= '\t' && c <= '\r':
			if len(b) > 0 && b[len(b)-1] != ' ' {
				b = append(b, ' ')
			}
			path = len(b)
		default:
			if b = append(b, c); !strings.ContainsRune(".-+~@", rune(c)) && c < 0x80 {
				path = len(b)
			}
		}
		i++
	}
	return strings.TrimSuffix(string(b), " ")
}

// isWord reports whether a byte is an ASCII letter, a digit or an underscore.
func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// appendFolded adds a word with # for its numbers.
func appendFolded(b []byte, word string) []byte {
	digits := strings.TrimPrefix(strings.ToLower(word), "0x")
	if strings.Trim(digits, "0123456789abcdef") == "" && strings.ContainsAny(word, "0123456789") {
		return append(b, '#')
	}
	for i := range len(word) {
		switch c := word[i]; {
		case c < '0' || c > '9':
			b = append(b, c)
		case i == 0 || word[i-1] < '0' || word[i-1] > '9':
			b = append(b, '#')
		}
	}
	return b
}

// wordsOf returns the words of a string, which are letters and digits, in lower case.
func wordsOf(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

func join(m *meter, items []any, glue string) (any, error) {
	m.charge(1 + mul(len(items), 1+itemSteps))
	size := 0
	texts := make([]string, len(items))
	for i, item := range items {
		s, ok := item.(string)
		if !ok {
			return nil, fmt.Errorf("join takes an array of strings; item %d is %s", i, kindOf(item))
		}
		texts[i] = s
		if size += len(s) + len(glue); size > maxString {
			return nil, errTooLong
		}
	}
	m.text(size)
	return strings.Join(texts, glue), nil
}

// bullets returns the first n items as lines of a list, followed by how many more there are.
func bullets(m *meter, items []any, n int) string {
	n = max(0, n)
	var b []byte
	for i, item := range items {
		if i == n || len(b) > maxText {
			b = fmt.Appendf(b, "- … and %d more\n", len(items)-i)
			break
		}
		m.print(item)
		text := display(item)
		m.text(len(text) + 2*strings.Count(text, "\n"))
		b = append(b, "- "...)
		b = append(b, strings.ReplaceAll(text, "\n", "\n  ")...)
		b = append(b, '\n')
	}
	return strings.TrimRight(string(b), "\n")
}
