package rules

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"

	"github.com/ralph-sdk/ralph/internal/nearest"
	"github.com/ralph-sdk/ralph/internal/source"
	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/schema"
)

// This file looks for literals that load and cannot work: paths that lead out of
// the project, durations that cannot be read, events and hosts that never come.

// doubts looks at an expression before its names are resolved.
func (r *resolver) doubts(n ast.Node) {
	switch t := n.(type) {
	case *ast.CallNode:
		if len(t.Arguments) == 1 {
			if s, ok := t.Arguments[0].(*ast.StringNode); ok {
				r.argument(callee(t.Callee), s)
			}
		}
	case *ast.BuiltinNode:
		if len(t.Arguments) == 1 {
			if s, ok := t.Arguments[0].(*ast.StringNode); ok {
				r.argument(t.Name, s)
			}
		}
	case *ast.BinaryNode:
		switch t.Operator {
		case "==", "!=":
			r.comparand(t.Left, t.Right)
			r.comparand(t.Right, t.Left)
		case "in":
			if list, ok := t.Right.(*ast.ArrayNode); ok {
				for _, e := range list.Nodes {
					r.comparand(t.Left, e)
				}
			}
		}
	}
	children(n, func(c *ast.Node) { r.doubts(*c) })
}

// callee is the whole name of a function, "" if it is not plain.
func callee(n ast.Node) string {
	switch t := n.(type) {
	case *ast.IdentifierNode:
		return t.Value
	case *ast.MemberNode:
		space, ok1 := t.Node.(*ast.IdentifierNode)
		prop, ok2 := t.Property.(*ast.StringNode)
		if ok1 && ok2 {
			return space.Value + "." + prop.Value
		}
	}
	return ""
}

func (r *resolver) doubt(n ast.Node, check, help, format string, args ...any) {
	l := n.Location()
	r.to.warn(l.From, max(l.To, l.From+1), check, help, fmt.Sprintf(format, args...))
}

// argument looks at the literal that a function is called with.
func (r *resolver) argument(function string, s *ast.StringNode) {
	switch {
	case (function == vocab.Exists || function == vocab.IsDir) && strings.ContainsAny(s.Value, "*?"):
		help := "write anyfile(" + quote(s.Value) + ")"
		if function == vocab.IsDir {
			help = "name one folder; anyfile(…) asks for the files of a pattern"
		}
		r.doubt(s, "bad-path", help, "%s(%s) takes a path, in which * and ? stand for themselves", function, quote(s.Value))
	case asksPaths(function):
		if what, help := badPath(s.Value, function == vocab.AnyFile); what != "" {
			r.doubt(s, "bad-path", help, "%s(%s) finds nothing: the path %s", function, quote(s.Value), what)
		}
	case function == "duration":
		if _, err := time.ParseDuration(s.Value); err != nil {
			r.doubt(s, "bad-argument", spanHelp(s.Value), "%s is not a duration, so this cannot be evaluated", quote(s.Value))
		}
	case function == "date":
		if _, err := builtin.Builtins[builtin.Index["date"]].Func(s.Value); err != nil {
			r.doubt(s, "bad-argument", `write for example date("2026-01-31") or date("2026-01-31T12:00:00Z")`, "%s is not a date, so this cannot be evaluated", quote(s.Value))
		}
	case function == vocab.Promised && strings.Contains(s.Value, "<promise>"):
		inner := strings.ReplaceAll(strings.ReplaceAll(s.Value, "<promise>", ""), "</promise>", "")
		r.doubt(s, "bad-argument", "write promised("+quote(inner)+")", "promised(…) is never true: it looks between the tags, and this has one itself")
	case function == vocab.TranscriptPassed, function == vocab.TranscriptPassedSinceEdit:
		if what, plain := notACommand(s.Value); what != "" {
			r.doubt(s, "bad-argument", "name one command: "+function+"("+quote(plain)+")", "%s is never true: it asks for one command, and this %s", function+"(…)", what)
		}
	}
}

// notACommand says why no command is called like this, and names the last one in it.
func notACommand(name string) (what, command string) {
	command = strings.TrimSpace(name)
	cut := strings.LastIndexAny(command, "|&;\n")
	if strings.Contains(command, "|") && !strings.Contains(command, "||") {
		cut = -1 // its status is that of the last one, which is rarely meant
		command, _, _ = strings.Cut(command, "|")
	}
	what = "has several"
	if cut < 0 && command == strings.TrimSpace(name) {
		what = ""
	}
	command = strings.TrimSpace(command[cut+1:])
	for {
		word, rest, ok := strings.Cut(command, " ")
		if !ok || !regexp.MustCompile(`^[A-Za-z_]\w*=`).MatchString(word) {
			break
		}
		command = strings.TrimSpace(rest)
		if what == "" {
			what = "sets variables"
		}
	}
	if strings.TrimSpace(name) == "" {
		return "is empty", "go test"
	}
	return what, command
}

