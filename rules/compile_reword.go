package rules

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// expr's messages are terse and speak of Go. Here they become what a user who
// writes policies can act on.

// reword translates a message of expr's parser, checker or compiler. help says
// what to write, or is "".
func reword(message string) (text, help string) {
	message, _, _ = strings.Cut(message, "\n")
	message = strings.TrimSpace(strings.TrimPrefix(message, "compilation failed: "))
	if text, help, ok := rewordSyntax(message); ok {
		return text, help
	}
	if text, help, ok := rewordType(message); ok {
		return text, help
	}
	return plainTypes(message), ""
}

func rewordSyntax(message string) (text, help string, ok bool) {
	if token, ok := strings.CutPrefix(message, "unexpected token "); ok {
		return rewordToken(token)
	}
	switch {
	case message == "unexpected end of expression":
		return "the expression ends too early", "", true
	case message == unclosedBracket:
		return "this bracket is never closed", "", true
	case message == "literal not terminated":
		return "the quote that begins here is never closed", "", true
	case message == "unclosed comment":
		return "the comment that begins here is never closed", "write */ where it ends", true
	case message == "invalid char escape":
		return "this escape is unknown", `write \\ for one backslash`, true
	case message == "expression exceeds maximum allowed nodes":
		return "the expression has too many parts", "give parts of it a name with let", true
	case message == "wrap predicate with brackets { and }":
		return "a let within a predicate needs braces", "write {let …; …}", true
	case message == "expected name":
		return "a name is expected after the dot", "", true
	case strings.HasPrefix(message, "expected at least "):
		return strings.Replace(message, "expected at least", "this function takes at least", 1), "", true
	case strings.HasPrefix(message, "unrecognized character: "):
		return "the character " + lastQuoted(message, '\'') + " has no meaning here", "", true
	case strings.HasPrefix(message, "bad number syntax: "):
		return "this is no number", "a name begins with a letter", true
	case strings.Contains(message, "literal is too large"), strings.HasPrefix(message, "invalid ") && strings.Contains(message, " literal: "):
		return "the number is too large", "", true
	case strings.Contains(message, "coalesce expressions"):
		return "?? cannot be mixed with other operators", "put brackets around it: (a ?? b)", true
	case strings.HasPrefix(message, "a map key must be"):
		return "a key of an object is a quoted text or a name", "", true
	}
	return "", "", false
}

// rewordToken explains a token that the parser did not expect, which it writes
// like Operator("=").
func rewordToken(token string) (text, help string, ok bool) {
	if token == "EOF" {
		return "the expression ends too early", "", true
	}
	kind, rest, _ := strings.Cut(token, "(")
	word := strings.Trim(strings.TrimSuffix(rest, ")"), `"`)
	switch word {
	case "#":
		return "# stands for an element, which only filter(…), any(…) and their like have", "", true
	case "<>":
		return "<> is not an operator", "write != for unequal", true
	case "=":
		return "= is not an operator here", "write == to compare", true
	case "&":
		return "& is not an operator here", "write and", true
	case "===", "!==":
		return word + " is not an operator", "write " + word[:2], true
	case "AND", "OR", "NOT":
		return word + " is not an operator here", "write " + strings.ToLower(word), true
	case "is", "equals", "eq":
		return quote(word) + " is not an operator", "write == to compare", true
	case "isnt", "ne":
		return quote(word) + " is not an operator", "write != to compare", true
	case "then", "unless":
		return quote(word) + " is not an operator", "write condition ? a : b", true
	}
	switch kind {
	case "Operator":
		return word + " is not expected here", "", true
	case "Bracket":
		return word + " is not expected here", "check that every bracket is opened and closed", true
	case "Identifier":
		return quote(word) + " is not expected here", "put an operator between the two: and, or, ==, +, …", true
	case "String":
		return "a string is not expected here", "put an operator between the two: ==, +, …", true
	case "Number":
		return "a number is not expected here", "put an operator between the two: ==, +, …", true
	}
	return token + " is not expected here", "", true
}

