package schema

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ralph-sdk/ralph/internal/nearest"
	"github.com/ralph-sdk/ralph/internal/regexpsize"
)

// Limits on checking one document. Schema and document multiply: a thousand alternatives for each of fifty thousand
// values take minutes.
const (
	maxSteps  = 6_000_000 // each about a hundred nanoseconds
	maxNested = 20_000    // nested schemas for a value, including those of all values around it

	errorSteps = 24 // for the text of a violation
	bytesAStep = 16 // of a string, compared in a step
)

const maxShownText = 1000 // characters of a pattern, or of the errors of alternatives, in a message

// tooMuch ends a check, at any depth.
type tooMuch string

// within runs f, and returns why it was ended, or "".
func within(f func()) (why tooMuch) {
	defer func() {
		if p := recover(); p != nil {
			var ok bool
			if why, ok = p.(tooMuch); !ok {
				panic(p)
			}
		}
	}()
	f()
	return ""
}

// checker validates normalized values with the keywords of schemas.
type checker struct {
	steps    int // used so far
	nested   int
	path     []string
	findings []Violation // without positions
}

func (c *checker) take(steps int) {
	if c.steps += steps; c.steps > maxSteps || c.nested > maxNested {
		panic(tooMuch(fmt.Sprintf("cannot be checked: it is too large for this schema, checking it takes more than %d steps", maxSteps)))
	}
}

// report records that the value at the current path, or a field of it, violates a keyword.
func (c *checker) report(v Violation, field ...string) {
	if c.take(errorSteps + len(c.path)); len(c.findings) <= maxWarnings {
		v.Pointer = PointerOf(append(c.path, field...))
		c.findings = append(c.findings, v)
	}
}

func (c *checker) reportf(keyword, format string, args ...any) {
	c.report(Violation{Keyword: keyword, Message: fmt.Sprintf(format, args...)})
}

// try returns the violations of v by n, without reporting them.
func (c *checker) try(n *node, v any) []Violation {
	reported := c.findings
	c.findings = nil
	c.check(n, v)
	found := c.findings
	c.findings = reported
	return found
}

// below checks the field or element of the current value that segment names.
func (c *checker) below(segment string, n *node, v any) {
	c.path = append(c.path, segment)
	c.check(n, v)
	c.path = c.path[:len(c.path)-1]
}

func (c *checker) check(n *node, v any) {
	c.nested++
	defer func() { c.nested-- }()
	c.take(1 + n.load)
	if n.always != nil {
		if !*n.always {
			c.reportf("", "is not allowed here")
		}
		return
	}
	kind := kindOf(v)
	if !n.kinds.admits(kind) {
		c.reportf("type", "is %s, expected %s", show(v), joinKinds(n.kinds.list()))
		return // its other violations do not matter
	}
	c.among(n.constant, "const", v)
	c.among(n.enum, "enum", v)
	for _, l := range n.limits {
		if l.of == kind || l.of == Number && kind == Int {
			c.limit(l, v)
		}
	}
	switch v := v.(type) {
	case string:
		c.text(n, v)
	case map[string]any:
		c.object(n, v)
	case []any:
		c.list(n, v)
	}
	if n.ref != nil {
		c.check(n.ref, v)
	}
	if n.subs != nil {
		c.combine(n, v)
	}
}

// among reports a value that equals none of values, if there are any.
func (c *checker) among(values []any, keyword string, v any) {
	if values == nil {
		return
	}
	c.take(weightOf(values))
	if !slices.ContainsFunc(values, func(allowed any) bool { return reflect.DeepEqual(allowed, v) }) {
		found := Violation{Keyword: keyword, Message: "is " + show(v) + ", expected " + oneOf(values)}
		if len(c.findings) < maxLocated { // to compare words takes time
			found.Help = near(v, values)
		}
		c.report(found)
	}
}

// near returns a question for the string of a list that v may mean, or "".
func near(v any, values []any) string {
	word, ok := v.(string)
	if !ok {
		return ""
	}
	var words []string
	for _, value := range values {
		if s, ok := value.(string); ok {
			words = append(words, s)
		}
	}
	return nearest.DidYouMean(word, words)
}

