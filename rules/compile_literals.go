package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"

	"github.com/ralph-sdk/ralph/internal/nearest"
	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/internal/yamltree"
)

// literals reports literals that load but cannot work, before names are resolved: paths that lead out of the project,
// invalid durations, unknown events and hosts.
func (r *resolver) literals(n ast.Node) {
	switch t := n.(type) {
	case *ast.CallNode:
		r.argument(callee(t.Callee), t.Arguments)
	case *ast.BuiltinNode:
		r.argument(t.Name, t.Arguments)
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
	children(n, func(c *ast.Node) { r.literals(*c) })
}

// callee returns the full name of a function, or "" if it is not plain.
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

func (r *resolver) warnf(n ast.Node, check, help, format string, args ...any) {
	l := n.Location()
	r.to.warn(l.From, max(l.To, l.From+1), check, help, fmt.Sprintf(format, args...))
}

// argument checks the literal argument of a function.
func (r *resolver) argument(function string, args []ast.Node) {
	if len(args) != 1 {
		return
	}
	s, ok := args[0].(*ast.StringNode)
	switch {
	case !ok:
	case (function == vocab.Exists || function == vocab.IsDir) && strings.ContainsAny(s.Value, "*?"):
		help := "write anyfile(" + quote(s.Value) + ")"
		if function == vocab.IsDir {
			help = "name one directory; use anyfile(…) for a pattern"
		}
		r.warnf(s, "bad-path", help, "%s(%s) takes a path; * and ? have no special meaning in it", function, quote(s.Value))
	case asksPaths(function):
		if what, help := badPath(s.Value, function == vocab.AnyFile); what != "" {
			r.warnf(s, "bad-path", help, "%s(%s) finds nothing: the path %s", function, quote(s.Value), what)
		}
	case function == "duration":
		if _, err := time.ParseDuration(s.Value); err != nil {
			r.warnf(s, "bad-argument", spanHelp(s.Value), "%s is not a duration, so this cannot be evaluated", quote(s.Value))
		}
	case function == "date":
		if _, err := builtin.Builtins[builtin.Index["date"]].Func(s.Value); err != nil {
			r.warnf(s, "bad-argument", `write for example date("2026-01-31") or date("2026-01-31T12:00:00Z")`, "%s is not a date, so this cannot be evaluated", quote(s.Value))
		}
	case function == vocab.Promised && strings.Contains(s.Value, "<promise>"):
		inner := strings.ReplaceAll(strings.ReplaceAll(s.Value, "<promise>", ""), "</promise>", "")
		r.warnf(s, "bad-argument", "write promised("+quote(inner)+")", "promised(…) is never true: it looks between the tags, and this has one itself")
	case function == vocab.TranscriptPassed, function == vocab.TranscriptPassedSinceEdit:
		if what := notACommand(s.Value); what != "" {
			r.warnf(s, "bad-argument", "name one command: "+function+`("go test")`, "%s is never true: it takes one command, and this %s", function+"(…)", what)
		}
	}
}

// notACommand returns why no command can have this name, or "".
func notACommand(name string) string {
	switch word, _, more := strings.Cut(strings.TrimSpace(name), " "); {
	case word == "":
		return "is empty"
	case strings.ContainsAny(name, "|&;\n"):
		return "has several"
	case more && strings.Contains(word, "="):
		return "sets variables"
	}
	return ""
}

// comparand checks a literal that is compared with one of ralph's names.
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
		r.warnf(s, "unknown-event", help, "the policy does not decide the event %s, so hook_event_name is never this", quote(s.Value))
	case vocab.Host:
		hosts := r.c.load.cfg.Hosts
		if len(hosts) == 0 || s.Value == "" || slices.Contains(hosts, s.Value) {
			return
		}
		help := nearest.OrBeginning(s.Value, hosts)
		if help == "" {
			help = theyAre("the hosts", hosts)
		}
		r.warnf(s, "unknown-host", help, "unknown host %s, so host is never this", quote(s.Value))
	}
}

// badPath returns why ralph rejects a path or pattern of a project, or "".
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
		return "is a URL, and ralph reads only files of the project", relative
	case glob && !doublestar.ValidatePattern(path):
		return "is not a pattern: a bracket or brace is not closed, or it ends with \\", `write \[ or \{ for the character itself`
	}
	return "", ""
}

// checkPath checks the path of a fact or an effect. A placeholder counts as a name.
func (c *compiler) checkPath(sc *scope, n *yamltree.Node, kind SourceKind, segs []segment) {
	if c.lazy || !kind.inProject() || len(c.load.cfg.Allow) > 0 { // its finding is more specific
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
	what, help := badPath(path.String(), kind.Argument == argumentPattern)
	if what == "" && kind.File && strings.Contains(path.String(), "*") {
		what, help = "contains *, which has no special meaning here", "write glob: to read the files of a pattern"
	}
	if what != "" {
		c.warnf(sc, n, "bad-path", help, "the path %s", what)
	}
}
