package testfile

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/rules/internal/source"
)

func (r *reader) expect(n *source.Node) Expect {
	var e Expect
	before, any := len(r.diags), false
	r.fields(n, "expect", expectKeys(), func(key string, v *source.Node) {
		any = true
		at := r.pos(v.Start)
		switch key {
		case "continue", "stop":
			action := rules.Stop
			if key == "continue" {
				action = rules.Continue
			}
			if e.Action.Given {
				r.errorf(v, CheckValue, "keep the one that is meant", "a verdict is continue or stop, not both")
				return
			}
			e.Action = Optional[rules.Action]{true, action, at}
			if b, ok := v.Decode().(bool); ok && b {
				return
			}
			if b, ok := v.Decode().(bool); ok && !b {
				r.errorf(v, CheckValue, "write the verdict that is expected", "%s is a text or true, not false", key)
				return
			}
			e.Text = r.patterns(v, key)
		case "rule":
			e.Rule = Optional[string]{true, r.text(v, key), at}
		case "success":
			e.Success = Optional[bool]{true, r.boolean(v, key), at}
		case "measure":
			e.Measure = Optional[map[string]float64]{true, r.measure(v), at}
		case "reason":
			e.Reason = r.patterns(v, key)
		case "notice":
			e.Notice = r.patterns(v, key)
		case "note":
			e.Note = r.patterns(v, key)
		case "log":
			e.Log = r.patterns(v, key)
		case "effects":
			e.Effects = Optional[[]string]{true, r.effects(v, key, &e), at}
		case "finally":
			e.Finally = Optional[[]string]{true, r.effects(v, key, &e), at}
		case "files":
			e.Files = Optional[map[string]Content]{true, r.results(v), at}
		case "memory":
			e.memoryAt = map[string]rules.Pos{}
			e.Memory.Given, e.Memory.Pos = true, at
			e.Memory.Value = r.values(v, key, "", e.memoryAt)
		case "read":
			e.Read = Optional[[]string]{true, r.texts(v, key), at}
		case "unread":
			e.Unread = Optional[[]string]{true, r.texts(v, key), at}
		}
	})
	if !any && len(r.diags) == before {
		r.errorf(n, CheckNothing, "add for example rule: NAME", "the test expects nothing")
	}
	return e
}

// measure reads the numbers of a measure; null is none.
func (r *reader) measure(n *source.Node) map[string]float64 {
	if isNull(n) {
		return nil
	}
	m := map[string]float64{}
	r.fields(n, "measure", measureKeys(), func(key string, v *source.Node) {
		f, err := strconv.ParseFloat(v.Value, 64)
		if v.Kind != source.Scalar || err != nil {
			r.errorf(v, CheckValue, "", "%s is a number", key)
		}
		m[key] = f
	})
	return m
}

// patterns reads one pattern or a list of them. A single empty text means that
// nothing is expected to be said.
func (r *reader) patterns(n *source.Node, what string) Texts {
	out := Texts{Given: true, Pos: r.pos(n.Start)}
	nodes := []*source.Node{n}
	if n.Kind == source.List {
		nodes = n.Items
	}
	for _, item := range nodes {
		text := r.text(item, what)
		if strings.TrimSpace(text) == "" {
			if n.Kind == source.List {
				r.errorf(item, CheckValue, "an empty text occurs in every text", "an item of %s is empty", what)
			}
			continue
		}
		p := Pattern{Text: text}
		if body, ok := expression(text); ok {
			// ^ and $ are those of a line, since most texts have several.
			re, err := regexp.Compile("(?m)" + body)
			if err != nil {
				r.errorf(item, CheckValue, "", "%s is no regular expression: %v", text, err)
				continue
			}
			p.Regexp = re
		}
		out.Value = append(out.Value, p)
	}
	return out
}

// expression takes the regular expression out of /…/.
func expression(text string) (string, bool) {
	if len(text) > 2 && text[0] == '/' && text[len(text)-1] == '/' {
		return text[1 : len(text)-1], true
	}
	return "", false
}

func (r *reader) results(n *source.Node) map[string]Content {
	out := map[string]Content{}
	if n.Kind == source.Map && len(n.Fields) == 0 {
		return out
	}
	r.named(n, "files", func(k, v *source.Node) {
		switch {
		case isNull(v):
			out[k.Value] = Content{Gone: true}
		case v.Kind == source.List:
			out[k.Value] = Content{Parts: r.patterns(v, "the content of "+k.Value).Value}
		default:
			out[k.Value] = Content{Whole: true, Text: r.text(v, "the content of "+k.Value)}
		}
	})
	return out
}

