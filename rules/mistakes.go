package rules

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ralph-sdk/ralph/internal/yamltree"
)

// A mistake is a habit from shells and other languages in an expression, with what the user means by it.
type mistake struct {
	pattern string // of the expression, around the reported position
	only    string // part of the reported message, "" for any
	message string // replaces the reported one, "" keeps it
	help    string // ${1} is the first group of the pattern
	fix     func(groups []string) string
	weak    bool // a better guess replaces it
}

const (
	aName = `[\pL_][\pL\pN_]*(?:\.[\pL_][\pL\pN_]*|\[\d+\])*`
	aText = `"[^"]*"|'[^']*'|` + "`[^`]*`"
)

// mistakes returns the common ones. The first match counts.
func mistakes() []mistake {
	const (
		noShell   = "a condition is not a shell test"
		noIs      = `expressions have no operator "is"`
		noMatch   = `expressions have no operator "=~"`
		noMethod  = "values have no methods"
		spanForm  = "a duration is written as duration(…)"
		ofAList   = "an index of an array must be a number"
		needQuote = "a string needs quotes"
		oneFact   = "takes the name of one fact"
	)
	return []mistake{
		// A shell.
		{pattern: `(?:^|[\[(]|\b(?:and|or|not|test)\s|&&|\|\|)\s*-[efsrx]\s+["']?([^\s"'\])]+)["']?(?:\s*\]{1,2})?`, message: noShell, help: `write exists("${1}")`},
		{pattern: `(?:^|[\[(]|\b(?:and|or|not|test)\s|&&|\|\|)\s*-d\s+["']?([^\s"'\])]+)["']?(?:\s*\]{1,2})?`, message: noShell, help: `write isdir("${1}")`},
		{pattern: `(?:^|[\[(]|\b(?:and|or|not|test)\s|&&|\|\|)\s*-z\s+["']?\$?(` + aName + `)["']?(?:\s*\]{1,2})?`, message: noShell, help: `write ${1} == ""`},
		{pattern: `(?:^|[\[(]|\b(?:and|or|not|test)\s|&&|\|\|)\s*-n\s+["']?\$?(` + aName + `)["']?(?:\s*\]{1,2})?`, message: noShell, help: `write ${1} != ""`},
		{pattern: `\$\(\s*git\b[^()]*\)?`, message: "an expression cannot run a program", help: `declare a fact such as repo: {git: .} and read repo.dirty, repo.changed or repo.branch`},
		{pattern: `\$\(([^()]*)\)?`, message: "an expression cannot run a program", fix: asExec},
		{pattern: `\$\{([^{}]*)\}`, message: "${…} is for texts; an expression names a value without it", help: "write ${1}"},
		{pattern: `\$([A-Za-z_]\w*)`, only: "unknown name", message: "an expression has no $", help: "write ${1} for a name of the policy, env.${1} for a variable of the environment"},
		{pattern: `^\s*if\b.*`, message: "a condition has no if", help: "write only the condition"},
		{pattern: `^\s*unless\b.*`, message: "a condition has no unless", help: "write not (…)"},

		// Numbers and durations.
		{pattern: `\b(\d+(?:\.\d+)?)([kK]|M)\b`, message: "a number has no unit", fix: inFull},
		{pattern: `\b((?:\d+(?:\.\d+)?(?:h|ms|m|s))+)\b`, message: spanForm, help: `write duration("${1}")`},
		{pattern: `\b(\d+)\s*(millisecond|second|sec|minute|min|hour|hr|day|d|week|w)s?\b`, message: spanForm, fix: asDuration},
		{pattern: `(` + aName + `)\s*/\s*duration\((?:"([^"]*)"|'([^']*)')\)`, only: `"/" does not go`, message: "a duration cannot be divided", fix: inMinutes},
		{pattern: `(` + aName + `)\s*[/%]\s*[\d.]+`, only: "a duration", message: "a duration cannot be divided", help: "${1}.Minutes() and ${1}.Seconds() are numbers"},

		{pattern: `\bduration\(\s*(\d+)\s*\)`, help: `write duration("${1}m") for minutes, duration("${1}s") for seconds`},
		{pattern: `\b(milliseconds?|seconds?|minutes?|hours?|days?|weeks?)\(\s*(\d+)\s*\)`, only: "unknown function", message: spanForm, fix: func(groups []string) string { return asDuration([]string{"", groups[2], groups[1]}) }},
		{pattern: `(` + aName + `)\.([Hh]ours|[Mm]inutes|[Ss]econds|[Mm]illiseconds)\b`, only: "a duration has no", fix: asMethod},
		{pattern: `(` + aName + `)\.([Hh]ours|[Mm]inutes|[Ss]econds|[Mm]illiseconds)\b\s*(?:[<>=!]=?|[-+*/%])`, only: "a function", fix: asMethod},
		{pattern: `\b(\d{1,3}(?:,\d{3})+)\b`, only: ", is not expected", message: "a number has no commas", fix: func(groups []string) string { return "write " + strings.ReplaceAll(groups[1], ",", "") }},

		// Operators.
		{pattern: `\bnot\s+(` + aName + `)\s*(?:==|!=|<=?|>=?|\b(?:contains|matches|startsWith|endsWith)\b)`, only: `"not" does not go`, message: "not takes only the value right after it", help: "put parentheses around the comparison: not (${1} …)"},
		{pattern: `(?:^|[^|])\|\s*` + aName + `\s*(?:==|!=|<|>)`, only: "is not expected", message: "| is not an operator here", help: "write or"},
		{pattern: `(` + aName + `)\s*==\s*(` + aText + `)\s*(?:\bor\b|\|\|)\s*(` + aText + `)`, only: "a condition must be true or false", help: `write ${1} in [${2}, ${3}]`},
		{pattern: `(==|!=)\s*["'](true|false)["']`, only: "between true or false and a string", help: "write ${1} ${2}, without quotes"},
		{pattern: `(?:==|!=)\s*([\pL_]\w*)`, only: "between a string and an array", fix: quotedWord},
		{pattern: `(?:==|!=)\s*([\pL_]\w*)`, only: "between a string and an object", fix: quotedWord},
		{pattern: `(` + aName + `)\s*!~\s*/((?:[^/\\]|\\.)*)/\w*`, message: noMatch, help: "write not (${1} matches `${2}`)"},
		{pattern: `(` + aName + `)\s*(?:=~|~=|~)\s*/((?:[^/\\]|\\.)*)/\w*`, message: noMatch, help: "write ${1} matches `${2}`"},
		{pattern: `(` + aName + `)\s*(?:=~|~=|~)\s*(` + aText + `)`, message: noMatch, help: "write ${1} matches ${2}"},
		{pattern: `\bmatches\s*/((?:[^/\\]|\\.)*)/\w*`, message: "a pattern is a string", help: "write matches `${1}`"},
		{pattern: `(` + aName + `)\s+is\s+not\s+(?:None|null|nil|none|NULL|undefined|missing)\b`, message: noIs, fix: against("!=", "ok")},
		{pattern: `(` + aName + `)\s+is\s+(?:None|null|nil|none|NULL|undefined|missing)\b`, message: noIs, fix: against("==", "missing")},
		{pattern: `(` + aName + `)\s+is\s+not\s+empty\b`, message: noIs, help: `write len(${1}) > 0`},
		{pattern: `(` + aName + `)\s+is\s+empty\b`, message: noIs, help: `write len(${1}) == 0`},
		{pattern: `(` + aName + `)\s+is\s+[Tt]rue\b`, message: noIs, help: `write ${1}`},
		{pattern: `(` + aName + `)\s+is\s+[Ff]alse\b`, message: noIs, help: `write not ${1}`},
		{pattern: `(` + aName + `)\s+is\s+not\s+(` + aText + `)`, message: noIs, help: `write ${1} != ${2}`},
		{pattern: `(` + aName + `)\s+(?:includes|has|like|LIKE)\s+(` + aText + `)`, message: "expressions have no such operator", help: `write ${1} contains ${2}, or ${2} in ${1} for a list`},
		{pattern: `(` + aName + `)\s+(?:starts|begins)\s?[wW]ith\s+(` + aText + `)`, message: `startsWith is one word`, help: `write ${1} startsWith ${2}`},
		{pattern: `(` + aName + `)\s+ends\s?[wW]ith\s+(` + aText + `)`, message: `endsWith is one word`, help: `write ${1} endsWith ${2}`},
		{pattern: `(` + aName + `)\s+contains\s+(` + aText + `|` + aName + `)`, only: "between an array and", message: "contains looks into a string, and this is an array", help: `write ${2} in ${1}`},
		{pattern: `(` + aText + `|` + aName + `)\s+in\s+(` + aName + `)`, only: `"in" does not go between a string and a string`, help: `write ${2} contains ${1}`},
		{pattern: `(` + aName + `)\s*(==|!=|<=?|>=?)\s*(\d+)`, only: "between an array and a number", help: `write len(${1}) ${2} ${3}`},
		{pattern: `(` + aName + `)\s*(==|!=|<=?|>=?)\s*\S+`, only: "between an object and", help: `name one of its fields: ${1}.FIELD`},
		{pattern: `\bin\s*\(([^()]*,[^()]*)\)`, message: "a list needs brackets", help: `write in [${1}]`},
		{pattern: `\bin\s+([\pL_]\w*(?:\s*,\s*[\pL_]\w*)+)`, message: "a list needs brackets", fix: inList},
		{pattern: `(` + aName + `)\s*(?:\+\+|--|\+=|-=)\s*\S?`, message: "an expression changes nothing", help: "a rule changes a field with then: [{set: ${1} = ${1} + 1}]"},
		{pattern: `.*\bif\b.*\belse\b.*`, message: "expressions have no if and else", help: "write condition ? a : b"},
		{pattern: `\bfor\s+\w+\s+in\b`, message: "an expression has no loop", help: "write any(list, …), all(list, …), count(list, …) or filter(list, …); .field is a field of the element"},
		{pattern: `\blambda\b[^:]*:?`, message: "a predicate has no parameter", help: "leave it out: .field is a field of the element, # the element itself"},
		{pattern: `,\s*(?:not\s+|!)?(?:item|it|x|i|t|e|el|elem|element|task|todo|this|self)\.(\w+)`, only: "unknown name", help: "write .${1} for the field of each element"},
		{pattern: `\w+\s*=>`, message: "a predicate has no parameter", help: "leave it out: .field is a field of the element, # the element itself"},

		// Methods and functions of other languages.
		{pattern: `(` + aName + `)\.(?:contains|includes|indexOf)\(([^()]*)\)`, message: "contains is an operator", help: `write ${1} contains ${2}, or ${2} in ${1} for a list`},
		{pattern: `(` + aName + `)\.(?:startsWith|startswith|hasPrefix)\(([^()]*)\)`, message: "startsWith is an operator", help: `write ${1} startsWith ${2}`},
		{pattern: `(` + aName + `)\.(?:endsWith|endswith|hasSuffix)\(([^()]*)\)`, message: "endsWith is an operator", help: `write ${1} endsWith ${2}`},
		{pattern: `(` + aName + `)\.(?:matches|match|test)\(\s*/((?:[^/\\]|\\.)*)/\w*\s*\)`, message: "matches is an operator", help: "write ${1} matches `${2}`"},
		{pattern: `(` + aName + `)\.(?:matches|match|test)\(([^()]*)\)`, message: "matches is an operator", help: `write ${1} matches ${2}`},
		{pattern: `(` + aName + `)\.(?:equals|eq|is)\(([^()]*)\)`, message: "== is an operator", help: `write ${1} == ${2}`},
		{pattern: `(` + aName + `)\.(?:isEmpty|empty|is_empty)(?:\(\))?`, message: noMethod, help: `write len(${1}) == 0`},
		{pattern: `(` + aName + `)\.(?:len|length|size)\b(?:\(\))?`, message: noMethod, help: `write len(${1})`},
		{pattern: `(` + aName + `)\.count\b(?:\(\))?(?:$|[^(])`, only: ofAList, message: noMethod, help: `write len(${1})`},
		{pattern: `(` + aName + `)\.(?:toLowerCase|toLower|lower|downcase)(?:\(\))?`, message: noMethod, help: `write lower(${1})`},
		{pattern: `(` + aName + `)\.(?:toUpperCase|toUpper|upper|upcase)(?:\(\))?`, message: noMethod, help: `write upper(${1})`},
		{pattern: `(` + aName + `)\.(?:every|all)\(.*\)`, message: noMethod, help: `write all(${1}, …); .field is a field of the element`},
		{pattern: `(` + aName + `)\.(?:some|any|exists)\(.*\)`, message: noMethod, help: `write any(${1}, …); .field is a field of the element`},
		{pattern: `(` + aName + `)\.(?:trim|strip)\(\)`, message: noMethod, help: `write trim(${1})`},
		{pattern: `(` + aName + `)\.(first|last|sum|max|min|sort|reverse)\(\)`, message: noMethod, help: `write ${2}(${1})`},
		{pattern: `(` + aName + `)\.(filter|map|count|find|none|trim|split|join|first|last|sum)\(.*\)`, message: noMethod, help: `write ${2}(${1}, …)`},
		{pattern: `(` + aName + `)\.(first|last)\b`, only: ofAList, message: noMethod, help: `write ${2}(${1})`},
		{pattern: `(` + aName + `)\??\.(\w+)`, only: ofAList, message: "this is a list: its elements have the fields", help: `write any(${1}, .${2}), all(${1}, .${2}) or ${1}[0].${2}`},
		{pattern: `\b(?:contains|includes)\(\s*([^(),]+),\s*([^()]+?)\s*\)`, message: "contains is an operator", help: `write ${1} contains ${2}, or ${2} in ${1} for a list`},
		{pattern: `\b(?:startsWith|startswith|hasPrefix)\(\s*([^(),]+),\s*([^()]+?)\s*\)`, message: "startsWith is an operator", help: `write ${1} startsWith ${2}`},
		{pattern: `\b(?:endsWith|endswith|hasSuffix)\(\s*([^(),]+),\s*([^()]+?)\s*\)`, message: "endsWith is an operator", help: `write ${1} endsWith ${2}`},
		{pattern: `\bmatch(?:es)?\(\s*([^(),]+),\s*([^()]+?)\s*\)`, message: "matches is an operator", help: `write ${1} matches ${2}`},
		{pattern: `\b(?:empty|isEmpty|is_empty)\(([^()]*)\)`, help: `write len(${1}) == 0`},
		{pattern: `\b(?:length|size|strlen|sizeof)\(([^()]*)\)`, help: `write len(${1})`},
		{pattern: `\b(?:defined|isset|isSet|is_set|present|exist)\(([^()]*)\)`, help: `write ok(${1}) for a fact, ${1} != nil for a field`},
		{pattern: `\b(?:file_exists|fileExists|fileexists|isfile|isFile|is_file|path_exists)\(([^()]*)\)`, help: `write exists(${1})`},
		{pattern: `\b(?:open|file|read|readFile|read_file|cat)\(\s*["']?([^"'()]*?)["']?\s*\)`, only: "unknown function", message: "an expression reads no file", help: "declare a fact such as notes: {text: ${1}}"},
		{pattern: `\b(?:exec|shell|sh|system|run|cmd|command)\(\s*["']?([^"'()]*?)["']?\s*\)`, only: "function", message: "an expression cannot run a program", fix: asExec},
		{pattern: `\b(?:str|toString|to_string|String)\(([^()]*)\)`, help: `write string(${1})`},

		// Names of ralph.
		{pattern: `\bloop\.(?:iterations?|counts?|turns?|n|number|rounds?|continuation)\b`, only: "loop has no", help: "write loop.continuations for this streak, loop.total for the session"},
		{pattern: `\btranscript\.(?:text|message|messages|last_message|content|output)\b`, only: "transcript has no", help: "write transcript.last, transcript.texts or mentions(…)"},
		{pattern: `\blimits?\.(?:\w+)`, only: "unknown name", help: "ralph tests the limits by itself; loop.continuations, loop.repeats and loop.elapsed report how far the loop is"},
		{pattern: `\b(missing|invalid|ok|problem|path|age)\(\s*["']([\pL_]\w*)["']\s*\)`, only: oneFact, help: "write ${1}(${2})"},
		{pattern: `\b(?:missing|invalid)\(\s*([^"'()\s]+\.(?:md|json|txt|ya?ml|toml|log))\s*\)`, only: oneFact, help: `write not exists("${1}"), or declare a fact with that path`},
		{pattern: `\b(?:missing|invalid)\(\s*["']([^"']+)["']\s*\)`, only: oneFact, help: `write not exists("${1}"), or declare a fact with that path`},
		{pattern: `\bok\(\s*["']([^"']+)["']\s*\)`, only: oneFact, help: `write exists("${1}"), or declare a fact with that path`},
		{pattern: `\b(?:missing|invalid)\(\s*(\pL\w*(?:\.\pL\w*)+)\s*\)`, only: oneFact, help: "write ${1} == nil for a field that may be missing"},
		{pattern: `\bok\(\s*(\pL\w*(?:\.\pL\w*)+)\s*\)`, only: oneFact, help: "write ${1} != nil for a field that may be missing"},

		// Words without quotes.
		{pattern: `\b(said|promised|mentions|exists|isdir|anyfile|which|duration|date|transcript\.\w+)\(\s*(\pL[\pL\pN_]*)\s*\)`, only: "unknown name", help: `if it is a string, write ${1}("${2}")`},
		{pattern: `\b(said|promised|mentions|exists|isdir|anyfile|which|duration|date|transcript\.\w+)\(\s*([^\s\d"'` + "`" + `()#][^"'` + "`" + `()]*?)\s*\)`, message: needQuote, help: `write ${1}("${2}")`},
		{pattern: `(?:==|!=|\bcontains|\bstartsWith|\bendsWith|\bmatches)\s*(` + aName + `)`, only: "unknown name", fix: quotedWord},
		{pattern: `\b(?:last_message|message|last_text|output|response|reply|answer)\b`, only: "unknown name", weak: true, help: "write transcript.last for the agent's last message"},
		{pattern: `([\pL_]\w*)\s*[\],]`, only: "unknown name", weak: true, fix: quotedWord},
		{pattern: `(?:^|[(\s])(` + aName + `)\s*(?:==|!=|\bin\b)`, only: "unknown name", weak: true, fix: quotedWord},
	}
}

