package testfile

import (
	"slices"

	"github.com/ralph-sdk/ralph/internal/nearest"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/rules/internal/source"
)

// Parse reads the tests in src. name is what diagnostics show. The file is nil if
// and only if there is a diagnostic; all of them are errors, and all problems are
// reported at once.
func Parse(name string, src []byte) (*File, rules.Diagnostics) {
	r := &reader{name: name, src: src}
	root, problems := source.Parse(src)
	for _, p := range problems {
		r.diags = append(r.diags, rules.Diagnostic{
			Pos: r.pos(p.Start), End: r.pos(p.End), Check: p.Check, Message: p.Message, Help: p.Help,
			Line: source.Line(src, p.Start.Line),
		})
	}
	f := &File{Name: name, src: src, policy: rules.Pos{File: name, Line: 1, Col: 1}}
	if root != nil {
		r.file(f, root)
	}
	if len(r.diags) > 0 {
		slices.SortStableFunc(r.diags, func(a, b rules.Diagnostic) int {
			if a.Pos.Line != b.Pos.Line {
				return a.Pos.Line - b.Pos.Line
			}
			return a.Pos.Col - b.Pos.Col
		})
		return nil, r.diags
	}
	return f, nil
}

func (r *reader) file(f *File, root *source.Node) {
	found := len(r.diags)
	var tests *source.Node
	r.fields(root, "a test file", fileKeys(), func(key string, v *source.Node) {
		switch key {
		case "policy":
			f.Policy, f.policy = r.text(v, "policy"), r.pos(v.Start)
		case "given":
			f.common = r.given(v)
		case "tests":
			tests = v
		}
	})
	if tests == nil || isNull(tests) || tests.Kind == source.List && len(tests.Items) == 0 {
		if len(r.diags) == found {
			r.errorf(root, CheckNothing, "write a list of tests, each with name, given and expect", "the file has no tests")
		}
		return
	}
	seen := map[string]bool{}
	r.items(tests, "tests", func(item *source.Node) {
		t := r.test(item)
		if seen[t.Name] && t.Name != "" {
			r.errorf(item.Get("name"), CheckName, "each test needs a name of its own, also for -run", "there are two tests named %q", t.Name)
		}
		seen[t.Name] = true
		t.Given = merged(f.common, t.Given)
		f.Tests = append(f.Tests, t)
	})
}

func (r *reader) test(n *source.Node) Test {
	t := Test{Event: "Stop", Pos: r.pos(n.Start)}
	before := len(r.diags)
	hasExpect := false
	r.fields(n, "a test", testKeys(), func(key string, v *source.Node) {
		switch key {
		case "name":
			t.Name = r.text(v, "name")
		case "given":
			t.Given = r.given(v)
		case "event":
			t.Event, t.eventAt = r.text(v, "event"), r.pos(v.Start)
		case "expect":
			hasExpect = true
			t.Expect = r.expect(v)
		}
	})
	if n.Kind != source.Map {
		return t
	}
	if t.Name == "" {
		r.errorf(n, CheckName, "say in a few words what the policy does here", "the test has no name")
	}
	if !hasExpect && len(r.diags) == before {
		r.errorf(n, CheckNothing, "add for example expect: {rule: NAME}", "the test %q expects nothing", t.Name)
	}
	return t
}

