package rules

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/ralph-sdk/ralph/internal/source"
)

// A rewording is what a message of expr, which is terse and speaks of Go, becomes for a user who writes policies. In
// text and help ${1} is a group of the pattern, ${q1} the same in quotes, ${t1} the Go type that it names as users do.
type rewording struct{ pattern, text, help string }

// rewordings lists the messages of expr's parser, checker and compiler. A row without help leaves it to the rows below,
// which see its text; a row without text keeps the message.
func rewordings() []rewording {
	const token = `^unexpected token `
	return []rewording{
		{`^unexpected (token EOF|end of expression)$`, "the expression ends too early", ""},
		{`^unclosed bracket$`, "this bracket is never closed", ""},
		{`^literal not terminated$`, "the quote that begins here is never closed", ""},
		{`^unclosed comment$`, "the comment that begins here is never closed", "write */ where it ends"},
		{`^invalid char escape$`, "this escape is unknown", `write \\ for one backslash`},
		{`^expression exceeds maximum allowed nodes$`, "the expression has too many parts", "give parts of it a name with let"},
		{`^wrap predicate with brackets`, "a let within a predicate needs braces", "write {let …; …}"},
		{`^expected name$`, "a name is expected after the dot", ""},
		{`^expected at least (.*)`, "this function takes at least ${1}", ""},
		{`^unrecognized character: [^']*(.*)`, "the character ${1} has no meaning here", ""},
		{`^bad number syntax: `, "this is no number", "a name begins with a letter"},
		{`literal is too large|^invalid \w+ literal: `, "the number is too large", ""},
		{`coalesce expressions`, "?? cannot be mixed with other operators", "put brackets around it: (a ?? b)"},
		{`^a map key must be`, "a key of an object is a quoted text or a name", ""},

		{token + `Operator\("#"\)`, "# stands for an element, which only filter(…), any(…) and their like have", ""},
		{token + `Operator\("(<>)"\)`, "${1} is not an operator", "write != for unequal"},
		{token + `Operator\("(=)"\)`, "${1} is not an operator here", "write == to compare"},
		{token + `Operator\("(&)"\)`, "${1} is not an operator here", "write and"},
		{token + `Operator\("((..)=)"\)`, "${1} is not an operator", "write ${2}"},
		{token + `Identifier\("(AND|OR|NOT)"\)`, "${1} is not an operator here", "write ${l1}"},
		{token + `Identifier\("(is|equals|eq)"\)`, "${q1} is not an operator", "write == to compare"},
		{token + `Identifier\("(isnt|ne)"\)`, "${q1} is not an operator", "write != to compare"},
		{token + `Identifier\("(then|unless)"\)`, "${q1} is not an operator", "write condition ? a : b"},
		{token + `Operator\("(.*)"\)`, "${1} is not expected here", ""},
		{token + `Bracket\("(.*)"\)`, "${1} is not expected here", "check that every bracket is opened and closed"},
		{token + `Identifier\("(.*)"\)`, "${q1} is not expected here", "put an operator between the two: and, or, ==, +, …"},
		{token + `(String|Number)\(`, "a ${l1} is not expected here", "put an operator between the two: ==, +, …"},
		{token + `(.*)`, "${1} is not expected here", ""},

		{`^invalid operation: (.*) \(mismatched types (.*) and (.*)\)`, "${q1} does not go between ${t2} and ${t3}", ""},
		{`^invalid operation: (.*) \(mismatched type (.*)\)`, "${q1} does not go with ${t2}", ""},
		{`^"(and|or|&&|\|\|)" does not go between`, "", "each side is a condition; compare it with something"},
		{`^"[!=]=" does not go between (nil |.* nil$)`, "the value always exists, so it is never nil", "a field that may be absent has no default and is not required"},
		{`^"\+" does not go between (a string |.* a string$)`, "", "write string(…) around what is no text"},
		{` between (a string and a number|a number and a string)$`, "", "a number has no quotes around it; int(…) makes a number of a string"},
		{` between a duration and a duration$`, "", "….Minutes() and ….Seconds() of a duration are numbers"},
		{` between a time and a number$`, "", `add a duration: duration("5m")`},
		{` between (a duration |.* a duration$)`, "", `write a duration as duration("30m")`},

		{`^array elements can only be selected .*\(got (.*)\)`, "an element of an array is picked by a number, not by ${t1}", ""},
		{`^cannot use pointer accessor`, "# and .field stand for an element, which only filter(…), any(…) and their like have", ""},
		{`^cannot redeclare (.* )?(\S+)$`, "${q2} has a meaning already", "choose another name behind let"},
		{`^non-bool expression \(type (.*)\)`, "a condition is true or false, this is ${t1}", "compare it with something"},
		{`^predicate should return boolean \(got (.*)\)`, "the condition must be true or false, this is ${t1}", "compare it with something"},
		{`^builtin (.*) takes only array \(got (.*)\)`, "${1} takes an array, this is ${t2}", ""},
		{`^(not enough|too many) arguments to call (.*)`, "${1} arguments for ${2}", ""},
		{`^invalid (number of arguments.*)`, "wrong ${1}", ""},
		{`^cannot use (.*) as argument \(type (.*)\) to call (\S+)`, "${3} takes ${t2} here, this is ${t1}", ""},
		{`^cannot slice (.*)`, "${t1} has no parts to take", ""},
		{`^non-integer slice index (.*)`, "a place in a list is a number, not ${t1}", ""},
		{`^error parsing regexp: (missing argument to repetition.*)`, "this is no regular expression: ${1}", "write .* for any text; * alone repeats what stands before it"},
		{`^error parsing regexp: (.*)`, "this is no regular expression: ${1}", "inside quotes a backslash is written twice; inside backquotes once"},
		{`^type (.*) has no (\w+) (.*)`, "${t1} has no ${2} ${q3}", ""},
		{`^type (.+?)\[.* is undefined$`, "${t1} has no elements", ""},
		{`^cannot use (.*) as type (.*) in array$`, "${t1} is never in an array of which each is ${t2}", ""},
		{`^(.*) is not callable$`, "${t1} is not a function", ""},
		{`^invalid argument for (.*) \((?:type )?(.*)\)`, "${1} does not take ${t2}", ""},
		{`^len does not take a number$`, "", "leave len out: a number is compared as it is"},
		{`^integer divide by zero$`, "this divides by zero", ""},
	}
}