// effects reads a list of effects in the form of a policy. A key that the language
// does not have is a verb of a program's own, which [File.Check] looks up.
func (r *reader) effects(n *source.Node, what string, e *Expect) []string {
	out := []string{}
	r.items(n, what, func(item *source.Node) {
		if item.Kind != source.Map {
			r.errorf(item, CheckSyntax, "", "an effect is a map with one of the keys %s, this is %s", quoted(effectKeys().names()), item.KindName())
			return
		}
		for _, f := range item.Fields {
			switch key, v := f.Key.Value, f.Value; {
			case key == "remember":
				r.errorf(f.Key, CheckValue, "write memory: {name: value} beside effects", "what a rule remembers is no effect on a file")
			case key == "set":
				out = append(out, r.set(v))
			case key == "run" && v.Kind == source.List:
				out = append(out, "run "+jsonText(r.texts(v, key)))
			case key == "prune":
				out = append(out, r.prune(v))
			case effectKeys().has(key):
				out = append(out, key+" "+r.text(v, key))
			default:
				e.verbs = append(e.verbs, verb{key, r.pos(f.Key.Start)})
				out = append(out, verbText(key, v.Decode()))
			}
		}
	})
	return out
}

// set reads an assignment and writes it as EffectText does.
func (r *reader) set(n *source.Node) string {
	left, right, ok := strings.Cut(r.text(n, "set"), "=")
	if !ok {
		r.errorf(n, CheckValue, "write fact.field = value", "set takes an assignment, not %q", n.Value)
		return ""
	}
	right = strings.TrimSpace(right)
	if len(right) >= 2 && right[0] == '\'' && right[len(right)-1] == '\'' {
		right = right[1 : len(right)-1]
		return "set " + strings.TrimSpace(left) + " = " + jsonText(right)
	}
	var v any
	if err := json.Unmarshal([]byte(right), &v); err != nil {
		r.errorf(n, CheckValue, "write a number, true, false, null, a text in quotes, a list or an object", "the value %s is not JSON", right)
		return ""
	}
	return "set " + strings.TrimSpace(left) + " = " + jsonText(v)
}

func (r *reader) prune(n *source.Node) string {
	if n.Kind != source.Map {
		return "prune " + r.text(n, "prune")
	}
	var glob string
	var older time.Duration
	hasOlder := false
	r.fields(n, "prune", pruneKeys(), func(key string, v *source.Node) {
		if key == "glob" {
			glob = r.text(v, key)
		} else {
			older, hasOlder = r.span(v, key), true
		}
	})
	if !hasOlder {
		return "prune " + glob
	}
	return "prune " + glob + " older than " + older.String()
}

// EffectText writes an effect in the one form in which tests compare effects:
//
//	set epic.specs[1].status = "completed"
//	delete plan
//	archive plan
//	prune tmp/*.md older than 1h0m0s
//	run ["notify","done"]
//	log the text
//	page {"who":"ops"}
//
// The last is a verb of a program's own with its arguments.
func EffectText(e rules.Effect) string {
	switch e.Kind {
	case rules.SetEffect:
		return "set " + e.Fact + pathText(e.Path) + " = " + jsonText(e.Value)
	case rules.PruneEffect:
		return "prune " + e.Glob + " older than " + e.Older.String()
	case rules.LogEffect:
		return "log " + e.Text
	case rules.RunEffect:
		return "run " + jsonText(e.Args)
	case rules.VerbEffect:
		return verbText(e.Verb, e.Value)
	}
	return string(e.Kind) + " " + e.Fact
}

func verbText(name string, args any) string { return name + " " + jsonText(args) }

// SameEffect reports whether an effect is the one that a test asks for. A prune
// that the test gives no age matches any age.
func SameEffect(want string, got rules.Effect) bool {
	text := EffectText(got)
	if want == text {
		return true
	}
	return got.Kind == rules.PruneEffect && want == "prune "+got.Glob
}

func pathText(path []any) string {
	var b strings.Builder
	for _, step := range path {
		switch step := step.(type) {
		case string:
			b.WriteString("." + step)
		default:
			b.WriteString("[" + jsonText(step) + "]")
		}
	}
	return b.String()
}

func jsonText(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "?"
	}
	return strings.TrimSpace(b.String())
}
