package schema

import (
	"fmt"
	"maps"
	"math"
	"net/url"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/ralph-sdk/ralph/internal/nearest"
	"github.com/ralph-sdk/ralph/internal/regexpsize"
)

// Limits on a schema, which bound the cost of compiling it.
const (
	maxErrors       = 100     // errors to collect before choosing the first
	maxValues       = 50_000  // values in the document
	maxLevels       = 128     // of the document
	maxPointers     = 400_000 // bytes of the JSON pointers of all subschemas, each plus a constant
	maxInstructions = 100_000 // of all patterns
)

// compiler compiles a decoded schema into nodes.
type compiler struct {
	name    string
	draft   draft
	root    any
	nodes   map[string]*node
	pending []*node // nodes with an unresolved $ref
	unknown []Violation
	errs    []Violation
	rare    bool // the document has keywords that need the library

	size         int // values
	pointers     int // bytes of all pointers
	instructions int // of all patterns
}

func build(name string, v any, position func(string) (int, int)) (*Schema, error) {
	c := &compiler{name: name, draft: draft2020, nodes: make(map[string]*node)}
	s, typ := &compiled{name: name}, &Schema{}
	if c.root = c.canonical(v, make([]any, 0, 16)); len(c.errs) == 0 {
		c.readDraft()
		s.root = c.node(c.root, "")
		c.resolve()
	}
	if len(c.errs) == 0 {
		c.refuseCircles()
	}
	if len(c.errs) == 0 {
		d := &deriver{compiler: c, memo: make(map[*node]*Schema)}
		*typ = *d.typeOf(s.root)
		s.widened = d.widenings()
	}
	if err := c.first(position); err != nil {
		return nil, err
	}
	for i := range c.unknown {
		c.unknown[i].Line, c.unknown[i].Col = position(c.unknown[i].Pointer)
	}
	slices.SortFunc(c.unknown, compareViolations)
	s.unknown, s.values, s.instructions = c.unknown, c.size, c.instructions
	if c.rare {
		var err error
		if s.library, err = s.compile(len(c.nodes)); err != nil {
			return nil, &CompileError{Name: name, Message: "the schema cannot be used: " + err.Error()}
		}
	}
	typ.compiled = s
	return typ, nil
}

func (c *compiler) fail(at, format string, args ...any) {
	c.report(Violation{Pointer: at, Message: fmt.Sprintf(format, args...)})
}

func (c *compiler) report(v Violation) {
	if len(c.errs) < maxErrors {
		c.errs = append(c.errs, v)
	}
}

// first returns the first error in the document. Maps are visited in random order, so errors must be sorted.
func (c *compiler) first(position func(string) (int, int)) error {
	if len(c.errs) == 0 {
		return nil
	}
	for i := range c.errs {
		c.errs[i].place(position)
	}
	v := slices.MinFunc(c.errs, compareViolations)
	return &CompileError{Name: c.name, Line: v.Line, Col: v.Col, Pointer: v.Pointer, Message: v.Message, Help: v.Help}
}

