package rules

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/form"
	"github.com/ralph-sdk/ralph/internal/nearest"
	"github.com/ralph-sdk/ralph/internal/yamltree"
)

func (p *parser) text(n *yamltree.Node, what string) (string, bool) {
	if n.Kind != yamltree.Scalar || n.Tag == "!!null" {
		p.errorf(n, "syntax", "", "%s must be a string; got %s", what, n.KindName())
		return "", false
	}
	return n.Value, true
}

// scalar accepts any scalar node as an expression or template: `when: true` and `limit: 5` are expressions, too.
func (p *parser) scalar(n *yamltree.Node, what string) *yamltree.Node {
	if _, ok := p.text(n, what); !ok {
		return nil
	}
	return n
}

// template accepts a text with placeholders.
func (p *parser) template(n *yamltree.Node, what string) *yamltree.Node {
	if n.Kind == yamltree.Scalar && n.Tag == "!!null" {
		p.errorf(n, "syntax", `write the text, or "" for none`, "%s must be a string; got nothing", what)
		return nil
	}
	if n.Style == yamltree.Plain && slices.Contains([]string{"true", "false", "yes", "no"}, strings.ToLower(n.Value)) {
		if i := slices.Index(verbWords(), what); i >= 0 {
			p.warnf(n, "verb-text", "write the text, such as "+what+": "+verbs()[i].example, "%s must be a text to show; got only %q", what, n.Value)
		}
	}
	p.uncut(n)
	return p.scalar(n, what)
}

// uncut reports an unquoted text that a # truncates: a comment after one space. Two spaces show that a comment is
// intended.
func (p *parser) uncut(n *yamltree.Node) {
	if n.Style != yamltree.Plain || n.Comment == "" {
		return
	}
	at := n.End()
	line := yamltree.Line(p.file.src, at.Line)
	runes := []rune(line)
	if !strings.HasPrefix(string(runes[at.Col-1:]), " #") {
		return
	}
	at.Col++
	p.diags.add(p.file, at, yamltree.Pos{Line: at.Line, Col: len(runes) + 1}, Warning, "cut-text",
		"a ` #` starts a comment and cuts the text off here", "quote the whole text; put two spaces before a comment")
}

// parts accepts a text: a template, or a list of parts.
func (p *parser) parts(n *yamltree.Node, what string) *yamltree.Node {
	switch n.Kind {
	case yamltree.Scalar:
		return p.template(n, what)
	case yamltree.Map:
		help := "quote it, or put it into a |- block"
		if n.Get("text") != nil {
			help = "make it an item of a list: - text: …"
		}
		p.errorf(n, "syntax", help, "%s must be a string or a list of parts; got a map", what)
		return nil
	}
	if len(n.Items) == 0 {
		p.errorf(n, "empty", "remove the key, or write a part", "%s is an empty list", what)
		return nil
	}
	good := true
	for _, item := range n.Items {
		good = p.part(item, what) && good
	}
	if !good {
		return nil
	}
	return n
}

// part accepts one item of a list of parts.
func (p *parser) part(n *yamltree.Node, what string) bool {
	text := n
	if n.Kind == yamltree.Map {
		text = n.Get("text")
		if text == nil && n.Get("when") == nil {
			p.errorf(n, "syntax", "quote it, or put it into a |- block", "YAML reads this part of %s as a map, because of its `: `", what)
			return false
		}
		var when []*yamltree.Node
		if !p.object(n, "a part", form.PartKeys(), targets{{"when", &when}}) {
			return false
		}
		if text == nil && len(n.Fields) == 1 { // otherwise a second key is reported
			p.errorf(firstKey(n), "syntax", "add text: with the text of the part", "a part needs text")
		}
		if text == nil || when == nil && n.Get("when") != nil {
			return false
		}
	}
	switch {
	case text.Kind != yamltree.Scalar:
		p.errorf(text, "syntax", "write one list of parts; a part with a condition has the keys when and text", "a part must be a string; got %s", text.KindName())
	case strings.TrimSpace(text.Value) == "":
		p.errorf(text, "empty", "remove it; an empty line at the start of a part makes a paragraph", "this part of %s is empty", what)
	default:
		return p.template(text, what) != nil
	}
	return false
}