func rewordType(message string) (text, help string, ok bool) {
	if rest, found := strings.CutPrefix(message, "invalid operation: "); found {
		op, types, _ := strings.Cut(rest, " (mismatched type")
		types = strings.TrimPrefix(strings.TrimSuffix(types, ")"), "s")
		left, right, two := strings.Cut(strings.TrimSpace(types), " and ")
		if !two {
			return quote(op) + " does not go with " + typeWord(left), "", true
		}
		left, right = typeWord(left), typeWord(right)
		switch {
		case slices.Contains([]string{"and", "or", "&&", "||"}, op):
			help = "each side is a condition; compare it with something"
		case (op == "==" || op == "!=") && (left == "nil" || right == "nil"):
			return "the value always exists, so it is never nil", "a field that may be absent has no default and is not required", true
		case op == "+" && (left == "a string" || right == "a string"):
			help = "write string(…) around what is no text"
		case left != right && (left == "a string" && right == "a number" || left == "a number" && right == "a string"):
			help = "a number has no quotes around it; int(…) makes a number of a string"
		case right == "a duration" && left == "a duration":
			help = "….Minutes() and ….Seconds() of a duration are numbers"
		case left == "a time" && right == "a number":
			help = `add a duration: duration("5m")`
		case right == "a duration" || left == "a duration":
			help = `write a duration as duration("30m")`
		}
		return quote(op) + " does not go between " + left + " and " + right, help, true
	}
	switch {
	case strings.HasPrefix(message, "array elements can only be selected"):
		return "an element of an array is picked by a number, not by " + typeWord(lastIn(message)), "", true
	case strings.HasPrefix(message, "cannot use pointer accessor"):
		return "# and .field stand for an element, which only filter(…), any(…) and their like have", "", true
	case strings.HasPrefix(message, "cannot redeclare "):
		name := message[strings.LastIndexByte(message, ' ')+1:]
		return quote(name) + " has a meaning already", "choose another name behind let", true
	case strings.HasPrefix(message, "non-bool expression"):
		return "a condition is true or false, this is " + typeWord(strings.TrimPrefix(between(message, '(', ')'), "type ")), "compare it with something", true
	case strings.HasPrefix(message, "predicate should return boolean"):
		return "the condition must be true or false, this is " + typeWord(strings.TrimPrefix(lastIn(message), "got ")), "compare it with something", true
	case strings.HasPrefix(message, "builtin ") && strings.Contains(message, " takes only array"):
		name := strings.Fields(message)[1]
		return name + " takes an array, this is " + typeWord(strings.TrimPrefix(lastIn(message), "got ")), "", true
	case strings.HasPrefix(message, "not enough arguments to call "), strings.HasPrefix(message, "too many arguments to call "):
		return strings.Replace(message, "arguments to call", "arguments for", 1), "", true
	case strings.HasPrefix(message, "invalid number of arguments"):
		return strings.Replace(message, "invalid", "wrong", 1), "", true
	case strings.HasPrefix(message, "cannot use ") && strings.Contains(message, " to call "):
		got, _, _ := strings.Cut(strings.TrimPrefix(message, "cannot use "), " as argument")
		want := strings.TrimPrefix(between(message, '(', ')'), "type ")
		name := strings.TrimSpace(message[strings.LastIndex(message, " to call ")+len(" to call "):])
		return name + " takes " + typeWord(want) + " here, this is " + typeWord(got), "", true
	case strings.HasPrefix(message, "cannot slice "):
		return typeWord(strings.TrimPrefix(message, "cannot slice ")) + " has no parts to take", "", true
	case strings.HasPrefix(message, "non-integer slice index "):
		return "a place in a list is a number, not " + typeWord(strings.TrimPrefix(message, "non-integer slice index ")), "", true
	case strings.HasPrefix(message, "error parsing regexp: "):
		help = `inside quotes a backslash is written twice; inside backquotes once`
		if strings.Contains(message, "missing argument to repetition") {
			help = "write .* for any text; * alone repeats what stands before it"
		}
		return "this is no regular expression: " + strings.TrimPrefix(message, "error parsing regexp: "), help, true
	case strings.HasPrefix(message, "type ") && strings.Contains(message, " has no "):
		typ, rest, _ := strings.Cut(strings.TrimPrefix(message, "type "), " has no ")
		kind, name, _ := strings.Cut(rest, " ")
		return typeWord(typ) + " has no " + kind + " " + quote(name), "", true
	case strings.HasPrefix(message, "type ") && strings.HasSuffix(message, " is undefined"):
		typ, _, _ := strings.Cut(strings.TrimPrefix(message, "type "), "[")
		return typeWord(typ) + " has no elements", "", true
	case strings.HasPrefix(message, "cannot use ") && strings.HasSuffix(message, " in array"):
		element, of, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(message, "cannot use "), " in array"), " as type ")
		return typeWord(element) + " is never in an array of which each is " + typeWord(of), "", true
	case strings.HasSuffix(message, " is not callable"):
		return typeWord(strings.TrimSuffix(message, " is not callable")) + " is not a function", "", true
	case strings.HasPrefix(message, "invalid argument for "):
		name, typ, _ := strings.Cut(strings.TrimPrefix(message, "invalid argument for "), " (")
		return name + " does not take " + typeWord(strings.TrimPrefix(strings.TrimSuffix(typ, ")"), "type ")), "", true
	case message == "integer divide by zero":
		return "this divides by zero", "", true
	}
	return "", "", false
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

func lastIn(message string) string {
	open := strings.LastIndexByte(message, '(')
	return strings.TrimPrefix(strings.TrimSuffix(message[open+1:], ")"), "got ")
}

func between(s string, open, end byte) string {
	i := strings.IndexByte(s, open)
	j := strings.LastIndexByte(s, end)
	if i < 0 || j <= i {
		return s
	}
	return s[i+1 : j]
}

func lastQuoted(s string, quote byte) string {
	if i := strings.IndexByte(s, quote); i >= 0 {
		return s[i:]
	}
	return s
}

const unclosedBracket = "unclosed bracket"

// refine moves a syntax error to where it comes from: the bracket, quote or comment
// that is never closed, or all of an operator that other languages have.
func refine(err *exprError, src string) *exprError {
	runes := []rune(src)
	switch {
	case strings.Contains(err.message, "token EOF"), strings.Contains(err.message, "end of expression"):
		if at := unclosed(runes); at >= 0 {
			return &exprError{at, at + 1, unclosedBracket}
		}
		end := len(strings.TrimRight(src, " \t\r\n"))
		return &exprError{max(0, utf8.RuneCountInString(src[:end])-1), len(runes), err.message}
	case err.message == "literal not terminated":
		if at := unclosed(runes); at >= 0 {
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

// unclosed gives the offset of the quote that is never closed, else of the last
// bracket that is not, or -1.
func unclosed(src []rune) int {
	var open []int
	quote := -1
	for i := 0; i < len(src); i++ {
		r := src[i]
		switch {
		case quote >= 0:
			if r == '\\' && src[quote] != '`' {
				i++
			} else if r == src[quote] {
				quote = -1
			}
		case r == '"' || r == '\'' || r == '`':
			quote = i
		case r == '(' || r == '[' || r == '{':
			open = append(open, i)
		case (r == ')' || r == ']' || r == '}') && len(open) > 0:
			open = open[:len(open)-1]
		}
	}
	if quote >= 0 {
		return quote
	}
	if len(open) > 0 {
		return open[len(open)-1]
	}
	return -1
}