// comparand looks at a literal that one of ralph's names is compared with.
func (r *resolver) comparand(name, literal ast.Node) {
	id, ok1 := name.(*ast.IdentifierNode)
	s, ok2 := literal.(*ast.StringNode)
	if !ok1 || !ok2 || slices.Contains(r.vars, id.Value) {
		return
	}
	switch id.Value {
	case vocab.HookEventName:
		p := r.c.program
		if slices.Contains(p.Events, s.Value) || r.scope.file.name != p.Name { // an included file is for many policies
			return
		}
		all := r.c.load.events()
		help := "it decides " + list(p.Events)
		if slices.Contains(all, s.Value) {
			help = "add it: events: [" + strings.Join(append(slices.Clone(p.Events), s.Value), ", ") + "]"
		} else if near := nearest.DidYouMean(s.Value, all); near != "" {
			help = near
		}
		r.doubt(s, "unknown-event", help, "the policy does not decide the event %s, so hook_event_name is never this", quote(s.Value))
	case vocab.Host:
		hosts := r.c.load.cfg.Hosts
		if len(hosts) == 0 || s.Value == "" || slices.Contains(hosts, s.Value) {
			return
		}
		help := nearest.OrBeginning(s.Value, hosts)
		if help == "" {
			help = theyAre("the hosts", hosts)
		}
		r.doubt(s, "unknown-host", help, "ralph knows no host %s, so host is never this", quote(s.Value))
	}
}

// badPath says why ralph refuses a path or pattern of a project, or gives "".
func badPath(path string, glob bool) (what, help string) {
	relative := "name it relative to the project, such as docs/notes.md"
	switch {
	case path == "":
		return "is empty", relative
	case strings.IndexByte(path, 0) >= 0:
		return "contains a NUL byte", relative
	case slices.Contains(strings.Split(path, "/"), ".."):
		return `contains "..", which leads out of the project`, relative
	case strings.HasPrefix(path, "/"):
		return "is absolute, and ralph reads only files of the project", relative
	case strings.HasPrefix(path, "$"):
		return "begins with $, and no shell expands it", "write ~/ for the home directory, ${env.NAME} for a variable"
	case strings.HasPrefix(path, "~") && path != "~" && !strings.HasPrefix(path, "~/"):
		return "begins with ~, which is the home directory only before a slash", "write ~/, or ./~ for a file of that name"
	case strings.Contains(path, "://"):
		return "is an address, and ralph reads only files of the project", relative
	case glob && !isPattern(path):
		return "is not a pattern: a bracket or brace is not closed, or it ends with \\", `write \[ or \{ for the character itself`
	}
	return "", ""
}

// isPattern reports whether every bracket and brace of a glob is closed.
func isPattern(glob string) bool {
	braces, class := 0, false
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; {
		case c == '\\':
			if i++; i == len(glob) {
				return false
			}
		case class:
			class = c != ']'
		case c == '[':
			class = true
			if i+1 < len(glob) && (glob[i+1] == '!' || glob[i+1] == '^') {
				i++
			}
			if i+1 == len(glob) || glob[i+1] == ']' {
				return false
			}
		case c == '{':
			braces++
		case c == '}':
			if braces--; braces < 0 {
				return false
			}
		}
	}
	return braces == 0 && !class
}

// checkPath looks at the path of a fact or an effect. A hole stands for a name.
func (c *compiler) checkPath(sc *scope, n *source.Node, kind SourceKind, segs []segment) {
	if c.lazy || !kind.Path || c.load.cfg.Allow != nil { // what it allows says more
		return
	}
	var path strings.Builder
	for _, s := range segs {
		if s.literal != "" {
			path.WriteString(s.literal)
		} else {
			path.WriteString("x")
		}
	}
	what, help := badPath(path.String(), kind.Glob)
	if what == "" && kind.File && strings.Contains(path.String(), "*") {
		what, help = "contains *, which stands for itself here", "write glob: to read the files of a pattern"
	}
	if what != "" {
		c.warnf(sc, n, "bad-path", help, "the path %s", what)
	}
}

