package rules

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"sync"

	"github.com/ralph-sdk/ralph/schema"
)

// extent is how much of the value at the end of a path an operand uses.
type extent uint8

const (
	everything   extent = iota
	someFields          // of the elements of a list, only fields that the operand names
	firstElement        // of a list
	lastElement
	onlyCount // how many elements a list has
)

// and returns what two uses of one value need.
func (e extent) and(other extent) extent {
	switch {
	case e == other || other == onlyCount:
		return e
	case e == onlyCount:
		return other
	}
	return everything
}

// goValue is what a program gave as the value of a fact.
type goValue struct {
	given  reflect.Value
	typ    *schema.Schema // nil is anything
	sparse bool           // declared fields that it lacks have the zero value of their type: a program omits what it does not know
	body   bool           // its field body is not of the schema
	answers
}

// answers are the results of functions that supply parts of a value: each is called once.
type answers struct {
	mu  sync.Mutex
	all map[string]answer // by JSON pointer
}

// once returns the answer of get for a key, which it calls at most once.
func (a *answers) once(key string, get func() (any, error)) (value any, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if got, ok := a.all[key]; ok {
		return got.value, got.err
	}
	value, err = get()
	if a.all == nil {
		a.all = map[string]answer{}
	}
	a.all[key] = answer{value, err}
	return value, err
}

// reading is what an evaluation has read of a goValue: each part is converted and checked when an operand reaches it, and
// then stays.
type reading struct {
	*goValue
	root part

	status   Status
	problem  string
	quiet    bool
	unusable []schema.Violation
	warnings []schema.Violation
}

// part is a part of a Go value.
type part struct {
	of    reflect.Value  // no pointer
	typ   *schema.Schema // nil is anything
	value any            // as rules see it. An object or a list that is not whole grows, and others may have it
	whole bool
	parts map[string]*part // of an object or a list that is not whole, those that were reached

	in   *part // nil for the whole value
	step string
	deep int
}

// pointer returns the JSON pointer of a part.
func (p *part) pointer() string {
	path := make([]string, p.deep)
	for ; p.in != nil; p = p.in {
		path[p.deep-1] = p.step
	}
	return schema.PointerOf(path)
}

// child returns a field or an element that was not read.
func (p *part) child(step string) *part {
	return &part{typ: p.typ.At(step), in: p, step: step, deep: p.deep + 1}
}

// begin determines the status, and prepares the value.
func (g *reading) begin(ctx context.Context) {
	defer func() {
		if r := recover(); r != nil {
			g.status, g.problem = Invalid, panicked(r)
		}
	}()
	v, err := found(g.given, g.caller(ctx, &g.root))
	switch {
	case errors.As(err, new(lazyError)):
		g.status, g.problem = Missing, err.Error()
	case err != nil:
		g.status, g.problem = Invalid, err.Error()
	case !v.IsValid():
		g.status, g.problem, g.quiet = Missing, "is nil", true
	default:
		if g.root.of = v; !g.root.open() {
			g.close(ctx, &g.root)
			g.judge()
		}
	}
}

// judge makes the fact invalid if its value is unusable as a whole.
func (g *reading) judge() {
	for _, u := range g.unusable {
		if u.Pointer == "" {
			g.status, g.problem = Invalid, u.Message
		}
	}
}

// caller calls the function that supplies a part.
func (g *reading) caller(ctx context.Context, p *part) caller {
	return func(f lazy) (any, error) { return g.once(p.pointer(), func() (any, error) { return with(ctx)(f) }) }
}

// open makes the value of a part that can be read in parts, without any.
func (p *part) open() bool {
	kind := schema.Any
	if p.typ != nil {
		kind = p.typ.Kind
	}
	switch shape := shapeOf(p.of); {
	case !p.typ.Apart():
	case shape == anObject && (kind == schema.Any || kind == schema.Object):
		p.value = map[string]any{}
	case shape == aList && (kind == schema.Any || kind == schema.Array):
		p.value = make([]any, p.of.Len())
	}
	return p.value != nil
}

