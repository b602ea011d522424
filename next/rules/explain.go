package rules

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/next/internal/text"
)

// foreignKeys says what to write for keys that people bring from elsewhere.
var foreignKeys = map[string]string{
	"if": "write when", "condition": "write when", "unless": "write when: not (…)", "on": "write events", "block": "write continue", "allow": "write stop",
	"reason": "the text of continue or stop is the reason", "include": "a policy is one file: write its rules here", "unless_repeated": "write at_most",
	"wait": "write stop, with when: busy", "finally": "write a rule with then and no verb, above those that decide", "success": "write done instead of stop",
	"ask": "write stop, with a notice", "set": "write then: [set: …]", "archive": "write then: [archive: …]", "delete": "write then: [archive: …]",
	"run": "write then: [run: […]]", "prune": "write then: [prune: …]", "max": "write limits: {continuations: N}", "version": "write ralph: 1",
	"settle": "a file that was just written is read again without it", "lenient": "null and \"2\" in files are read as they are meant without it",
}

// habit returns what to write instead of a name or function of another language.
func habit(name string) (message, help string) {
	switch name {
	case "True", "False", "TRUE", "FALSE":
		return "there is no name " + name, "write " + strings.ToLower(name)
	case "null", "None", "undefined", "NULL":
		return "there is no name " + name, "write nil, or missing(FACT)"
	case "size()", "length()", "count()":
		return "there is no function " + strings.TrimSuffix(name, "()"), "write len(…)"
	case "parseInt()", "Number()":
		return "there is no function " + strings.TrimSuffix(name, "()"), "write int(…)"
	case "str()", "String()", "toString()":
		return "there is no function " + strings.TrimSuffix(name, "()"), "write string(…)"
	case "AND", "OR", "NOT", "And", "Or", "Not", "AND()", "OR()", "NOT()":
		return name + " is no operator", "write " + strings.TrimSuffix(strings.ToLower(name), "()")
	}
	return "", ""
}

// rewording puts a message of expr in the words of an author. $1 stands for a group of the pattern, $T1 for the name of the type there.
type rewording struct{ pattern, message, help string }

var rewordings = []rewording{
	{`unexpected token Operator\("="\)`, "= does not compare", "write == to compare"},
	{`unexpected token Operator\("=>"\)`, "there is no =>", "write any(list, .field == …)"},
	{`unexpected token Operator\("(&|&&&)"\)`, "$1 is no operator here", "write and"},
	{`unexpected token Operator\("(\+|-|\*|/)="\)`, "an expression changes nothing", "write then: [set: …]"},
	{`unexpected token Operator\("#"\)|cannot use pointer accessor`, "# and .field mean the current element, which only functions such as filter(…) and any(…) have", ""},
	{`unexpected token Identifier\("(AND|OR|NOT)"\)`, "$1 is no operator", "write and, or, not"},
	{`unexpected token Identifier\("(is|equals|eq)"\)`, "$1 is no operator", "write == to compare"},
	{`unexpected token (EOF|)$|unexpected end of expression`, "the expression ends too early", "close every bracket, and finish the last comparison"},
	{`unexpected token (?:Identifier|String|Number)\((.+)\)$`, "$1 is not expected here", "put an operator before it: and, or, ==, +"},
	{`unexpected token \w+\("(.+)"\)`, "$1 is not expected here", "see that every bracket and quote is closed"},
	{`literal not terminated`, "the quote that begins here is not closed", ""},
	{`unrecognized character: (.*)`, "$1 means nothing here", ""},
	{`exceeds maximum allowed nodes`, "the expression has too many parts", "name parts of it with let"},
	{`coalesce expressions`, "?? does not go beside other operators without brackets", "write (a ?? b)"},
	{`^invalid operation: (and|or|&&|\|\|) \(mismatched`, "each side of $1 is true or false", "compare it with something"},
	{`^invalid operation: (\S+) \(mismatched types (.*) and (.*)\)`, "$1 does not go between $T2 and $T3", ""},
	{`^invalid operation: (\S+) \(mismatched type (.*)\)`, "$1 does not go with $T2", "compare it with something"},
	{`^non-bool expression \(type (.*)\)`, "a condition is true or false, and this is $T1", "compare it with something"},
	{`^predicate should return boolean \(got (.*)\)`, "the condition for each element is true or false, and this is $T1", "compare it with something"},
	{`^builtin (\w+) takes only array \(got (.*)\)`, "$1 takes a list, and this is $T2", ""},
	{`^array elements can only be selected using an integer \(got (.*)\)`, "an index is a number, and this is $T1", ""},
	{`^cannot use (.*) as argument \(type (.*)\) to call (\S+)`, "$3 takes $T2 here, and this is $T1", ""},
	{`^invalid argument for (\w+) \((?:type )?(.*)\)`, "$1 does not take $T2", ""},
	{`^cannot use (.*) as type (.*) in (?:array|map key)`, "$T1 is never in a list of $T2", ""},
	{`^(not enough|too many) arguments to call (\S+)`, "$2 gets $1 arguments", ""},
	{`^invalid number of arguments(.*)`, "the number of arguments is wrong$1", ""},
	{`^type (.*) has no (?:field|method) (\w+)`, "there is no field $2 in $T1", ""},
	{`^unknown field (\w+)`, "there is no field $1", ""},
	{`^cannot slice (.*)`, "$T1 cannot be sliced", ""},
	{`^cannot redeclare (.*)`, "$1 has a meaning already", "choose another name after let"},
	{`^(.*) is not callable`, "this is no function", ""},
	{`^error parsing regexp: (.*)`, "this is no regular expression: $1", "write a backslash twice within quotes"},
	{`^integer divide by zero`, "this divides by zero", ""},
}