func asExec(groups []string) string {
	return "declare a fact such as check: {" + execOf(groups[1]) + "} and read check.stdout or check.code"
}

// execOf returns a plain command as the source that runs it.
func execOf(command string) string {
	words := strings.Fields(command)
	if len(words) == 0 || strings.ContainsAny(command, "|&;<>\"'`$*?()[]{},:#") {
		return "exec: [program, argument]"
	}
	return "exec: [" + strings.Join(words, ", ") + "]"
}

func inFull(groups []string) string {
	n, _ := strconv.ParseFloat(groups[1], 64) // the pattern matches only numbers
	factor := 1000.0
	if groups[2] == "M" {
		factor = 1e6
	}
	if n *= factor; n != math.Trunc(n) {
		return "write it in full"
	}
	return "write " + strconv.FormatFloat(n, 'f', -1, 64)
}

func asDuration(groups []string) string {
	unit := groups[2][:1]
	if strings.HasPrefix(groups[2], "milli") {
		unit = "ms"
	}
	n := groups[1]
	if hours := map[string]int{"d": 24, "w": 7 * 24}[unit]; hours > 0 {
		days, err := strconv.Atoi(n)
		if err != nil || days > 36500 {
			return `write hours: duration("24h")`
		}
		n, unit = strconv.Itoa(hours*days), "h"
	}
	return `write duration("` + n + unit + `")`
}

