package policytest

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/jsontext"
	"github.com/ralph-sdk/ralph/internal/yamltree"
	"github.com/ralph-sdk/ralph/rules"
)

func (e *expectation) decode(r *reader, n *yamltree.Node) {
	type plain expectation
	r.decode(n, reflect.ValueOf((*plain)(e)).Elem())
	e.at = map[string]rules.Pos{}
	for _, f := range n.Fields {
		e.at[f.Key.Value] = r.pos(f.Value.Start)
		switch key := f.Key.Value; {
		case isNull(f.Value) && key != "measure":
			r.errorf(f.Key, checkValue, "remove it, or write what is expected", "%s is empty", key)
		case new(rules.Action).UnmarshalText([]byte(key)) == nil:
			r.verdict(f, e)
		case key == "effects":
			e.Effects = r.effects(f.Value)
		case key == "finally":
			e.Finally = r.effects(f.Value)
		}
	}
}

// verdict reads a key that is the word of an action: true, or patterns for the reason.
func (r *reader) verdict(f yamltree.Field, e *expectation) {
	if e.Action != nil {
		r.errorf(f.Value, checkValue, "keep one of them", "a verdict must be one of continue, stop, ask and wait; got two")
		return
	}
	e.Action = new(rules.Action)
	_ = e.Action.UnmarshalText([]byte(f.Key.Value)) // it is one
	switch f.Value.Decode() {
	case true:
	case false:
		r.errorf(f.Value, checkValue, "write the verdict that is expected", "%s must be a string or true; got false", f.Key.Value)
	default:
		r.decode(f.Value, reflect.ValueOf(&e.Text).Elem())
	}
}

func (p *pattern) decode(r *reader, n *yamltree.Node) {
	p.Text = n.Value
	if text := n.Value; len(text) > 2 && text[0] == '/' && text[len(text)-1] == '/' {
		// ^ and $ match at line ends, since most texts have several lines.
		re, err := regexp.Compile("(?m)" + text[1:len(text)-1])
		if err != nil {
			r.errorf(n, checkValue, "", "%s is an invalid regular expression: %v", text, err)
		}
		p.Regexp = re
	}
}

func (c *content) decode(r *reader, n *yamltree.Node) {
	c.Gone, c.Whole = isNull(n), n.Kind == yamltree.Scalar && !isNull(n)
	if c.Whole {
		c.Text = n.Value
	} else {
		r.decode(n, reflect.ValueOf(&c.Parts).Elem())
	}
}

func (s *givenFile) decode(r *reader, n *yamltree.Node) {
	type plain givenFile
	s.Age = DefaultAge
	if n.Kind == yamltree.Scalar {
		s.Text = n.Value
	}
	r.decode(n, reflect.ValueOf((*plain)(s)).Elem())
}

func (m *message) decode(_ *reader, n *yamltree.Node) {
	for _, f := range n.Fields {
		if !isNull(f.Value) {
			m.Key, m.Text = f.Key.Value, f.Value.Value
		}
	}
}

// effects reads a list of effects in the form of a policy. Unknown keys are effects of a program, which [File.Check]
// verifies.
func (r *reader) effects(n *yamltree.Node) []string {
	out := []string{}
	for _, item := range n.Items {
		for _, f := range item.Fields {
			switch key, v := f.Key.Value, f.Value; {
			case key == "remember":
				r.errorf(f.Key, checkValue, "write memory: {name: value} beside effects", "what a rule remembers is not an effect on a file")
			case key == "set":
				out = append(out, r.set(v))
			case key == "prune" && v.Kind == yamltree.Map:
				text := "prune "
				if glob := v.Get("glob"); glob != nil {
					text += glob.Value
				}
				if older := v.Get("older"); older != nil && !isNull(older) {
					text += " older than " + span(older).String()
				}
				out = append(out, text)
			case key != "run" && slices.Contains(keysOf("effect"), key):
				out = append(out, key+" "+v.Value)
			default:
				out = append(out, ownText(key, v.Decode()))
			}
		}
	}
	return out
}

// set reads an assignment and returns it in the form of effectText.
func (r *reader) set(n *yamltree.Node) string {
	left, right, ok := strings.Cut(n.Value, "=")
	if !ok {
		r.errorf(n, checkValue, "write fact.field = value", "set must be an assignment; got %q", n.Value)
		return ""
	}
	right = strings.TrimSpace(right)
	var v any
	if len(right) >= 2 && right[0] == '\'' && right[len(right)-1] == '\'' {
		v = right[1 : len(right)-1]
	} else if err := json.Unmarshal([]byte(right), &v); err != nil {
		r.errorf(n, checkValue, "write a number, true, false, null, a string in quotes, a list or an object", "the value must be JSON; got %s", right)
		return ""
	}
	return "set " + strings.TrimSpace(left) + " = " + jsonText(v)
}

// effectText returns an effect in the form in which tests compare effects:
//
//	set epic.specs[1].status = "completed"
//	delete plan
//	archive plan
//	prune tmp/*.md older than 1h0m0s
//	run ["notify","done"]
//	log the text
//	page {"who":"ops"}
//
// The last is a program's own effect with its arguments.
func effectText(e rules.Effect) string {
	switch e.Kind {
	case rules.SetEffect:
		place := e.Fact
		for _, step := range e.Path {
			if name, ok := step.(string); ok {
				place += "." + name
			} else {
				place += "[" + jsonText(step) + "]"
			}
		}
		return "set " + place + " = " + jsonText(e.Value)
	case rules.PruneEffect:
		return "prune " + e.Glob + " older than " + e.Older.String()
	case rules.LogEffect:
		return "log " + e.Text
	case rules.RunEffect:
		return "run " + jsonText(e.Args)
	case rules.OwnEffect:
		return ownText(e.Name, e.Value)
	}
	return string(e.Kind) + " " + e.Fact
}

func ownText(name string, args any) string { return name + " " + jsonText(args) }

// sameEffect reports whether an effect is the expected one. A prune without an age in the test matches any age.
func sameEffect(want string, got rules.Effect) bool {
	return want == effectText(got) || got.Kind == rules.PruneEffect && want == "prune "+got.Glob
}

func jsonText(v any) string { return string(jsontext.Encode(v)) }