// close converts and checks a part that cannot be read in parts. It reports false if the part is unusable.
func (g *reading) close(ctx context.Context, p *part) (ok bool) {
	p.whole = true
	plain, err := plainValue(nil, p.of, 0)
	if errors.Is(err, errLazy) {
		if plain, err = g.once("*"+p.pointer(), func() (any, error) { return plainValue(with(ctx), p.of, 0) }); err == nil {
			plain, err = plainOf(nil, plain, 0) // the next evaluation needs it, too
		}
	}
	if err != nil {
		g.reject(p, err)
		return false
	}
	p.value, ok = g.check(p, plain)
	return ok
}

// atOnce converts and checks all of an open part of which nothing was read. It reports false if that must be done in
// parts, because one cannot be converted or is a function.
func (g *reading) atOnce(p *part) bool {
	plain, err := plainValue(nil, p.of, 0)
	switch p.whole = err == nil || errors.Is(err, errDeep); {
	case !p.whole:
		return false
	case err != nil:
		g.reject(p, err)
		return true
	}
	value, _ := g.check(p, plain)
	switch open := p.value.(type) { // others may have it
	case map[string]any:
		fields, _ := value.(map[string]any)
		maps.Copy(open, fields)
	case []any:
		list, _ := value.([]any)
		copy(open, list)
	}
	return true
}

// check checks all of a part that was converted.
func (g *reading) check(p *part, plain any) (value any, ok bool) {
	body, hasBody := any(nil), false
	fields, isObject := plain.(map[string]any)
	if isObject && g.body && p == &g.root {
		if body, hasBody = fields["body"]; !hasBody {
			body, hasBody = "", true
		}
		delete(fields, "body")
	}
	if g.sparse {
		plain = zeroed(p.typ, plain)
	}
	value, ok = g.checked(p.typ.Check(schema.Document{Value: plain, Typed: true}), p, plain)
	if fields, isObject := value.(map[string]any); isObject && hasBody {
		fields["body"] = body
	}
	return value, ok
}

// checked keeps what is wrong with a part, and returns its value. ok is false if it is unusable as a whole.
func (g *reading) checked(r schema.Result, p *part, plain any) (value any, ok bool) {
	if ok = true; len(r.Unusable)+len(r.Warnings) == 0 {
		return r.Value, true
	}
	at := p.pointer()
	placed := func(v schema.Violation) schema.Violation {
		if v.Pointer == "" && at != "" {
			v.Value = plain
		}
		v.Pointer = at + v.Pointer
		return v
	}
	for _, v := range r.Unusable {
		ok = ok && v.Pointer != ""
		g.unusable = append(g.unusable, placed(v))
	}
	for _, v := range r.Warnings {
		g.warnings = append(g.warnings, placed(v))
	}
	return r.Value, ok
}

// reject keeps why a part cannot be used.
func (g *reading) reject(p *part, err error) {
	g.unusable = append(g.unusable, schema.Violation{Pointer: p.pointer(), Message: err.Error()})
}

// reach converts and checks what a path leads to, and of that what is needed: everything below it, or of the elements
// of a list only some fields.
func (g *reading) reach(ctx context.Context, path []string, need extent, fields []string) {
	if g.root.whole {
		return
	}
	defer func() {
		if r := recover(); r != nil {
			if i := slices.Index(path, "*"); i >= 0 {
				path = path[:i]
			}
			v := schema.Violation{Pointer: schema.PointerOf(path), Message: panicked(r)}
			if !slices.ContainsFunc(g.unusable, func(u schema.Violation) bool { return u.Pointer == v.Pointer }) {
				g.unusable = append(g.unusable, v)
			}
		}
	}()
	r := reader{g, ctx, need, fields}
	r.within(&g.root, path)
}

// reader reaches what one operand needs.
type reader struct {
	*reading
	ctx    context.Context
	need   extent
	fields []string
}