// spans looks at a checked expression for durations where expr's checker takes them and
// its machine does not.
func (l *leaves) spans(n, parent ast.Node) {
	switch t := n.(type) {
	case *ast.BuiltinNode:
		if slices.Contains([]string{"abs", "ceil", "floor", "round", "float"}, t.Name) && len(t.Arguments) == 1 && isSpan(t.Arguments[0]) {
			from, to, _ := l.text(t)
			arg := l.span(t.Arguments[0])
			l.warn(from, to, "bad-argument", arg+".Minutes() and "+arg+".Seconds() are numbers", t.Name+" takes a number, and this is a duration, so this cannot be evaluated")
		}
		if help := l.spansOf(t); help != "" {
			from, to, _ := l.text(t)
			l.warn(from, to, "bad-argument", help, t.Name+" takes numbers, and these are durations, so this cannot be evaluated")
		}
	case *ast.BinaryNode:
		_, used := parent.(*ast.BinaryNode)
		for _, sides := range [...][2]ast.Node{{t.Left, t.Right}, {t.Right, t.Left}} {
			if used && t.Operator == "*" && isSpan(sides[0]) && sides[1].Type().Kind() == reflect.Float64 {
				from, to, times := l.text(sides[1])
				l.warn(from, to, "bad-argument", "multiply a number: "+l.span(sides[0])+".Minutes() * "+times, "a duration times a fraction is no duration, so this cannot be evaluated")
			}
		}
	}
	children(n, func(c *ast.Node) { l.spans(*c, n) })
}

// spansOf says what to write instead of the sum, the least or the greatest of a list of time
// spans, "" for anything else. Of durations that are no list, min and max work.
func (l *leaves) spansOf(call *ast.BuiltinNode) string {
	if !slices.Contains([]string{"sum", "min", "max"}, call.Name) {
		return ""
	}
	minutes := func(form string, each *ast.PredicateNode, of ast.Node) string {
		if !l.givesSpan(each.Node, of) {
			return ""
		}
		_, _, list := l.text(of)
		_, _, what := l.text(each.Node)
		return "write " + fmt.Sprintf(form, list, what+".Minutes()")
	}
	args := call.Arguments
	switch list := args[len(args)-1].(type) {
	case *ast.ArrayNode:
		spans := make([]string, len(list.Nodes))
		for i, n := range list.Nodes {
			if !isSpan(n) {
				return ""
			}
			spans[i] = l.span(n)
		}
		switch {
		case len(spans) == 0:
		case call.Name == "sum":
			return "write " + strings.Join(spans, " + ")
		default:
			return "write " + call.Name + "(" + strings.Join(spans, ", ") + ")"
		}
	case *ast.PredicateNode: // sum(list, …)
		return minutes("sum(%s, %s)", list, args[0])
	case *ast.BuiltinNode:
		if each, ok := list.Arguments[len(list.Arguments)-1].(*ast.PredicateNode); ok && list.Name == "map" {
			return minutes(call.Name+"(map(%s, %s))", each, list.Arguments[0])
		}
	}
	return ""
}

// givesSpan reports whether a predicate over a list gives durations. Only the age of a file
// is one whose type is not known.
func (l *leaves) givesSpan(body, list ast.Node) bool {
	m, ok := body.(*ast.MemberNode)
	if !ok {
		return isSpan(body)
	}
	prop, _ := m.Property.(*ast.StringNode)
	for {
		b, ok := list.(*ast.BuiltinNode)
		if !ok {
			break
		}
		list = b.Arguments[0]
	}
	id, _ := list.(*ast.IdentifierNode)
	if prop == nil || prop.Value != "age" || id == nil {
		return isSpan(body)
	}
	s := l.c.table.find(id.Value)
	return s != nil && s.kind == factSymbol && s.fact.Source.Glob
}

func isSpan(n ast.Node) bool { return n.Type() == reflect.TypeFor[time.Duration]() }

// span is how the policy writes a duration.
func (l *leaves) span(n ast.Node) string {
	if id, ok := n.(*ast.IdentifierNode); ok {
		if s := l.c.table.find(id.Value); s != nil {
			return s.name
		}
	}
	_, _, text := l.text(n)
	return text
}

// checkUse reports what follows a dot behind a text, number or truth value that may be absent.
func (r *resolver) checkUse(m *ast.MemberNode, elems []*schema.Schema) {
	base := m.Node
	if b, ok := base.(*ast.BinaryNode); ok && b.Operator == "??" {
		base = b.Left
	}
	prop, ok := m.Property.(*ast.StringNode)
	t := r.typeOf(base, elems)
	if r.to == nil || !ok || t == nil || !maybeNil(t) || kindWord(t.Kind) == "" {
		return
	}
	l := prop.Location()
	_, _, message, help := r.c.usual.find(r.src, l.From, max(l.To, l.From+1), "values have no methods", "the functions and operators of expressions take the value: len(…), … contains …")
	r.doubt(prop, "mixed-types", help, "the field is %s, so this cannot be evaluated: %s", kindWord(t.Kind), message)
}

// checkUnlisted reports a field that an object with other fields than the declared ones may
// have, if a declared one has a similar name.
func (r *resolver) checkUnlisted(field *ast.StringNode, of *schema.Schema) {
	if r.to == nil || r.c.lazy || of == nil || len(of.Fields) == 0 || of.Fields[field.Value] != nil {
		return
	}
	names := fieldNames(of)
	if meant := meantField(field.Value, names); meant != "" {
		r.doubt(field, "optional-field", meant, "%s may be absent; the fields that are always there are %s", quote(field.Value), list(names))
	}
}

