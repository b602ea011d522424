package testfile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/nearest"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/rules/internal/source"
)

// The checks that diagnostics of this package name, beside those of the YAML
// reader.
const (
	CheckSyntax  = "test-syntax"  // a value of the wrong shape
	CheckKey     = "unknown-key"  // a key that test files do not have
	CheckValue   = "bad-value"    // a value that is not allowed
	CheckNothing = "test-nothing" // no tests, or a test that expects nothing
	CheckName    = "test-name"    // a name that is missing, or there twice
	CheckUnknown = "unknown-name" // a fact or rule that the policy does not have
)

// reader turns YAML nodes into a file. It never stops at the first problem.
type reader struct {
	name  string
	src   []byte
	diags rules.Diagnostics
}

func (r *reader) pos(at source.Pos) rules.Pos {
	return rules.Pos{File: r.name, Line: at.Line, Col: at.Col}
}

func (r *reader) errorf(n *source.Node, check, help, format string, args ...any) {
	r.diags = append(r.diags, rules.Diagnostic{
		Pos: r.pos(n.Start), End: r.pos(n.End()), Check: check,
		Message: fmt.Sprintf(format, args...), Help: help, Line: source.Line(r.src, n.Start.Line),
	})
}

func quoted(names []string) string {
	names = slices.Sorted(slices.Values(names))
	for i, n := range names {
		names[i] = strconv.Quote(n)
	}
	return strings.Join(names, ", ")
}

func isNull(n *source.Node) bool { return n.Kind == source.Scalar && n.Tag == "!!null" }

// fields calls f for each key of n that the table knows and reports the others.
func (r *reader) fields(n *source.Node, what string, ks keys, f func(key string, value *source.Node)) {
	if n.Kind != source.Map {
		r.errorf(n, CheckSyntax, "", "%s is a map with the keys %s, this is %s", what, quoted(ks.names()), n.KindName())
		return
	}
	for _, fl := range n.Fields {
		if !ks.has(fl.Key.Value) {
			r.errorf(fl.Key, CheckKey, nearest.DidYouMean(fl.Key.Value, ks.names()),
				"unknown key %q in %s, expected one of %s", fl.Key.Value, what, quoted(ks.names()))
			continue
		}
		f(fl.Key.Value, fl.Value)
	}
}

// named walks a map from names to anything.
func (r *reader) named(n *source.Node, what string, f func(key, value *source.Node)) {
	if n.Kind != source.Map {
		r.errorf(n, CheckSyntax, "", "%s is a map from names to values, this is %s", what, n.KindName())
		return
	}
	for _, fl := range n.Fields {
		f(fl.Key, fl.Value)
	}
}

// items walks a list.
func (r *reader) items(n *source.Node, what string, f func(*source.Node)) {
	if n.Kind != source.List {
		r.errorf(n, CheckSyntax, "begin each item with a dash", "%s is a list, this is %s", what, n.KindName())
		return
	}
	for _, item := range n.Items {
		f(item)
	}
}

func (r *reader) text(n *source.Node, what string) string {
	if n.Kind != source.Scalar || isNull(n) {
		r.errorf(n, CheckSyntax, "", "%s is a text, this is %s", what, n.KindName())
		return ""
	}
	return n.Value
}

// texts reads a text or a list of texts.
func (r *reader) texts(n *source.Node, what string) []string {
	if n.Kind != source.List {
		return []string{r.text(n, what)}
	}
	out := make([]string, len(n.Items))
	for i, item := range n.Items {
		out[i] = r.text(item, what)
	}
	return out
}

func (r *reader) boolean(n *source.Node, what string) bool {
	if b, ok := n.Decode().(bool); ok {
		return b
	}
	r.errorf(n, CheckValue, "", "%s is true or false, not %s", what, valueName(n))
	return false
}

func (r *reader) count(n *source.Node, what string) int {
	if i, ok := n.Decode().(int); ok && i >= 0 {
		return i
	}
	r.errorf(n, CheckValue, "", "%s is a whole number, 0 or more, not %s", what, valueName(n))
	return 0
}

func (r *reader) span(n *source.Node, what string) time.Duration {
	d, err := time.ParseDuration(n.Value)
	if n.Kind != source.Scalar || err != nil || d < 0 {
		r.errorf(n, CheckValue, "write a number with its unit: 500ms, 30s, 5m, 24h", "%s is a time such as 30s, not %s", what, valueName(n))
		return 0
	}
	return d
}

func valueName(n *source.Node) string {
	if n.Kind == source.Scalar && !isNull(n) {
		return strconv.Quote(n.Value)
	}
	return n.KindName()
}

// moment reads a time.
func (r *reader) moment(n *source.Node, what string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, time.DateTime, time.DateOnly} {
		if t, err := time.Parse(layout, n.Value); err == nil && n.Kind == source.Scalar {
			return t
		}
	}
	r.errorf(n, CheckValue, "write for example 2026-01-31T12:00:00Z", "%s is a time, not %s", what, valueName(n))
	return time.Time{}
}