// spanHelp returns how to write a duration.
func spanHelp(written string) string {
	if g := regexp.MustCompile(`^\s*(\d+)\s*(millisecond|second|sec|minute|min|hour|hr|day|d|week|w|ms|s|m|h)s?\s*$`).FindStringSubmatch(written); g != nil {
		return asDuration(g)
	}
	return `write for example duration("45m") or duration("1h30m")`
}

// plainAssignment returns how to write a += 1, a++ and a := 1, whose = is at an offset, or "" for anything else.
func plainAssignment(s string, at int) string {
	left, right := strings.TrimSpace(s), "1"
	if at > 0 {
		left, right = strings.TrimSpace(s[:at]), strings.TrimSpace(s[at+1:])
	}
	for _, op := range [...]string{"++", "--", "+", "-", "*", "/", ":"} {
		name, ok := strings.CutSuffix(left, op)
		if name = strings.TrimSpace(name); !ok || name == "" || len(op) == 2 && at > 0 || len(op) == 1 && at == 0 {
			continue
		}
		if op == ":" {
			return "write " + name + " = " + right
		}
		return "write " + name + " = " + name + " " + op[:1] + " " + right
	}
	return ""
}

func inMinutes(groups []string) string {
	minutes := "30"
	if d, err := time.ParseDuration(groups[2] + groups[3]); err == nil && d > 0 {
		minutes = strconv.FormatFloat(d.Minutes(), 'f', -1, 64)
	}
	return fmt.Sprintf("divide the minutes: %s.Minutes() / %s", groups[1], minutes)
}

