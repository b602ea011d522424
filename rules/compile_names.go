package rules

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/schema"
)

// names indexes the names of one program by their whole path.
type names struct {
	byName     map[string]*nameInfo
	namespaces map[string][]string // transcript → its members
	own        []string            // functions of the embedding program
	young      map[string]bool     // names, groups and functions that a policy's declaration replaces
}

func newNames() *names {
	all := knownNames()
	n := &names{byName: make(map[string]*nameInfo, len(all)), namespaces: map[string][]string{"env": nil}, young: map[string]bool{}}
	for _, name := range laterFunctions() {
		n.young[name] = true
	}
	for i := range all {
		n.byName[all[i].Name] = &all[i]
		first, member, ok := strings.Cut(all[i].Name, ".")
		if ok {
			n.namespaces[first] = append(n.namespaces[first], member)
		}
		if all[i].Yields {
			n.young[first] = true
		}
	}
	return n
}

// environment describes env.NAME.
func environment(name string) *nameInfo {
	return (&nameInfo{Entry: &vocab.Entry{Name: name, Private: true, Secret: true}, typ: textType}).complete()
}

// ask is a form that tests the status of a fact without reading through it.
type ask struct {
	name   string
	answer reflect.Type
	doc    string
}

// askForms returns all of them.
func askForms() [6]ask {
	yes, text, span := reflect.TypeFor[bool](), reflect.TypeFor[string](), reflect.TypeFor[time.Duration]()
	return [...]ask{
		{"missing", yes, "The fact has no value: no such file, an unknown placeholder in its path, no answer in time."},
		{"invalid", yes, "The fact has a value that does not fit its declaration."},
		{"ok", yes, "The fact has a value."},
		{"problem", text, "Why the fact is missing or invalid, or what was left out; empty if all is well."},
		{"path", text, "File of the fact, from the root of the project."},
		{"age", span, "Time since that file was changed."},
	}
}

func asks() []string {
	var names []string
	for _, a := range askForms() {
		names = append(names, a.name)
	}
	return names
}

// askType returns the result type of a function about a fact; ok is false for other names. It is called for every name.
func askType(name string) (answer reflect.Type, ok bool) {
	for _, a := range askForms() {
		if a.name == name {
			return a.answer, true
		}
	}
	return nil, false
}

func isAsk(name string) bool {
	_, ok := askType(name)
	return ok
}

// flat returns the names without members that are not functions, and the groups.
func (n *names) flat() []string {
	var out []string
	for name, info := range n.byName {
		if !strings.Contains(name, ".") && !info.called() {
			out = append(out, name)
		}
	}
	for space := range n.namespaces {
		out = append(out, space)
	}
	return out
}

// functions returns the names of functions.
func (n *names) functions() []string {
	out := slices.Concat(asks(), ownFunctions(), n.own)
	for name, info := range n.byName {
		if info.called() && !strings.Contains(name, ".") {
			out = append(out, name)
		}
	}
	return out
}

// isFunction reports whether a name is a function of ralph or expr.
func (n *names) isFunction(name string) bool {
	info := n.byName[name]
	return info != nil && info.called() || slices.Contains(ownFunctions(), name) || slices.Contains(n.own, name) || isBuiltin(name)
}

// taken reports whether a policy must not declare this name.
func (n *names) taken(name string) bool {
	if n.young[name] {
		return false
	}
	_, space := n.namespaces[name]
	return space || n.byName[name] != nil || isAsk(name) || n.isFunction(name) || isKeyword(name)
}

// free returns the fields of a type whose names have no other meaning.
func (n *names) free(t *schema.Schema) map[string]*schema.Schema {
	if t == nil {
		return nil
	}
	fields := maps.Clone(t.Fields)
	maps.DeleteFunc(fields, func(name string, _ *schema.Schema) bool { return name == "body" || n.taken(name) })
	return fields
}

// keywords returns the words that cannot be names in expressions.
func keywords() []string {
	return []string{"true", "false", "nil", "and", "or", "not", "in", "contains", "matches", "startsWith", "endsWith", "let", "if", "else"}
}

func isKeyword(name string) bool { return slices.Contains(keywords(), name) }

// members returns the full names whose part after the dot is this word.
func (n *names) members(word string) (whole []string) {
	for _, group := range slices.Sorted(maps.Keys(n.namespaces)) {
		if slices.Contains(n.namespaces[group], word) {
			whole = append(whole, group+"."+word)
		}
	}
	return whole
}