// patterns compiles the rewordings when the first message needs one: a hook has none.
var patterns = sync.OnceValue(func() (out []*regexp.Regexp) {
	for _, r := range rewordings {
		out = append(out, regexp.MustCompile(r.pattern))
	}
	return out
})

// reworded returns a message of expr for authors, and what to write.
func reworded(message string) (string, string) {
	message, _, _ = strings.Cut(message, "\n")
	for i, p := range patterns() {
		m := p.FindStringSubmatch(message)
		if m == nil {
			continue
		}
		out := rewordings[i].message
		for g := len(m) - 1; g > 0; g-- {
			digit := string(rune('0' + g))
			out = strings.NewReplacer("$T"+digit, typeWord(m[g]), "$"+digit, strings.Trim(m[g], `"`)).Replace(out)
		}
		help := rewordings[i].help
		if help == "" && strings.Contains(out, "between a number and a text") || strings.Contains(out, "between a text and a number") {
			help = "leave the quotes of a number out; int(…) makes a number of a text, string(…) a text of a number"
		}
		return out, help
	}
	return message, ""
}

// typeWord returns the name of a Go type, or of a type of JSON Schema, for people.
func typeWord(t string) string {
	t = strings.TrimSpace(t)
	switch t {
	case "time.Duration":
		return "a duration"
	case "time.Time":
		return "a time"
	case "string", "rules.anyString":
		return "a text"
	case "bool", "boolean":
		return "true or false"
	case "integer", "number":
		return "a number"
	case "interface {}", "unknown", "any":
		return "a value"
	}
	for prefix, word := range map[string]string{"int": "a number", "uint": "a number", "float": "a number", "[]": "a list", "map": "an object", "Map": "an object", "func": "a function"} {
		if strings.HasPrefix(t, prefix) {
			return word
		}
	}
	return t
}

// explain reports a problem that expr found, with what YAML may have done to the expression before.
func (c *compiler) explain(x *expression, problem *exprError) {
	message, help := reworded(problem.message)
	at := problem.from
	if strings.HasPrefix(message, "the expression ends") {
		at = max(0, utf8.RuneCountInString(strings.TrimRight(x.source, " \n"))-1)
	}
	n := x.at.node
	if n != nil && n.Style == 0 && n.Kind == yaml.ScalarNode && n.Line <= len(c.lines) {
		line := c.lines[n.Line-1]
		if i := strings.Index(line, " #"); i >= 0 && strings.HasSuffix(strings.TrimRight(line[:i], " "), lastLine(n.Value)) {
			help = "in YAML a # after a space begins a comment: put the expression in quotes"
		}
	}
	if strings.TrimSpace(x.source) == "" {
		message, help = "the expression is empty", ""
	}
	c.report(x.at.plus(at), max(1, min(problem.width, 40)), "expression", text.Line(message), help)
}

func lastLine(s string) string { return s[strings.LastIndexByte(s, '\n')+1:] }
