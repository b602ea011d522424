package rules

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/schema"
)

// names indexes the names of one program by their whole path.
type names struct {
	byName     map[string]*NameInfo
	namespaces map[string][]string // transcript → its members
	own        []string            // functions of the embedding program
}

func newNames() *names {
	all := Names()
	n := &names{byName: make(map[string]*NameInfo, len(all)), namespaces: map[string][]string{"env": nil}}
	for i := range all {
		n.byName[all[i].Name] = &all[i]
		if space, member, ok := strings.Cut(all[i].Name, "."); ok {
			n.namespaces[space] = append(n.namespaces[space], member)
		}
	}
	return n
}

// environment describes env.NAME.
func environment(name string) *NameInfo {
	t := &schema.Type{Kind: schema.String}
	return &NameInfo{Name: name, Type: t.String(), Private: true, typ: t}
}

// asks are the forms that ask how a fact stands, without reading through it.
func asks() []string { return []string{"missing", "invalid", "ok", "problem", "path", "age"} }

// isAsk reports whether a function asks about a fact.
func isAsk(name string) bool {
	switch name {
	case "missing", "invalid", "ok", "problem", "path", "age":
		return true
	}
	return false
}

// askType gives the type of the answer.
func askType(ask string) reflect.Type {
	switch ask {
	case "problem", "path":
		return reflect.TypeFor[string]()
	case "age":
		return reflect.TypeFor[time.Duration]()
	}
	return reflect.TypeFor[bool]()
}

// flat lists the names without members that are not functions, and the groups.
func (n *names) flat() []string {
	var out []string
	for name, info := range n.byName {
		if !strings.Contains(name, ".") && info.goType == nil {
			out = append(out, name)
		}
	}
	for space := range n.namespaces {
		out = append(out, space)
	}
	return out
}

// functions lists the names that are called.
func (n *names) functions() []string {
	out := append(append(asks(), "cut", "bullets"), n.own...)
	for name, info := range n.byName {
		if info.goType != nil && !info.askRow && !strings.Contains(name, ".") {
			out = append(out, name)
		}
	}
	return out
}

// isFunction reports whether a name is called: ralph's functions and expr's.
func (n *names) isFunction(name string) bool {
	info := n.byName[name]
	return info != nil && info.goType != nil || name == "cut" || name == "bullets" || slices.Contains(n.own, name) || isBuiltin(name)
}

// taken reports whether a policy may not declare this name itself.
func (n *names) taken(name string) bool {
	_, space := n.namespaces[name]
	return space || n.byName[name] != nil || isAsk(name) || n.isFunction(name) || isKeyword(name)
}

// isKeyword reports whether expressions cannot have this word as a name.
func isKeyword(name string) bool {
	switch name {
	case "true", "false", "nil", "and", "or", "not", "in", "contains", "matches", "startsWith", "endsWith", "let", "if", "else":
		return true
	}
	return false
}
