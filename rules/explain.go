package rules

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"

	"github.com/ralph-sdk/ralph/internal/text"
)

// habits says what to write for names, functions (with a bracket) and keys (with a colon) that people bring from elsewhere.
var habits = map[string]string{
	"True": "write true", "False": "write false", "yes": "write true", "no": "write false", "null": "write nil, or missing(FACT)", "None": "write nil, or missing(FACT)", "it": "write # for the element, or .FIELD", "item": "write # for the element, or .FIELD", "undefined": "write nil, or missing(FACT)",
	"AND": "write and", "OR": "write or", "NOT": "write not", "NOT(": "write not (…)",
	"size(": "write len(…)", "length(": "write len(…)", "parseInt(": "write int(…)", "Number(": "write int(…)", "str(": "write string(…)", "String(": "write string(…)",
	"if:": "write when", "condition:": "write when", "unless:": "write when: not (…)", "on:": "write events", "block:": "write continue", "allow:": "write stop",
	"reason:": "the text of continue or stop is the reason", "include:": "a policy is one file: write its rules here", "unless_repeated:": "write at_most",
	"wait:": "write stop, with when: busy", "finally:": "write a rule with then and no verb, above those that decide", "success:": "write done instead of stop",
	"set:": "write then: [set: …]", "archive:": "write then: [archive: …]", "delete:": "write archive", "run:": "write then: [run: […]]", "version:": "write ralph: 1", "tests:": "tests of NAME.yaml are in NAME_test.yaml beside it", "given:": "tests of NAME.yaml are in NAME_test.yaml beside it",
	"file:": "write text, json, frontmatter or checklist", "yaml:": "write frontmatter for YAML between two lines ---", "cmd:": "write exec: [PROGRAM, ARGUMENT]", "shell:": "write exec: [sh, -c, COMMAND]",
}

// rewordings put the messages of expr in the words of an author: a pattern, a message, and what to write. $1 stands for a group of the
// pattern, $T1 for the name of the type there.
var rewordings = [][3]string{
	{`unexpected token Operator\("="\)`, "= does not compare", "write == to compare"},
	{`unexpected token Operator\("(&|\|)"\)`, "$1 is no operator here", "write and, or"},
	{`unexpected token Operator\("#"\)|cannot use pointer accessor`, "# and .field mean the current element, which only functions such as filter(…) and any(…) have", ""},
	{`unexpected token Identifier\("(AND|OR|NOT|is|equals|eq)"\)`, "$1 is no operator", "write and, or, not, =="},
	{`expected at least (\d+) arguments`, "there are fewer than $1 arguments", "functions of lists take a condition for the elements: all(LIST, .FIELD > 1)"},
	{`unexpected token EOF|unexpected end of expression`, "the expression ends too early", "write what is missing at its end: a value, or the ) or ] that closes a bracket"},
	{`unexpected token (?:Identifier|String|Number)\((.+)\)$`, "$1 is not expected here", "put an operator before it: and, or, ==, +"},
	{`unexpected token \w+\("(.+)"\)`, "$1 is not expected here", "write a value on each side of an operator, and close every bracket and quote"},
	{`literal not terminated`, "a quote before this is not closed", "close it with the same sign"},
	{`invalid char escape`, "this backslash means nothing within quotes", "write a backslash twice"},
	{`unrecognized character: .*([“”„‘’])`, "$1 is no quote of an expression", "write \""},
	{`exceeds maximum allowed nodes`, "the expression has too many parts", "name parts of it with let"},
	{`coalesce expressions`, "?? does not go beside other operators without brackets", "write (a ?? b)"},
	{`^invalid operation: (and|or|&&|\|\|) \(mismatched`, "each side of $1 is true or false", "compare it with something"},
	{`^invalid operation: (\S+) \(mismatched types? ((?:int|float|string)\d*) and ((?:int|float|string)\d*)\)`, "$1 does not go between $T2 and $T3",
		"leave the quotes of a number out; int(…) makes a number of a text, string(…) a text of a number"},
	{`^invalid operation: (\S+) \(mismatched types? .*time\.Duration.*\)`, "$1 does not go between a duration and this", "write duration(\"1h\")"},
	{`^invalid operation: (==|!=|in) \(mismatched types? (?:(bool) and (.*)|(.*) and (bool))\)`, "$1 does not go between $T2$T4 and $T3$T5", "write NAME or not NAME: what is true or false needs no comparison"},
	{`^invalid operation: (\S+) \(mismatched types? (.*) and (.*)\)`, "$1 does not go between $T2 and $T3", "compare values of one kind: those of an object are its fields"},
	{`^invalid operation: (\S+) \(mismatched type (.*)\)`, "$1 does not go with $T2", "compare it with something"},
	{`^non-bool expression \(type (.*)\)|^predicate should return boolean \(got (.*)\)`, "a condition is true or false, and this is $T1$T2", "compare it with something"},
	{`^builtin (\w+) takes only array \(got (.*)\)`, "$1 takes a list, and this is $T2", ""},
	{`^array elements can only be selected using an integer`, "a list has no fields", "write LIST[0].FIELD, any(LIST, .FIELD) or all(LIST, .FIELD)"},
	{`^cannot use (.*) as argument \(type (.*)\) to call (\S+)`, "$3 takes $T2 here, and this is $T1", ""},
	{`^type (.*) has no (?:field|method) (\w+)`, "there is no field $2 in $T1", "functions and operators stand outside: len(x), x contains y"},
	{`^unknown field (\w+)`, "there is no field $1", ""},
	{`^error parsing regexp: (.*)`, "this is no regular expression: $1", "write a backslash twice within quotes"},
	{`^interface conversion: interface {} is (.*), not (.*)`, "$T2 is needed, and this is $T1", ""},
	{`^cannot fetch (\S+) from <nil>`, "there is nothing to read $1 from", "write ?. before it"},
	{`^cannot fetch (\S+) from (.*)`, "there is no $1 in $T2", ""},
	{`^index out of range: (-?\d+) \(array length is (\d+)\)`, "there is no element $1 in a list of $2", ""},
	{`^invalid operation: (?:int|float)\((<nil>|string|bool|map\[.*|\[\].*)\)`, "a number is needed, and this is $T1", ""},
	{`^invalid operation: (int|float)\((.*)\)`, "$1 makes no number of $2", ""},
	{`^invalid operation: (.+) (\S+) (.+)`, "$2 does not go between $T1 and $T3", ""},
}