func asMethod(groups []string) string {
	return "write " + groups[1] + "." + strings.ToUpper(groups[2][:1]) + groups[2][1:] + "()"
}

// against returns the fix for a comparison with nil that a function about a fact replaces.
func against(comparison, ask string) func(groups []string) string {
	return func(groups []string) string {
		write := groups[1] + " " + comparison + " nil"
		if strings.ContainsAny(groups[1], ".[") {
			return "write " + write
		}
		return "write " + ask + "(" + groups[1] + ") for a fact, " + write + " for a field"
	}
}

func inList(groups []string) string {
	words := strings.Split(groups[1], ",")
	for i, w := range words {
		words[i] = quote(strings.TrimSpace(w))
	}
	return "write in [" + strings.Join(words, ", ") + "]"
}

func quotedWord(groups []string) string {
	return "if it is a string, write " + quote(groups[1])
}

// finder looks for mistakes. It compiles the patterns when first used: policies without errors need none.
type finder struct{ patterns []*regexp.Regexp }

// maxMistaken bounds the expressions to examine, in bytes.
const maxMistaken = 500

// find returns what the user means by the part of an expression with an error, from and to in runes. If it knows no
// common mistake of that form, it returns its arguments.
func (f *finder) find(src string, from, to int, message, help string) (at, end int, said, advice string) {
	if len(src) > maxMistaken {
		return from, to, message, help
	}
	table := mistakes()
	if f.patterns == nil {
		for _, m := range table {
			f.patterns = append(f.patterns, regexp.MustCompile(m.pattern))
		}
	}
	for i, m := range table {
		if m.only != "" && !strings.Contains(message, m.only) {
			continue
		}
		for _, g := range f.patterns[i].FindAllStringSubmatchIndex(src, -1) {
			at, end := utf8.RuneCountInString(src[:g[0]]), utf8.RuneCountInString(src[:g[1]])
			if to <= at || from >= end || inQuotes(src, g[0]) {
				continue
			}
			at += len(src[g[0]:g[1]]) - len(strings.TrimLeft(src[g[0]:g[1]], " \t\n"))
			advice := string(f.patterns[i].ExpandString(nil, m.help, src, g))
			if m.fix != nil {
				groups := make([]string, len(g)/2)
				for j := range groups {
					if g[2*j] >= 0 {
						groups[j] = src[g[2*j]:g[2*j+1]]
					}
				}
				advice = m.fix(groups)
			}
			if m.message != "" {
				return at, end, m.message, advice
			}
			guess := strings.HasPrefix(help, "did you mean")
			if guess && m.weak || strings.HasPrefix(help, "write ") {
				continue
			}
			if guess && strings.HasPrefix(advice, "if it is a string") {
				advice = help + " " + advice
			}
			return from, to, message, advice
		}
	}
	return from, to, message, help
}