// limit reports a value beyond a limit for its kind.
func (c *checker) limit(l limit, v any) {
	var size float64
	switch v := v.(type) {
	case int:
		size = float64(v)
	case float64:
		size = v
	default:
		size = float64(countOf(v))
	}
	if l.holds(size, l.bound) {
		return
	}
	found := "has " + counted(v)
	if l.of == Number {
		found = "is " + show(v)
	}
	c.reportf(l.name, "%s, expected %s %s", found, l.words, show(l.written))
}

func (c *checker) text(n *node, s string) {
	c.take(len(n.limits) * len(s) / bytesAStep)
	if n.pattern != nil && !c.matches(n.pattern, s) {
		c.reportf("pattern", "is %s, expected string that matches %s", show(s), cut(n.text("pattern"), maxShownText))
	}
	if n.format == nil {
		return
	}
	c.take(regexpsize.Parsing(s[:min(len(s), maxFormatted)])) // upper bound: it may be the format of patterns
	if !n.format.accepts(s) {
		c.report(Violation{Keyword: "format", Message: "is " + show(s) + ", expected " + cmp.Or(n.format.expected, "the format "+n.text("format")), Help: n.format.help})
	}
}

func (c *checker) matches(p *pattern, s string) bool {
	const bytesAStep = 8 // read by an instruction in a step
	c.take(1 + p.size*len(s)/bytesAStep)
	return p.compiled().MatchString(s)
}

func (c *checker) object(n *node, m map[string]any) {
	c.missing("required", n.required, m)
	for name, required := range n.dependent {
		if _, ok := m[name]; ok {
			c.missing("dependentRequired", required, m)
		}
	}
	for name, sub := range n.implied {
		if _, ok := m[name]; ok {
			c.check(sub, m)
		}
	}
	names := n.subs["propertyNames"]
	for key, item := range m {
		c.take(1)
		for _, sub := range n.subs["unevaluatedProperties"] {
			c.try(sub, item) // the library takes as many steps
		}
		sub := n.fields[key]
		known := sub != nil
		if known {
			c.below(key, sub, item)
		}
		for _, p := range n.patterns {
			if c.matches(p, key) {
				known = true
				c.below(key, p.node, item)
			}
		}
		switch {
		case known:
		case n.extra != nil:
			c.below(key, n.extra, item)
		case n.closed:
			c.surplus(n, key)
		}
		for _, name := range names {
			if found := c.try(name, key); len(found) > 0 {
				c.report(Violation{Keyword: "propertyNames", Message: "has a name that " + slices.MinFunc(found, compareViolations).Message}, key)
			}
		}
	}
}

// missing reports the missing names of an object.
func (c *checker) missing(keyword string, names []string, m map[string]any) {
	c.take(len(names))
	for _, name := range names {
		if _, ok := m[name]; !ok {
			c.report(Violation{Keyword: keyword, Message: "is required but missing"}, name)
		}
	}
}

// surplus reports an additional field of a closed object.
func (c *checker) surplus(n *node, name string) {
	const (
		shown      = 20
		candidates = 250 // names to compare when guessing the intended one
	)
	v := Violation{Keyword: "additionalProperties", Message: "is not a field of this object, expected none"}
	if len(n.known) > 0 {
		v.Message = "is not a field of this object, expected " + strings.Join(n.known[:min(len(n.known), shown)], ", ")
	}
	if len(n.known) <= candidates {
		c.take(len(n.known))
		v.Help = nearest.DidYouMean(name, n.known)
	}
	c.report(v, name)
}

func (c *checker) list(n *node, list []any) {
	prefix := n.subs["prefixItems"]
	for i, item := range list {
		c.take(1)
		for _, sub := range n.subs["unevaluatedItems"] {
			c.try(sub, item)
		}
		if i < len(prefix) {
			c.below(strconv.Itoa(i), prefix[i], item)
		} else if n.items != nil {
			c.below(strconv.Itoa(i), n.items, item)
		}
	}
	for _, sub := range n.subs["contains"] {
		count := 0
		for _, item := range list {
			if len(c.try(sub, item)) == 0 {
				count++
			}
		}
		if count < n.containsLeast {
			c.reportf("contains", "contains %d of the expected elements, expected at least %d", count, n.containsLeast)
		}
		if count > n.containsMost {
			c.reportf("contains", "contains %d of the expected elements, expected at most %d", count, n.containsMost)
		}
	}
	if unique, _ := n.keywords["uniqueItems"].(bool); unique {
		c.unique(list)
	}
}