// checkCondition reports a field that may be absent and is no condition. What is always there
// expr's checker reports.
func (r *resolver) checkCondition(n ast.Node, elems []*schema.Schema) {
	t := r.typeOf(n, elems)
	if r.to == nil || r.c.lazy || t == nil || !maybeNil(t) {
		return
	}
	if is := kindWord(t.Kind); is != "" && t.Kind != schema.Bool {
		l := n.Location()
		from, to := l.From, max(l.To, l.From+1)
		if all, ok := r.to.(*leaves); ok {
			from, to, _ = all.text(n)
		}
		r.to.warn(from, to, "mixed-types", "compare it with "+is, "the field is "+is+", and a condition is true or false, so this cannot be evaluated")
	}
}

// checkKinds reports a field that may be absent, compared with a value of a type
// that it never has. What is always there expr's checker reports.
func (r *resolver) checkKinds(b *ast.BinaryNode, elems []*schema.Schema) {
	if r.to == nil || r.c.lazy {
		return
	}
	for _, sides := range [...][2]ast.Node{{b.Left, b.Right}, {b.Right, b.Left}} {
		field := sides[0]
		or, standIn := field.(*ast.BinaryNode)
		if standIn = standIn && or.Operator == "??"; standIn {
			field = or.Left
		}
		t := r.typeOf(field, elems)
		if t == nil || !maybeNil(t) || standIn && literalKind(or.Right) != kindWord(t.Kind) {
			continue
		}
		is := kindWord(t.Kind)
		other := literalKind(sides[1])
		if is == "" || other == "" || is == other {
			continue
		}
		what := "so this cannot be evaluated"
		switch b.Operator {
		case "==":
			what = "so this is never true"
		case "!=":
			what = "so this is always true"
		}
		r.doubt(sides[1], "mixed-types", "compare it with "+is, "the field is %s, never %s, %s", is, other, what)
	}
}

func kindWord(k schema.Kind) string {
	switch k {
	case schema.String:
		return "a string"
	case schema.Int, schema.Number:
		return "a number"
	case schema.Bool:
		return "true or false"
	}
	return ""
}

func literalKind(n ast.Node) string {
	switch t := n.(type) {
	case *ast.StringNode:
		return "a string"
	case *ast.IntegerNode, *ast.FloatNode:
		return "a number"
	case *ast.BoolNode:
		return "true or false"
	case *ast.CallNode:
		if callee(t.Callee) == "duration" {
			return "a duration"
		}
	case *ast.BuiltinNode:
		if t.Name == "duration" {
			return "a duration"
		}
	}
	return ""
}

// checkForeign reports what looks like a hole of a shell or of another template
// language. Code in backquotes is left alone: a text may tell the agent to run it.
func (c *compiler) checkForeign(sc *scope, n *source.Node) {
	if !strings.Contains(n.Value, "{{") && !strings.Contains(n.Value, "$(") {
		return
	}
	holes := regexp.MustCompile(`\{\{[^{}\n]*\}\}|\$\([^()\n]*\)`)
	for _, g := range holes.FindAllStringIndex(n.Value, 20) {
		before, written := n.Value[:g[0]], n.Value[g[0]:g[1]]
		if strings.Count(before, "`")%2 == 1 || strings.LastIndex(before, "${") > strings.LastIndex(before, "}") {
			continue
		}
		help := "no shell runs here: declare a fact {" + execOf(strings.Trim(written, "$()")) + "} and write ${FACT.stdout}; put it in backquotes if the agent is to run it"
		if written[0] == '{' {
			help = "write ${…} with an expression"
			words := strings.Fields(strings.Trim(written, "{}-"))
			switch {
			case len(words) == 0:
			case slices.Contains([]string{"if", "else", "elif", "end", "endif", "for", "endfor", "range", "with", "define", "template", "include"}, words[0]):
				help = `texts have no blocks: write ${condition ? "one" : "other"}, or a rule for each case`
			case len(words) == 1:
				help = "write ${" + sc.nearestName(strings.TrimLeft(words[0], ".$")) + "}"
			}
		}
		from := len([]rune(before))
		c.report(sc.file, n.At(from), n.At(from+len([]rune(written))), Warning, "foreign-hole", help, inCode(written)+" stays in the text as it is")
	}
}

// nearestName gives the declared name that differs only in case from a name, or the
// name itself.
func (sc *scope) nearestName(name string) string {
	for _, d := range sc.declared() {
		if strings.EqualFold(d, name) {
			return d
		}
	}
	return name
}