// word reads one of a few words and returns its index.
func (p *parser) word(n *yamltree.Node, what string, words []string) int {
	s, ok := p.text(n, what)
	if !ok {
		return 0
	}
	i := slices.Index(words, s)
	if i < 0 {
		p.errorf(n, "bad-value", nearest.DidYouMean(s, words), "%s must be one of %s; got %q", what, list(words), s)
		return 0
	}
	return i
}

func (p *parser) boolean(n *yamltree.Node, what string) bool {
	if n.Kind != yamltree.Scalar || n.Tag != "!!bool" {
		p.errorf(n, "bad-value", "", "%s must be true or false; got %s", what, p.shown(n))
		return false
	}
	b, _ := n.Decode().(bool)
	return b
}

// count reads a whole number that is a number in YAML: "5" in quotes is a string, also in the schema of policies.
func (p *parser) count(n *yamltree.Node, what string) int {
	i, err := strconv.Atoi(n.Value)
	if n.Kind != yamltree.Scalar || n.Tag != "!!int" || err != nil || i < 0 {
		p.errorf(n, "bad-value", numberHelp(n), "%s must be a whole number, 0 or more; got %s", what, p.shown(n))
		return 0
	}
	return i
}

// numberHelp returns how to write a number with a unit or in quotes, or "".
func numberHelp(n *yamltree.Node) string {
	if n.Kind != yamltree.Scalar || n.Tag != "!!str" {
		return ""
	}
	g := regexp.MustCompile(`^\s*\$?(\d+(?:\.\d+)?)\s*([kKM]?)\s*(?i:usd|\$|tokens|times)?\s*$`).FindStringSubmatch(n.Value)
	switch {
	case g == nil:
		return ""
	case g[2] != "":
		return inFull(g)
	}
	return "write " + g[1]
}

// timeHelp returns how to write a duration.
func timeHelp(n *yamltree.Node) string {
	if help := spanHelp(n.Value); n.Kind == yamltree.Scalar && strings.Count(help, `"`) == 2 {
		return "write " + strings.Split(help, `"`)[1]
	}
	return "write a number with its unit: 500ms, 30s, 5m, 24h"
}

// amount reads a number, as count does.
func (p *parser) amount(n *yamltree.Node, what string) float64 {
	f, err := strconv.ParseFloat(n.Value, 64)
	if n.Kind != yamltree.Scalar || n.Tag != "!!int" && n.Tag != "!!float" || err != nil || f < 0 || math.IsNaN(f) || math.IsInf(f, 0) {
		p.errorf(n, "bad-value", numberHelp(n), "%s must be a number, 0 or more; got %s", what, p.shown(n))
		return 0
	}
	return f
}

// shown returns a node for messages: its text, or its kind.
func (p *parser) shown(n *yamltree.Node) string {
	switch {
	case n.Kind != yamltree.Scalar, n.Tag == "!!null":
		return n.KindName()
	case n.Tag == "!!str":
		return "the string " + quote(cut(n.Value, 40))
	}
	return cut(n.Value, 40)
}

func (p *parser) duration(n *yamltree.Node, what string) time.Duration {
	d, err := time.ParseDuration(n.Value)
	if n.Kind != yamltree.Scalar || n.Tag != "!!str" || err != nil || strings.HasPrefix(n.Value, "-") || strings.HasPrefix(n.Value, "+") {
		p.errorf(n, "bad-value", timeHelp(n), "%s must be a duration such as 30s; got %s", what, p.shown(n))
		return 0
	}
	return d
}

