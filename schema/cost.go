package schema

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"maps"
	"math/big"
	"slices"
)

// maxSteps is how many steps checking one document may take, of some hundred nanoseconds each. Schema and document
// multiply: a thousand alternatives for each of fifty thousand values take minutes.
const maxSteps = 6_000_000

// uncheckable is what there is to say of a document that would take more.
func uncheckable() []Violation {
	return []Violation{{Message: fmt.Sprintf("cannot be checked: it is too large for this schema, checking it takes more than %d steps", maxSteps)}}
}

// Limits of what the library compiles. It looks at all schemas for each of them, and at all that are around a place for
// each error there.
const (
	maxLibrarySchemas = 4000
	maxEffort         = 8 << 20 // bytes of the pointers of all schemas, each as often as there are schemas around it
	maxStrays         = 200
)

// Prices of the library, in steps.
const (
	visitSteps  = 8  // a value that a schema judges
	memberSteps = 3  // a field or element of it, which the library keeps a list of
	errorSteps  = 15 // an error, or one that is passed on
	intSteps    = 8  // a number that is compared: it becomes a fraction of big integers
	floatSteps  = 50
	matchBytes  = 8  // of a text that one instruction of a pattern reads in a step
	scanBytes   = 64 // of a text that is looked through in a step
	keptBytes   = 16 // of an error that are written in a step
	copiedBytes = 512
)

// listed is how much there is in enum and const.
type listed struct {
	count  int // values
	text   int // bytes of them
	weight int // steps to compare all of them and what is in them
}

func (l *listed) add(v any) {
	l.count++
	l.weight += weightOf(v)
	if s, ok := v.(string); ok {
		l.text += len(s)
	}
}

// weightOf is how many steps it takes to compare v with its like.
func weightOf(v any) int {
	switch v := v.(type) {
	case int:
		return intSteps
	case float64:
		return floatSteps
	case string:
		return 1 + len(v)/scanBytes
	case []any:
		n := 1
		for _, item := range v {
			n += weightOf(item)
		}
		return n
	case map[string]any:
		n := 1
		for key, item := range v {
			n += 2 + len(key)/scanBytes + weightOf(item)
		}
		return n
	}
	return 1
}

// price is how many steps the own checker takes to judge v by the node itself.
func (n *node) price(v any) int {
	steps := 1 + len(n.limits)
	switch v := v.(type) {
	case string:
		steps += len(n.limits) * len(v) / scanBytes
		if n.pattern != nil {
			steps += n.pattern.price(len(v))
		}
	case map[string]any:
		steps += len(n.required) / 4
	}
	if n.listed.count > 0 {
		switch v.(type) {
		case []any, map[string]any:
			steps += n.listed.weight / 2
		default:
			steps += n.listed.count/16 + n.listed.text/1024
		}
	}
	return steps
}

func (p *pattern) price(bytes int) int { return 1 + p.instructions*bytes/matchBytes }

// meter estimates what the library takes to check a value. It walks as the library does, but takes it that every condition
// holds and every keyword fails whose verdict is not plain, and it stops when there are no steps left.
type meter struct {
	root *node
	left int
}

// way is where the library is: what an error there repeats.
type way struct {
	schemas int // one inside another
	path    int // bytes of the keywords on the way
	pointer int // bytes of the pointer to the value
}

func (w way) to(path, pointer int) way { return way{w.schemas, w.path + path + 1, w.pointer + pointer} }

// affordable says whether the library can check v in time.
func (s *Schema) affordable(v any) bool {
	m := meter{root: s.root, left: maxSteps}
	m.visit(s.root, v, way{})
	return m.left >= 0
}

func (m *meter) take(steps int) { m.left -= min(steps, maxSteps+1) }

// fail charges an error with a text of some bytes.
func (m *meter) fail(n *node, w way, bytes int) {
	m.take(errorSteps + w.schemas*w.path/copiedBytes + (w.path+w.pointer+len(n.at)+bytes)/keptBytes)
}

func (m *meter) visit(n *node, v any, w way) {
	if m.left < 0 {
		return
	}
	w.schemas++
	m.take(visitSteps)
	m.fail(n, w, 0)
	switch v := v.(type) {
	case []any:
		m.take(memberSteps * len(v))
	case map[string]any:
		m.take(memberSteps * len(v))
	}
	if n.always != nil || !n.kinds.admits(kindOf(v)) {
		return // nothing else is looked at
	}
	for _, l := range n.limits {
		if m.take(1); l.broken(v) {
			m.fail(n, w, 0)
		}
	}
	if n.listed.count > 0 {
		m.values(n, v)
		m.fail(n, w, n.listed.text+4*n.listed.count)
	}
	switch v := v.(type) {
	case int:
		m.take(intSteps * (1 + len(n.limits)))
	case float64:
		m.take(floatSteps * (1 + len(n.limits)))
	case string:
		m.text(n, v, w)
	case map[string]any:
		m.object(n, v, w)
	case []any:
		m.list(n, v, w)
	}
	if n.ref != nil {
		m.visit(n.ref, v, w.to(len("$ref"), 0))
	}
	for _, all := range [...][]*node{n.allOf, n.branches} {
		for _, sub := range all {
			m.visit(sub, v, w.to(len("anyOf/1000"), 0))
		}
	}
	if n.not != nil {
		m.visit(n.not, v, w.to(len("not"), 0))
	}
	if n.meta {
		m.schema(n, v, w)
	}
}

// values charges enum and const.
func (m *meter) values(n *node, v any) {
	switch v.(type) {
	case int, float64, []any, map[string]any:
		m.take(n.listed.weight + n.listed.count*weightOf(v)/8)
	default:
		m.take(n.listed.count/4 + n.listed.text/1024)
	}
}