// inQuotes reports whether a byte of an expression is in a string literal.
func inQuotes(src string, at int) bool {
	open := yamltree.Unclosed(src[:at])
	return open >= 0 && strings.IndexByte("\"'`", src[open]) >= 0
}

// meantSource returns the source that another word usually means, with its argument, or "".
func meantSource(word, argument string) string {
	argument = strings.TrimSpace(argument)
	for _, meant := range [...]struct{ words, argument, source, example string }{
		{"shell sh bash command cmd run script program process", "", "exec", ""},
		{"file path read content cat", `\.json$`, "json", "state.json"},
		{"file path read content cat", `[*?]`, "glob", "notes.md"},
		{"file path read content cat", "", "text", "notes.md"},
		{"yaml yml front_matter front-matter metadata", "", "frontmatter", "notes.md"},
		{"todo todos markdown md boxes", "", "checklist", "TODO.md"},
		{"files pattern find ls", "", "glob", "'notes/*.md'"},
		{"llm ai model question ask", "", "judge", `"Is the work done?"`},
		{"repo repository branch", "", "git", "."},
	} {
		switch {
		case !slices.Contains(strings.Fields(meant.words), strings.ToLower(word)) || !regexp.MustCompile(meant.argument).MatchString(argument):
			continue
		case meant.source == "exec":
			return execOf(argument)
		case meant.source == "git" || argument == "" || strings.ContainsAny(argument, "\n{}[],#:?\"'"):
			argument = meant.example
		}
		return meant.source + ": " + argument
	}
	return ""
}

// otherField returns the declared field that another word usually means, or "".
func otherField(word string, declared []string) string {
	groups := [][]string{
		{"done", "finished", "finish", "complete", "completed", "checked", "ticked", "closed", "isDone", "is_done"},
		{"text", "title", "name", "label", "content", "description", "subject", "value"},
		{"subject", "title", "name", "text"},
		{"section", "heading", "header", "group", "phase"},
		{"tags", "labels", "tag"},
		{"line", "lineno", "lineNumber", "row"},
		{"depth", "level", "indent"},
		{"status", "state"},
		{"code", "exit", "exitCode", "exit_code", "returncode", "rc"},
		{"stdout", "output", "out", "text"},
		{"stderr", "err", "error", "errors"},
		{"dirty", "clean", "modified", "isDirty"},
		{"changed", "files", "changes", "status"},
		{"head", "commit", "sha", "rev", "hash"},
		{"path", "file", "filename"},
	}
	for _, g := range groups {
		if slices.Contains(declared, g[0]) && slices.Contains(g[1:], word) {
			return g[0]
		}
	}
	return ""
}