// rewordPatterns are made at the first error: a hook has none.
var rewordPatterns struct {
	once sync.Once
	all  []*regexp.Regexp
}

// reword translates a message of expr. help says what to write, or is "".
func reword(message string) (text, help string) {
	message, _, _ = strings.Cut(message, "\n")
	message = strings.TrimSpace(strings.TrimPrefix(message, "compilation failed: "))
	text = message
	rows, placeholder := rewordings(), regexp.MustCompile(`\$\{[qtl]?\d\}`)
	rewordPatterns.once.Do(func() {
		for _, r := range rows {
			rewordPatterns.all = append(rewordPatterns.all, regexp.MustCompile(r.pattern))
		}
	})
	for i, r := range rows {
		groups := rewordPatterns.all[i].FindStringSubmatch(text)
		if groups == nil {
			continue
		}
		expand := func(text string) string {
			return placeholder.ReplaceAllStringFunc(text, func(name string) string {
				group := groups[name[len(name)-2]-'0']
				switch name[2] {
				case 'q':
					return quote(group)
				case 't':
					return typeWord(group)
				case 'l':
					return strings.ToLower(group)
				}
				return group
			})
		}
		if r.text != "" {
			text = expand(r.text)
		}
		if help = expand(r.help); help != "" {
			break
		}
	}
	if text == message {
		text = plainTypes(message)
	}
	return text, help
}

// typeWord names a Go type as users do.
func typeWord(t string) string {
	switch strings.TrimSpace(t) {
	case "string":
		return "a string"
	case "int", "float64", "int64", "uint8":
		return "a number"
	case "bool":
		return "true or false"
	case "nil", "<nil>":
		return "nil"
	case "time.Duration":
		return "a duration"
	case "time.Time":
		return "a time"
	case "interface {}", "unknown":
		return "anything"
	}
	switch {
	case strings.HasPrefix(t, "[]"):
		return "an array"
	case strings.HasPrefix(t, "map["):
		return "an object"
	case strings.HasPrefix(t, "func("):
		return "a function"
	}
	return strings.TrimSpace(t)
}

// plainTypes replaces what is left of Go in a message.
func plainTypes(s string) string {
	return strings.NewReplacer(
		"interface conversion: interface {} is nil, not ", "expected a value, got nothing where there should be ",
		"interface conversion: interface {} is ", "expected another kind of value, got ",
		"map[string]interface {}", "an object", "[]interface {}", "an array",
		"<nil>", "nothing",
		"time: invalid duration", "no duration:", "time: missing unit in duration", "no duration, a unit is missing:",
		"time.Duration", "duration", "time.Time", "time", "float64", "number",
	).Replace(s)
}

const unclosedBracket = "unclosed bracket"

// refine moves a syntax error to where it comes from: the bracket, quote or comment
// that is never closed, or all of an operator that other languages have.
func refine(err *exprError, src string) *exprError {
	runes := []rune(src)
	switch {
	case strings.Contains(err.message, "token EOF"), strings.Contains(err.message, "end of expression"):
		if at := unclosed(src); at >= 0 {
			return &exprError{at, at + 1, unclosedBracket}
		}
		end := len(strings.TrimRight(src, " \t\r\n"))
		return &exprError{max(0, utf8.RuneCountInString(src[:end])-1), len(runes), err.message}
	case err.message == "literal not terminated":
		if at := unclosed(src); at >= 0 {
			return &exprError{at, at + 1, err.message}
		}
	case err.message == "unclosed comment":
		if i := strings.LastIndex(src, "/*"); i >= 0 {
			at := utf8.RuneCountInString(src[:i])
			return &exprError{at, at + 2, err.message}
		}
	case strings.HasPrefix(err.message, "unexpected token Operator("):
		for _, op := range [...]string{"===", "!==", "<>"} {
			for from := max(0, err.from-2); from <= err.from; from++ {
				if to := from + len(op); to <= len(runes) && string(runes[from:to]) == op {
					return &exprError{from, to, `unexpected token Operator("` + op + `")`}
				}
			}
		}
	}
	return err
}

// unclosed is where the quote or bracket stands, in runes, that is never closed, or -1.
func unclosed(src string) int {
	if at := source.Unclosed(src); at >= 0 {
		return utf8.RuneCountInString(src[:at])
	}
	return -1
}