func isIdentifier(s string) bool {
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// identifierHelp returns how to spell a name for expressions.
func identifierHelp(s string) string {
	spelt := strings.Map(func(r rune) rune {
		if r == '-' || r == ' ' || r == '.' {
			return '_'
		}
		return r
	}, s)
	if spelt != s && isIdentifier(spelt) {
		return "write " + quote(spelt)
	}
	return "use letters, digits and _, and begin with a letter"
}

// kebabHelp returns how to write a name in kebab-case.
func kebabHelp(s string) string {
	kebab := strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), "-")
	if kebab == "" {
		return "use small letters, digits and single dashes"
	}
	return "write " + kebab
}

func isKebab(s string) bool {
	for _, part := range strings.Split(s, "-") {
		if part == "" || strings.ContainsFunc(part, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < '0' || r > '9')
		}) {
			return false
		}
	}
	return true
}

// oneOrMore reads an expression or a nonempty list of them.
func (p *parser) oneOrMore(n *yamltree.Node, what string) []*yamltree.Node {
	items := []*yamltree.Node{n}
	if n.Kind == yamltree.List {
		items = n.Items
	}
	var out []*yamltree.Node
	for _, item := range items {
		switch {
		case isShellTest(item):
			_, _, message, help := new(finder).find("[["+item.Items[0].Value+"]]", 0, len(item.Items[0].Value), "", "")
			p.errorf(item, "syntax", help, "%s", message)
		case item.Kind != yamltree.Scalar:
			p.errorf(item, "syntax", "quote the expression, or put it into a |- block", "%s must be an expression or a list of them; got %s", what, item.KindName())
		case item.Tag == "!!null" || strings.TrimSpace(item.Value) == "":
			p.errorf(item, "empty", "remove the key, or write an expression", "%s is empty", what)
		default:
			out = append(out, item)
		}
	}
	if len(items) == 0 {
		p.errorf(n, "empty", "remove the key, or write an expression", "%s is empty", what)
	}
	return out
}

// isShellTest reports whether YAML read a [[ -f NAME ]] as a list of lists.
func isShellTest(n *yamltree.Node) bool {
	if n.Kind != yamltree.List || len(n.Items) != 1 {
		return false
	}
	flag, file, ok := strings.Cut(n.Items[0].Value, " ")
	return ok && file != "" && len(flag) == 2 && flag[0] == '-' && strings.Contains("defnrsxz", flag[1:])
}

// expressions reads a map from names to expressions. It calls lost for names with an unusable expression.
func (p *parser) expressions(n *yamltree.Node, what string, lost func(key *yamltree.Node)) []letDecl {
	var out []letDecl
	p.named(n, what, func(k, v *yamltree.Node) {
		if v.Kind != yamltree.Scalar || v.Tag == "!!null" {
			p.errorf(v, "syntax", "quote the expression, or put it into a |- block", "the value of %q must be an expression; got %s", k.Value, v.KindName())
			lost(k)
			return
		}
		out = append(out, letDecl{name: k.Value, key: k, expr: v})
	})
	return out
}

// events reads the list of events, or a single one.
func (p *parser) events(n *yamltree.Node) []string {
	all := p.load.events()
	items := n.Items
	if n.Kind == yamltree.Scalar && n.Tag != "!!null" {
		items = []*yamltree.Node{n}
	}
	if n.Kind == yamltree.Map || len(items) == 0 {
		kind := n.KindName()
		if n.Kind == yamltree.List {
			kind = "empty"
		}
		p.errorf(n, "bad-value", "remove the key for [Stop]", "events must be a list of %s; got %s", list(all), kind)
		return nil
	}
	var out []string
	for _, item := range items {
		s, ok := p.text(item, "an event")
		switch {
		case !ok:
		case !slices.Contains(all, s):
			p.errorf(item, "bad-value", nearest.DidYouMean(s, all), "unknown event %q; expected one of %s", s, list(all))
		case slices.Contains(out, s):
			p.errorf(item, "bad-value", "remove it", "the event %q is listed twice", s)
		default:
			out = append(out, s)
		}
	}
	return out
}