// canonical returns a copy of a decoded schema with numbers as int or float64.
func (c *compiler) canonical(v any, path []any) any {
	if c.size++; len(path) > maxLevels || c.size > maxValues {
		if len(c.errs) == 0 {
			c.fail("", "the schema is too big: at most %d values, %d levels deep, are read", maxValues, maxLevels)
		}
		return nil
	}
	switch v := v.(type) {
	case nil, bool:
		return v
	case string:
		if !utf8.ValidString(v) {
			c.fail(PointerOf(path), "expected string in UTF-8, got %q", v)
		}
		return v
	case map[string]any:
		m := make(map[string]any, len(v))
		for key, value := range v {
			if !utf8.ValidString(key) {
				c.fail(PointerOf(path), "expected keys in UTF-8, got %q", key)
			}
			m[key] = c.canonical(value, append(path, key))
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i, value := range v {
			list[i] = c.canonical(value, append(path, i))
		}
		return list
	}
	n, exact, ok := number(v)
	switch {
	case !ok:
		c.fail(PointerOf(path), "expected a JSON value, got %v of Go's type %T", v, v)
	case !exact:
		// A bound may be beyond the saturated integers.
		f, err := strconv.ParseFloat(fmt.Sprint(v), 64)
		if err != nil {
			c.fail(PointerOf(path), "the number %s is too big", show(fmt.Sprint(v)))
		}
		return f
	}
	return n
}

func (c *compiler) readDraft() {
	m, _ := c.root.(map[string]any)
	if address, ok := m["$schema"].(string); ok {
		if c.draft, ok = draftOf(address); !ok {
			c.fail("/$schema", "expected %q, %q or %q, got %s", "https://json-schema.org/draft/2020-12/schema",
				"https://json-schema.org/draft/2019-09/schema", "http://json-schema.org/draft-07/schema#", show(address))
			c.draft = draft2020
		}
	}
}

// node compiles the schema at a pointer in the document.
func (c *compiler) node(doc any, at string) *node {
	const perNode = 50
	n := &node{at: at}
	if c.pointers += perNode + len(at); c.pointers > maxPointers {
		c.fail("", "the schema is too big: it has too many schemas inside, or too long names on the way to them")
		c.pointers = maxPointers + 1 // the rest is also too much
		return n
	}
	c.nodes[at] = n
	switch doc := doc.(type) {
	case bool:
		n.always = &doc
		return n
	case map[string]any:
		n.keywords = doc
	default:
		c.fail(at, "expected a schema, which is an object, got %s", show(doc))
		return n
	}
	_, n.refOnly = n.keywords["$ref"]
	n.refOnly = n.refOnly && c.draft < draft2019
	for name, value := range n.keywords {
		kw, ok := keywordOf(name)
		if !ok {
			c.reportUnknown(name, at)
			continue
		}
		c.rare = c.rare || kw.rare
		c.keyword(n, kw, value, child(at, name))
	}
	if !n.has("maxContains") {
		n.containsMost = math.MaxInt
	}
	if !n.has("minContains") {
		n.containsLeast = 1
	}
	if n.closed {
		n.known = slices.Sorted(maps.Keys(n.fields))
	}
	if n.refOnly {
		*n = node{at: at, keywords: n.keywords, refOnly: true}
	}
	if _, ok := n.keywords["$ref"].(string); ok {
		c.pending = append(c.pending, n)
	}
	return n
}

func (c *compiler) reportUnknown(name, at string) {
	if strings.HasPrefix(name, "x-") || len(c.unknown) == maxErrors {
		return // a keyword that is never an error
	}
	known := make([]string, len(keywords))
	for i := range keywords {
		known[i] = keywords[i].name
	}
	c.unknown = append(c.unknown, Violation{
		Pointer: child(at, name),
		Message: fmt.Sprintf("unknown keyword %s, it has no effect", show(name)),
		Help:    nearest.DidYouMean(name, known),
	})
}

// keyword checks the form of one keyword's value and stores it in the node.
func (c *compiler) keyword(n *node, kw keyword, value any, at string) {
	switch kw.shape {
	case aText, aReference:
		if text, ok := expect[string](c, value, at, "a string"); ok {
			c.textKeyword(n, kw.name, text, at)
		}
	case aFlag:
		expect[bool](c, value, at, "true or false")
	case aNumber, aPositive, aCount:
		c.numberKeyword(n, kw, value, at)
	case aList, aValueSet:
		c.list(n, kw, value, at)
	case anything:
		if kw.name == "const" {
			n.constant = []any{value}
		}
	case typeNames:
		c.typeKeyword(n, value, at)
	case names:
		n.required = c.names(value, at)
	case namesMap:
		for key, v := range c.object(value, at) {
			n.requires(key, c.names(v, child(at, key)))
		}
	case refused:
		c.fail(at, "%s is not supported: remove it", kw.name)
	case aPattern:
		if expr, ok := expect[string](c, value, at, "a string"); ok {
			n.pattern = c.pattern(expr, at)
		}
	case ignored:
	default:
		c.schemas(n, kw, value, at)
	}
}

func (c *compiler) textKeyword(n *node, name, value, at string) {
	switch name {
	case "$id":
		// References are local, so the name is never used.
		if n.at != "" {
			c.fail(at, "a nested $id is not supported, remove it: references are resolved from the root")
		}
	case "format":
		n.format = formatOf(value)
		if n.format == nil && len(c.unknown) < maxErrors {
			c.unknown = append(c.unknown, Violation{
				Pointer: at,
				Message: fmt.Sprintf("unknown format %s, it is not checked", show(value)),
				Help:    nearest.DidYouMean(value, formatNames()),
			})
		}
	}
}

func (c *compiler) numberKeyword(n *node, kw keyword, value any, at string) {
	var bound float64
	switch v := value.(type) {
	case int:
		bound = float64(v)
	case float64:
		bound = v
	default:
		c.fail(at, "expected a number, got %s", show(value))
		return
	}
	switch {
	case kw.shape == aCount && (bound < 0 || bound != math.Trunc(bound) || bound > maxInt):
		c.fail(at, "expected a whole number from 0, got %s", show(value))
	case kw.shape == aPositive && bound <= 0:
		c.fail(at, "expected a number greater than 0, got %s", show(value))
	}
	const division = 40 // steps
	switch kw.name {
	case "minContains":
		n.containsLeast = int(bound)
	case "maxContains":
		n.containsMost = int(bound)
	case "multipleOf":
		n.load += division
	}
	if n.load++; kw.holds != nil {
		n.limits = append(n.limits, limit{kw, bound, value})
	}
}

func (c *compiler) list(n *node, kw keyword, value any, at string) {
	list, ok := expect[[]any](c, value, at, "an array")
	if !ok || kw.shape != aValueSet {
		return
	}
	if len(list) == 0 {
		c.fail(at, "expected at least one value")
	}
	n.enum = list
}

func (c *compiler) typeKeyword(n *node, value any, at string) {
	all := []any{value}
	if list, ok := value.([]any); ok {
		if all = list; len(list) == 0 {
			c.fail(at, "expected at least one type")
		}
	}
	for i, v := range all {
		place := at
		if len(all) > 1 {
			place = element(at, i)
		}
		name, _ := v.(string)
		switch k := kindNamed(name); {
		case k == Any:
			c.report(Violation{
				Pointer: place,
				Message: "expected a type: array, boolean, integer, null, number, object or string; got " + show(v),
				Help:    meantType(name),
			})
		case n.kinds.has(k):
			c.fail(place, "%q is in the list twice", name)
		default:
			n.kinds.add(k)
		}
	}
}

// meantType suggests the type that another language calls name, otherwise the nearest one.
func meantType(name string) string {
	meant := map[string]string{
		"int": "integer", "int64": "integer", "uint": "integer", "float": "number", "float64": "number", "double": "number",
		"bool": "boolean", "str": "string", "text": "string", "list": "array", "map": "object", "dict": "object",
	}[name]
	if meant != "" {
		return fmt.Sprintf("did you mean %q?", meant)
	}
	return nearest.DidYouMean(name, kindWords[1:])
}

// schemas compiles the schemas in a keyword.
func (c *compiler) schemas(n *node, kw keyword, value any, at string) {
	switch kw.shape {
	case schemaMap, patternMap, schemaOrNames:
		c.schemaMap(n, kw, value, at)
		return
	case schemaList:
		n.hold(kw.name, c.schemaList(value, at)...)
		return
	case schemaOrList:
		if _, list := value.([]any); list && c.draft < draft2020 {
			n.hold("prefixItems", c.schemaList(value, at)...)
			return
		}
	}
	if flag, ok := value.(bool); ok && kw.name == "additionalProperties" {
		n.closed = !flag
		return
	}
	sub := c.node(value, at)
	switch kw.name {
	case "additionalProperties":
		n.extra = sub
	case "items":
		n.items = sub
	default:
		n.hold(kw.name, sub)
	}
}

func (c *compiler) schemaMap(n *node, kw keyword, value any, at string) {
	m := c.object(value, at)
	nodes := make(map[string]*node, len(m))
	for key, v := range m {
		place := child(at, key)
		if c.pointers > maxPointers {
			return
		}
		if _, list := v.([]any); list && kw.shape == schemaOrNames {
			n.requires(key, c.names(v, place))
			continue
		}
		nodes[key] = c.node(v, place)
		if kw.shape == patternMap {
			if p := c.pattern(key, place); p != nil {
				p.node = nodes[key]
				n.patterns = append(n.patterns, p)
			}
		}
	}
	switch kw.name {
	case "properties":
		n.fields = nodes
	case "dependentSchemas", "dependencies":
		if n.implied == nil {
			n.implied = nodes
		}
		maps.Copy(n.implied, nodes)
	}
}

func (c *compiler) schemaList(value any, at string) []*node {
	list, ok := value.([]any)
	if !ok || len(list) == 0 {
		c.fail(at, "expected an array of at least one schema, got %s", show(value))
		return nil
	}
	nodes := make([]*node, len(list))
	for i, v := range list {
		nodes[i] = c.node(v, element(at, i))
	}
	return nodes
}

// expect returns value as a T, which what describes.
func expect[T any](c *compiler, value any, at, what string) (T, bool) {
	v, ok := value.(T)
	if !ok {
		c.fail(at, "expected %s, got %s", what, show(value))
	}
	return v, ok
}

func (c *compiler) object(value any, at string) map[string]any {
	m, _ := expect[map[string]any](c, value, at, "an object")
	return m
}

func (c *compiler) names(value any, at string) []string {
	list, _ := expect[[]any](c, value, at, "an array of names")
	seen := make(map[string]bool, len(list))
	all := make([]string, 0, len(list))
	for i, v := range list {
		name, ok := v.(string)
		switch {
		case !ok:
			c.fail(element(at, i), "expected a name, which is a string, got %s", show(v))
			continue
		case seen[name]:
			c.fail(element(at, i), "%s is in the list twice", show(name))
		}
		seen[name] = true
		all = append(all, name)
	}
	return all
}

// pattern reads a regular expression.
func (c *compiler) pattern(expr, at string) *pattern {
	p := &pattern{compiled: sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })}
	// A counted repetition expands to many instructions, and even parsing may take long.
	if c.instructions += regexpsize.Parsing(expr); c.instructions <= maxInstructions {
		tree, err := syntax.Parse(expr, syntax.Perl)
		if err != nil {
			c.fail(at, "expected a regular expression in RE2 syntax, without lookarounds and backreferences: %s",
				strings.TrimPrefix(err.Error(), "error parsing regexp: "))
			return nil
		}
		p.size = min(regexpsize.Of(tree), maxInstructions+1)
		c.instructions += p.size
	}
	if c.instructions > maxInstructions {
		c.fail(at, "the patterns of the schema are too large: at most %d instructions, in all, are compiled", maxInstructions)
	}
	return p
}

