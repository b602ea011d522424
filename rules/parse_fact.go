package rules

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ralph-sdk/ralph/internal/nearest"
	"github.com/ralph-sdk/ralph/internal/yamltree"
)

func (p *parser) fact(name, n *yamltree.Node) (factDecl, bool) {
	f := factDecl{name: name.Value, key: name}
	if n.Kind != yamltree.Map {
		p.errorf(n, "syntax", "write for example {json: path/to/state.json}", "a fact must be a map with a source, one of %s", list(sourceNames(p.load.kinds)))
		return f, false
	}
	var found []string
	for _, fl := range n.Fields {
		if k, ok := findSource(p.load.kinds, fl.Key.Value); ok {
			f.kind = k
			found = append(found, fl.Key.Value)
			f.args = p.arguments(k, fl.Value)
		}
	}
	if len(found) != 1 {
		help := ""
		if len(found) == 0 {
			help = nearest.DidYouMean(firstKey(n).Value, sourceNames(p.load.kinds))
			if first := firstKey(n); first != n {
				if meant := meantSource(first.Value, n.Fields[0].Value.Value); meant != "" {
					help = "write {" + meant + "}"
				}
			}
		}
		has := "none"
		if len(found) > 1 {
			has = list(found)
		}
		p.errorf(name, "fact-source", help, "the fact %q needs exactly one source, one of %s; it has %s", name.Value, list(sourceNames(p.load.kinds)), has)
		return f, false
	}
	what := "a " + f.kind.Name + " fact"
	if strings.Contains("aeiou", f.kind.Name[:1]) {
		what = "an" + what[1:]
	}
	p.fields(n, what, f.kind.keys(), func(k, v *yamltree.Node) {
		if o, ok := f.kind.option(k.Value); ok {
			p.option(&f, o, v)
			return
		}
		switch k.Value {
		case f.kind.schemaKey():
			f.schema = v
		case "default":
			f.deflt = v
		case "timeout":
			f.timeout = p.duration(v, k.Value)
		case "covers":
			f.covers = p.covers(v)
		case "inline":
			if p.boolean(v, "inline") {
				f.inline = v
			}
		case "private":
			f.private = p.boolean(v, k.Value)
		case "lenient":
			if p.boolean(v, k.Value) {
				f.setOption(k.Value, true)
			}
		}
	})
	if f.inline != nil && f.schema == nil {
		p.errorf(f.inline, "inline", "add schema, so that the names of its fields are known", "inline needs a schema")
	}
	if f.kind.Value.Returns && f.schema == nil {
		p.errorf(name, "fact-returns", "add returns: {properties: {done: {type: boolean}}, required: [done]}", "the fact %q needs returns, the schema of the answer", name.Value)
		return f, false
	}
	for _, o := range f.kind.Options {
		if word, ok := f.options[o.Name].(string); ok && o.Needs[word] != "" && f.texts[o.Needs[word]] == nil {
			p.warnf(name, "fact-option", "add "+o.Needs[word]+": NAME", "the fact %q needs %s: %s: %s has no default", name.Value, o.Needs[word], o.Name, word)
		}
	}
	return f, f.kind.given() || len(f.args) > 0
}

// option reads an option that only this kind of source has.
func (p *parser) option(f *factDecl, o SourceOption, v *yamltree.Node) {
	switch o.Kind {
	case optionCount:
		n := p.count(v, o.Name)
		if n == 0 && v.Value == "0" {
			p.errorf(v, "bad-value", "", "%s must be a whole number, 1 or more; got 0", o.Name)
		}
		f.setOption(o.Name, n)
	case optionWord:
		f.setOption(o.Name, o.Words[p.word(v, o.Name, o.Words)])
	default:
		if t := p.scalar(v, o.Name); t != nil {
			if len(o.Words) > 0 && !strings.Contains(t.Value, "${") && !slices.Contains(o.Words, t.Value) {
				p.errorf(t, "bad-value", nearest.DidYouMean(t.Value, o.Words), "%s must be one of %s; got %q", o.Name, list(o.Words), t.Value)
			}
			if f.texts == nil {
				f.texts = map[string]*yamltree.Node{}
			}
			f.texts[o.Name] = t
		}
	}
}

func (f *factDecl) setOption(name string, v any) {
	if f.options == nil {
		f.options = map[string]any{}
	}
	f.options[name] = v
}

// firstKey returns the first key of a map, for messages about the whole of it, or the map if it is empty.
func firstKey(n *yamltree.Node) *yamltree.Node {
	if len(n.Fields) == 0 {
		return n
	}
	return n.Fields[0].Key
}

// wordsHelp returns how to write what should be a list of words.
func wordsHelp(n *yamltree.Node) string {
	if n.Kind == yamltree.Scalar && n.Value != "" {
		return "write " + strings.TrimPrefix(execOf(n.Value), "exec: ")
	}
	return "write [program, argument, …]"
}

// arguments reads the arguments of a source.
func (p *parser) arguments(k SourceKind, n *yamltree.Node) []*yamltree.Node {
	switch {
	case k.given(): // its schema
		return nil
	case k.Argument != argumentWords:
		if t := p.scalar(n, "the argument of "+k.Name); t != nil {
			if len(k.Words) > 0 {
				p.word(t, k.Name, k.Words)
			}
			return []*yamltree.Node{t}
		}
		return nil
	}
	if n.Kind != yamltree.List || len(n.Items) == 0 {
		p.errorf(n, "syntax", wordsHelp(n), "%s takes an array of words: the program and its arguments", k.Name)
		return nil
	}
	var out []*yamltree.Node
	for i, item := range n.Items {
		t := p.scalar(item, "an argument")
		if t == nil {
			return nil // reported: without it the others would be at the wrong index
		}
		if i == 0 && (strings.Contains(t.Value, "${") || strings.TrimSpace(t.Value) == "") {
			p.errorf(t, "exec-program", "name the program itself; only its arguments can have placeholders", "the program of %s cannot have a placeholder", k.Name)
			return nil
		}
		out = append(out, t)
	}
	return out
}

// covers reads the patterns of files that an approval covers: nil if there is no list, since an empty one has a meaning.
func (p *parser) covers(n *yamltree.Node) []string {
	if n.Kind != yamltree.List {
		p.each(n, "covers", nil) // reports it
		return nil
	}
	patterns := []string{}
	p.each(n, "covers", func(item *yamltree.Node) {
		t := p.scalar(item, "a pattern")
		if t == nil {
			return
		}
		problem := ""
		switch pattern := t.Value; {
		case strings.Contains(pattern, "${"):
			problem = "cannot have placeholders"
		case !doublestar.ValidatePattern(pattern):
			problem = "is not a valid pattern"
		case !fs.ValidPath(pattern) || pattern[0] == '~' || strings.Contains(pattern, `\`):
			problem = "must be a path of the project with forward slashes, without . and .."
		}
		if problem != "" {
			p.errorf(t, "bad-value", `write for example "scripts/**/*.sh"`, "the pattern %q of covers %s", t.Value, problem)
			return
		}
		patterns = append(patterns, t.Value)
	})
	return patterns
}