// given reads a situation. A test's own situation names what it takes away: the
// maps then hold zero values that merged removes.
func (r *reader) given(n *source.Node) Given {
	g := Given{at: map[string]rules.Pos{}}
	if isNull(n) {
		return g
	}
	r.fields(n, "given", givenKeys(), func(key string, v *source.Node) {
		switch key {
		case "facts":
			g.Facts = r.values(v, key, "fact ", g.at)
		case "missing":
			g.Missing = r.reasons(v, key, g.at)
		case "invalid":
			g.Invalid = r.reasons(v, key, g.at)
		case "problem":
			g.Problem = r.reasons(v, key, g.at)
		case "files":
			g.Files = map[string]Source{}
			r.named(v, key, func(k, v *source.Node) { g.Files[k.Value] = r.source(v, k.Value) })
		case "transcript":
			g.Spoken = true
			if v.Kind == source.Scalar && !isNull(v) {
				g.Text = v.Value
			} else {
				r.items(v, key, func(item *source.Node) { g.Transcript = append(g.Transcript, r.message(item)...) })
			}
		case "env":
			g.Env = r.scalars(v, key)
		case "now":
			g.Now = r.moment(v, key)
		case "loop":
			g.Loop = r.loop(v)
		case "session", "run":
			if g.Names == nil {
				g.Names = map[string]any{}
			}
			known := sessionKeys()
			if key == "run" {
				known = runKeys()
			}
			r.fields(v, key, known, func(member string, v *source.Node) {
				name := key + "." + member
				g.Names[name] = r.known(name, v)
			})
		case "repeated":
			g.Repeated = map[string]int{}
			r.named(v, key, func(k, v *source.Node) {
				g.Repeated[k.Value] = r.count(v, "the count of "+k.Value)
				g.at["rule "+k.Value] = r.pos(k.Start)
			})
		case "memory":
			g.Memory = r.values(v, key, "memory ", g.at)
		case "set":
			g.Set = r.scalars(v, key)
		case "exists":
			g.Exists = r.texts(v, key)
		case "isdir":
			g.IsDir = r.texts(v, key)
		case "which":
			g.Which = r.texts(v, key)
		case "host":
			g.Host = r.text(v, key)
		case "input":
			if g.Input == nil {
				g.Input = map[string]any{}
			}
			r.named(v, key, func(k, v *source.Node) {
				switch _, twice := g.Input[k.Value]; {
				case k.Value == "hook_event_name":
					r.errorf(k, CheckValue, "write event: NAME in the test", "the event of a test is not a field of its input")
				case twice:
					r.errorf(k, CheckValue, "keep the one that is meant", "%s is given twice, under input and by itself", k.Value)
				}
				if Gives(k.Value) && v.Decode() != nil {
					g.Input[k.Value] = r.input(k.Value, v)
				} else {
					g.Input[k.Value] = v.Decode()
				}
				g.at["input "+k.Value] = r.pos(k.Start)
			})
		default:
			if g.Input == nil {
				g.Input = map[string]any{}
			}
			if _, twice := g.Input[key]; twice {
				r.errorf(v, CheckValue, "keep the one that is meant", "%s is given twice, under input and by itself", key)
			}
			g.Input[key] = r.input(key, v)
			for _, f := range n.Fields {
				if f.Key.Value == key {
					g.at["input "+key] = r.pos(f.Key.Start)
				}
			}
		}
	})
	for name := range g.Facts {
		for what, others := range map[string]map[string]string{"missing": g.Missing, "invalid": g.Invalid} {
			if _, both := others[name]; both {
				r.errorf(n.Get(what), CheckValue, "leave one of them out", "the fact %q is given a value and said to be %s", name, what)
			}
		}
	}
	return g
}

// input reads a field of the hook input, of the type that its name has.
func (r *reader) input(name string, v *source.Node) any {
	switch name {
	case "stop_hook_active":
		return r.boolean(v, name)
	case "trigger":
		return r.oneOf(v, name, []any{"manual", "auto"})
	case "background_tasks", "session_crons":
		list := []any{}
		r.items(v, name, func(item *source.Node) {
			if item.Kind != source.Map {
				r.errorf(item, CheckSyntax, "", "an item of %s is a map, this is %s", name, item.KindName())
				return
			}
			list = append(list, item.Decode())
		})
		return list
	}
	return r.text(v, name)
}

// known reads a value of session.NAME or run.NAME.
func (r *reader) known(name string, v *source.Node) any {
	switch name {
	case "session.elapsed", "run.elapsed":
		return r.span(v, name)
	case "run.resets_at":
		return r.moment(v, name)
	case "run.iteration", "run.tokens", "run.exit_code":
		return r.count(v, name)
	case "run.cost":
		switch n := v.Decode().(type) {
		case int, float64:
			return n
		}
		r.errorf(v, CheckValue, "write a number of US dollars, such as 1.5", "%s is a number, not %s", name, valueName(v))
		return nil
	case "run.outcome":
		return r.oneOf(v, name, append(failures(), "ok", "lost"))
	}
	return r.text(v, name)
}