// resolve resolves all references.
func (c *compiler) resolve() {
	for _, n := range c.pending {
		ref, at := n.text("$ref"), child(n.at, "$ref")
		target, err := url.PathUnescape(strings.TrimPrefix(ref, "#"))
		switch {
		case !strings.HasPrefix(ref, "#"):
			c.fail(at, "nothing is loaded: expected a reference within this document, such as \"#/$defs/name\", got %s", show(ref))
		case err != nil || (target != "" && target[0] != '/'):
			c.fail(at, "expected \"#\" or \"#/\" and a JSON pointer, got %s", show(ref))
		default:
			if n.ref = c.nodes[PointerOf(SplitPointer(strings.TrimSuffix(target, "/")))]; n.ref == nil {
				c.fail(at, "there is no schema at %s in this document", show(ref))
			}
		}
	}
}

// valueAt returns the value at path in a decoded document.
func valueAt(v any, path []string) (any, bool) {
	for _, segment := range path {
		switch container := v.(type) {
		case map[string]any:
			item, ok := container[segment]
			if !ok {
				return nil, false
			}
			v = item
		case []any:
			i := elementIndex(segment)
			if i < 0 || i >= len(container) {
				return nil, false
			}
			v = container[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// refuseCircles reports nodes that refer to themselves for the same value, which would never end.
func (c *compiler) refuseCircles() {
	open := make(map[*node]bool, len(c.nodes)) // false once all nodes below are checked
	var visit func(n *node)
	visit = func(n *node) {
		if inside, seen := open[n]; seen {
			if inside {
				c.fail(n.at, "the schema refers to itself without end")
			}
			return
		}
		open[n] = true
		for _, sub := range n.inPlace() {
			visit(sub)
		}
		open[n] = false
	}
	for _, at := range slices.Sorted(maps.Keys(c.nodes)) {
		visit(c.nodes[at])
	}
}