// patterns compiles the rewordings when the first message needs one: a hook has none.
var patterns = sync.OnceValue(func() (out []*regexp.Regexp) {
	for _, r := range rewordings {
		out = append(out, regexp.MustCompile(r[0]))
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
		var words []string // all at once: a group may be a text of the author, with a $ of its own
		for g, group := range m {
			words = append(words, fmt.Sprint("$T", g), typeWord(group), fmt.Sprint("$", g), strings.Trim(group, `"`))
		}
		return strings.NewReplacer(words...).Replace(rewordings[i][1]), rewordings[i][2]
	}
	return message, ""
}

// explain reports an error of expr, with what YAML may have done to the expression before. tree is nil if it was not parsed.
func (c *compiler) explain(x *expression, tree *parser.Tree, err error) {
	found := &file.Error{Location: file.Location{To: utf8.RuneCountInString(x.source)}, Message: err.Error()}
	errors.As(err, &found)
	message, help := reworded(found.Message)
	at, width := found.From, found.To-found.From
	n := x.at.node
	end := strings.TrimRight(x.source, " \n")
	if strings.HasPrefix(message, "the expression ends") {
		at = max(0, utf8.RuneCountInString(end)-1)
		_, after, _ := strings.Cut(c.lines[n.Line-1], end) // a plain scalar ends where YAML sees a sign of its own
		switch {
		case n.Style != 0:
		case strings.HasPrefix(after, " #"):
			help = "in YAML a # after a space begins a comment: put the expression in quotes"
		case strings.HasPrefix(after, ","):
			help += "; within { } and [ ] of YAML a comma ends a value: put the expression in quotes"
			if slices.ContainsFunc(c.findings, func(f Finding) bool { return f.Line == n.Line && f.Check == "unknown-key" }) {
				return // its rest was reported
			}
		}
	}
	check := "expression"
	if name, ok := strings.CutPrefix(message, "there is no field "); ok && tree != nil {
		if near := fieldsAt(tree, at); near != nil {
			check, help = "unknown-field", text.Nearest(name, near)
		}
	}
	if end == "" {
		message, help = "the expression is empty", ""
	}
	c.report(x.at.plus(at), max(1, min(width, 40)), check, text.Line(message), help)
}