// within reaches a path in a part.
func (r *reader) within(p *part, path []string) {
	list, isList := p.value.([]any)
	need := r.need
	if !isList || len(path) > 0 {
		need = everything
	}
	switch {
	case p.whole, len(path) == 0 && need == onlyCount, r.ctx.Err() != nil: // then the evaluation ends
	case p.deep > schema.MaxDepth, len(r.unusable) > schema.MaxUnusable:
		r.reject(&r.root, fmt.Errorf("has more than %d fields and elements that are unusable, or more than %d levels", schema.MaxUnusable, schema.MaxDepth))
		r.root.whole = true
	case len(path) > 0 && path[0] != "*":
		r.step(p, path[0], path[1:])
	case len(path) == 0 && need == everything && len(p.parts) == 0 && r.atOnce(p):
	case len(path) > 0 || need == everything:
		for _, step := range p.steps() {
			r.step(p, step, path[min(1, len(path)):])
		}
		p.whole = len(path) == 0
	case need == firstElement || need == lastElement:
		all := reader{r.reading, r.ctx, everything, nil}
		i := 0
		if need == lastElement {
			i = len(list) - 1
		}
		all.step(p, strconv.Itoa(i), nil)
	default:
		all := reader{r.reading, r.ctx, everything, nil}
		for i := range list {
			child := r.enter(p, strconv.Itoa(i))
			if _, isObject := child.value.(map[string]any); !isObject {
				all.within(child, nil)
				continue
			}
			for _, name := range r.fields {
				all.within(child, []string{name})
			}
		}
	}
}

// steps returns the names of the fields that a part has or declares, or the indexes of its elements.
func (p *part) steps() (all []string) {
	if list, ok := p.value.([]any); ok {
		for i := range list {
			all = append(all, strconv.Itoa(i))
		}
		return all
	}
	all = keysOf(p.of)
	if p.typ != nil {
		all = slices.AppendSeq(all, maps.Keys(p.typ.Fields))
	}
	return all
}

// step reaches a field or an element of a part, and a path in it.
func (r *reader) step(p *part, step string, path []string) {
	if child := r.enter(p, step); child != nil {
		r.within(child, path)
	}
}

// enter returns a field or an element, with its value in that of p. It is nil if a list has no such element.
func (r *reader) enter(p *part, step string) *part {
	if child := p.parts[step]; child != nil {
		return child
	}
	child := p.child(step)
	var of reflect.Value
	there := true
	fields, _ := p.value.(map[string]any)
	list, isList := p.value.([]any)
	i := 0
	if isList {
		var err error
		if i, err = strconv.Atoi(step); err != nil || i < 0 || i >= len(list) {
			return nil
		}
		of = p.of.Index(i)
	} else if of, there = entry(p.of, step); p.in == nil && r.body && step == "body" {
		if child.typ = nil; !there {
			of, there = reflect.ValueOf(""), true
		}
	} else if there {
		r.checked(schema.Result{Warnings: p.typ.Surplus(step)}, child, nil)
	}
	if p.parts == nil {
		p.parts = map[string]*part{}
	}
	p.parts[step] = child
	if !r.fill(child, of, there) {
		return child
	}
	if isList {
		list[i] = child.value
	} else {
		fields[step] = child.value
	}
	return child
}

// fill opens or closes a part. It reports false if the part has no value.
func (r *reader) fill(p *part, of reflect.Value, there bool) (ok bool) {
	var err error
	switch p.of, err = found(of, r.caller(r.ctx, p)); {
	case err != nil:
		p.whole = true
		r.reject(p, err)
		return false
	case !p.of.IsValid(): // nil or missing
		p.whole = true
		p.value, ok = r.absent(p, there)
		return ok
	}
	return p.open() || r.close(r.ctx, p)
}

// absent returns the value of a field or an element that is nil or missing.
func (g *reading) absent(p *part, there bool) (any, bool) {
	doc, of := schema.Document{Typed: true}, p.in.typ
	if _, isList := p.in.value.([]any); isList {
		return g.checked(p.typ.Check(doc), p, nil)
	}
	if g.sparse && of != nil {
		if f := of.Fields[p.step]; f != nil && !f.Optional && !f.HasDefault && !f.Nullable && f.Kind != schema.Any {
			doc.Value = f.Zero()
			there = doc.Value != nil
		}
	}
	r, has := of.Field(p.step, doc, there, func() []string { return keysOf(p.in.of) })
	value, ok := g.checked(r, p, doc.Value)
	return value, ok && has
}

// keysOf returns the keys of an object.
func keysOf(v reflect.Value) (keys []string) {
	for name := range entries(v) {
		keys = append(keys, name)
	}
	return keys
}