// oneOf reads one of a few words.
func (r *reader) oneOf(v *source.Node, what string, words []any) string {
	text := r.text(v, what)
	if text != "" && !slices.Contains(words, any(text)) {
		known := make([]string, len(words))
		for i, w := range words {
			known[i] = w.(string)
		}
		r.errorf(v, CheckValue, nearest.DidYouMean(text, known), "%s is one of %s, not %q", what, quoted(known), text)
	}
	return text
}

// values reads a map from names to values of any kind, and notes where they stand.
func (r *reader) values(n *source.Node, what, prefix string, at map[string]rules.Pos) map[string]any {
	out := map[string]any{}
	r.named(n, what, func(k, v *source.Node) {
		out[k.Value] = v.Decode()
		at[prefix+k.Value] = r.pos(k.Start)
	})
	return out
}

// reasons reads a list of facts, or a map from fact to reason.
func (r *reader) reasons(n *source.Node, what string, at map[string]rules.Pos) map[string]string {
	out := map[string]string{}
	if n.Kind == source.Map {
		for _, f := range n.Fields {
			out[f.Key.Value] = r.text(f.Value, "the reason why "+f.Key.Value+" is "+what)
			at["fact "+f.Key.Value] = r.pos(f.Key.Start)
		}
		return out
	}
	r.items(n, what, func(item *source.Node) {
		name := r.text(item, "the name of a fact")
		out[name] = ""
		at["fact "+name] = r.pos(item.Start)
	})
	return out
}

func (r *reader) source(n *source.Node, path string) Source {
	s := Source{Age: DefaultAge}
	switch {
	case isNull(n):
		s.none = true
	case n.Kind == source.Map:
		r.fields(n, "a file", sourceKeys(), func(key string, v *source.Node) {
			switch key {
			case "text":
				s.Text = r.text(v, "text")
			case "age":
				s.Age = r.span(v, "age")
			}
		})
	default:
		s.Text = r.text(n, "the content of "+path)
	}
	return s
}

func (r *reader) message(n *source.Node) []Message {
	var out []Message
	r.fields(n, "a message", messageKeys(), func(key string, v *source.Node) {
		switch Role(key) {
		case Tokens:
			r.count(v, key)
		case Failed:
			r.oneOf(v, key, failures())
		}
		out = append(out, Message{Role: Role(key), Text: r.text(v, key)})
	})
	if len(out) > 1 {
		r.errorf(n, CheckSyntax, "begin each with a dash, so that their order is plain", "an item of the transcript is one message, these are %d", len(out))
	}
	return out
}

// scalars reads a map of single values, as text.
func (r *reader) scalars(n *source.Node, what string) map[string]string {
	out := map[string]string{}
	r.named(n, what, func(k, v *source.Node) {
		if v.Kind != source.Scalar {
			r.errorf(v, CheckSyntax, "", "the value of %s is one text, number or boolean, this is %s", k.Value, v.KindName())
			return
		}
		if isNull(v) {
			out[k.Value] = ""
			return
		}
		out[k.Value] = v.Value
	})
	return out
}

func (r *reader) loop(n *source.Node) *Loop {
	var l Loop
	r.fields(n, "loop", loopKeys(), func(key string, v *source.Node) {
		what := "loop." + key
		switch key {
		case "continuations":
			l.Continuations = r.count(v, what)
		case "total":
			l.Total = r.count(v, what)
		case "repeats":
			l.Repeats = r.count(v, what)
		case "failures":
			l.Failures = r.count(v, what)
		case "elapsed":
			l.Elapsed = r.span(v, what)
		case "step":
			l.Step = r.span(v, what)
		case "seen":
			l.Seen = r.boolean(v, what)
		}
	})
	if l.Repeats > 0 || l.Failures > 0 || l.Elapsed > 0 || l.Step > 0 {
		l.Continuations = max(l.Continuations, l.Repeats, l.Failures, 1)
	}
	l.Total = max(l.Total, l.Continuations)
	return &l
}