func (c *checker) unique(list []any) {
	seen := make(map[any]int, len(list))
	for i, item := range list {
		c.take(weightOf(item))
		id := identity(item)
		if first, ok := seen[id]; ok {
			c.reportf("uniqueItems", "has equal elements at index %d and %d", first, i)
			return
		}
		seen[id] = i
	}
}

// combine checks v with the keywords that have schemas for the same value.
func (c *checker) combine(n *node, v any) {
	for _, sub := range n.subs["allOf"] {
		c.check(sub, v)
	}
	c.alternatives("anyOf", n.subs["anyOf"], v)
	c.alternatives("oneOf", n.subs["oneOf"], v)
	for _, sub := range n.subs["not"] {
		if len(c.try(sub, v)) == 0 {
			c.reportf("not", "is %s, which is excluded", show(v))
		}
	}
	for _, condition := range n.subs["if"] {
		branch := "then"
		if len(c.try(condition, v)) > 0 {
			branch = "else"
		}
		for _, sub := range n.subs[branch] {
			c.check(sub, v)
		}
	}
}

// alternatives reports a value that fits none of all, with the first violation of each, or more than one of oneOf.
func (c *checker) alternatives(keyword string, all []*node, v any) {
	var fits, complaints []string
	for i, sub := range all {
		found := c.try(sub, v)
		if len(found) == 0 {
			fits = append(fits, strconv.Itoa(i))
			continue
		}
		first := slices.MinFunc(found, compareViolations)
		first.Pointer, first.Help = strings.TrimPrefix(first.Pointer, PointerOf(c.path)), ""
		complaints = append(complaints, first.String())
	}
	switch {
	case len(all) == 0 || len(fits) == 1 || len(fits) > 1 && keyword == "anyOf":
	case len(fits) > 1:
		c.reportf(keyword, "fits the alternatives at index %s, expected exactly one", cut(strings.Join(fits, ", "), maxShownText))
	default:
		slices.Sort(complaints)
		if complaints = slices.Compact(complaints); len(complaints) > 3 {
			complaints = append(complaints[:3], "…")
		}
		c.reportf(keyword, "fits none of the alternatives: %s", cut(strings.Join(complaints, "; or "), maxShownText))
	}
}

// weightOf returns the number of steps to compare v with another value.
func weightOf(v any) int {
	weight := 1
	switch v := v.(type) {
	case string:
		weight += len(v) / bytesAStep
	case []any:
		for _, item := range v {
			weight += weightOf(item)
		}
	case map[string]any:
		for key, item := range v {
			weight += weightOf(key) + weightOf(item)
		}
	}
	return weight
}

func oneOf(values []any) string {
	const shown = 20
	words := make([]string, 0, shown)
	for _, v := range values[:min(len(values), shown)] {
		words = append(words, show(v))
	}
	if len(values) > len(words) {
		return fmt.Sprintf("one of %s or %d others", strings.Join(words, ", "), len(values)-len(words))
	}
	if last := len(words) - 1; last > 0 {
		return "one of " + strings.Join(words[:last], ", ") + " or " + words[last]
	}
	return strings.Join(words, "")
}

// countOf returns the number of characters, elements or fields of a value.
func countOf(v any) int {
	switch v := v.(type) {
	case string:
		return utf8.RuneCountInString(v)
	case []any:
		return len(v)
	case map[string]any:
		return len(v)
	}
	return 0
}

// counted returns countOf in words.
func counted(v any) string {
	unit := map[Kind]string{String: "character", Array: "element", Object: "field"}[kindOf(v)]
	count := countOf(v)
	if count != 1 {
		unit += "s"
	}
	return strconv.Itoa(count) + " " + unit
}