func (m *meter) text(n *node, s string, w way) {
	m.take(3 * len(n.limits) * len(s) / scanBytes) // it is copied, and counted again for the message
	if n.pattern != nil {
		m.take(n.pattern.price(len(s)))
		m.fail(n, w, n.pattern.length)
	}
	if n.has("format") {
		m.take(len(s) / matchBytes)
		m.fail(n, w, len(s))
		if n.text("format") == "regex" {
			m.take(100 * len(s)) // it is compiled
		}
	}
	if n.has("contentEncoding") || n.has("contentMediaType") {
		m.take(len(s) / 2)
		m.fail(n, w, 0)
	}
	if n.decoded {
		m.take(maxSteps) // what is in the text is anybody's guess
	}
}

func (m *meter) object(n *node, v map[string]any, w way) {
	m.take((len(n.fields) + len(n.required)) / 2)
	absent := 0
	for _, name := range n.required {
		if _, ok := v[name]; !ok {
			absent += len(name) + len(`"", `)
		}
	}
	if absent > 0 {
		m.fail(n, w, 2*absent)
	}
	for key, item := range v {
		if m.left < 0 {
			return
		}
		at := len(key) + 1
		if sub := n.fields[key]; sub != nil {
			m.visit(sub, item, w.to(len("properties/")+len(key), at))
		} else {
			if n.extra != nil {
				m.visit(n.extra, item, w.to(len("additionalProperties"), at))
			}
			if n.closed {
				m.take(1 + len(key)/matchBytes)
			}
			if n.others != nil {
				m.visit(n.others, item, w.to(len("unevaluatedProperties"), at))
			}
		}
		if n.names != nil {
			m.visit(n.names, key, w.to(len("propertyNames"), at))
		}
		for _, p := range n.matching {
			m.take(p.name.price(len(key)))
			m.visit(p.node, item, w.to(len("patternProperties/")+p.name.length, at))
		}
	}
	if n.closed {
		m.fail(n, w, 0)
	}
	for _, keyword := range [...]string{"dependentRequired", "dependencies"} {
		if !n.has(keyword) {
			continue
		}
		dependencies, _ := n.keywords[keyword].(map[string]any)
		m.take(len(dependencies))
		for name, value := range dependencies {
			names, _ := value.([]any)
			if _, ok := v[name]; !ok || len(names) == 0 {
				continue
			}
			for range names {
				if m.fail(n, w, 4*len(name)+64); m.left < 0 {
					return
				}
			}
		}
	}
}

func (m *meter) list(n *node, v []any, w way) {
	if n.has("uniqueItems") {
		m.unique(v)
		m.fail(n, w, 0)
	}
	const index = len("/1000")
	for i, item := range v {
		if m.left < 0 {
			return
		}
		if i < len(n.prefix) {
			m.visit(n.prefix[i], item, w.to(len("prefixItems/1000"), index))
		} else if n.items != nil {
			m.visit(n.items, item, w.to(len("items"), index))
		}
		for _, sub := range n.elements {
			m.visit(sub, item, w.to(len("unevaluatedItems"), index))
		}
	}
}

// unique charges uniqueItems. The library compares elements of the same hash, each with all before it; and short lists
// without hashes. What it hashes does not say where one part of an element ends: ["a\u0003b"] is ["a", "b"].
func (m *meter) unique(list []any) {
	weight := 1 + weightOf(list)
	if len(list) <= 20 {
		m.take(weight * len(list))
		return
	}
	if m.take(2 * weight); m.left < 0 {
		return
	}
	seed := maphash.MakeSeed()
	alike := make(map[uint64]int, len(list))
	for _, item := range list {
		var h maphash.Hash
		h.SetSeed(seed)
		hash(&h, item)
		sum := h.Sum64()
		if m.take(weightOf(item) * alike[sum]); m.left < 0 {
			return
		}
		alike[sum]++
	}
}

// hash takes the same bytes as the library's.
func hash(h *maphash.Hash, v any) {
	switch v := v.(type) {
	case nil:
		h.WriteByte(0)
	case bool:
		h.WriteByte(1)
		if v {
			h.WriteByte(1)
		} else {
			h.WriteByte(0)
		}
	case int:
		h.WriteByte(2)
		bytes := binary.BigEndian.AppendUint64(nil, uint64(max(v, -v)))
		for len(bytes) > 0 && bytes[0] == 0 {
			bytes = bytes[1:]
		}
		h.Write(append(bytes, 1))
	case float64:
		h.WriteByte(2)
		n, _ := new(big.Rat).SetString(fmt.Sprint(v))
		h.Write(n.Num().Bytes())
		h.Write(n.Denom().Bytes())
	case string:
		h.WriteByte(3)
		h.WriteString(v)
	case []any:
		h.WriteByte(4)
		for _, item := range v {
			hash(h, item)
		}
	case map[string]any:
		h.WriteByte(5)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			hash(h, key)
			hash(h, v[key])
		}
	}
}

// schema charges a value that is held against a metaschema: some twenty schemas judge each schema in it, five deeper
// than those around it.
func (m *meter) schema(n *node, v any, w way) {
	const deeper, visits = 5, 20
	w.schemas += deeper
	w = w.to(deeper*len("properties/items"), 10)
	for range visits {
		m.fail(n, w, 0)
	}
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if m.left < 0 {
				return
			}
			m.schema(n, item, w)
		}
	case map[string]any:
		for key, item := range v {
			if m.left < 0 {
				return
			}
			m.schema(n, item, w.to(len(key), len(key)))
		}
	case string:
		m.take(len(v) * 10)
	}
}
