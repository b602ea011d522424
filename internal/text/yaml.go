package text

import (
	"fmt"
	"regexp"
	"sort"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Misread says where and why the YAML library refuses a text with err, and what to write: line and column count from 1, the column in
// characters. The library names the line above the bracket that is open, else that where the block around begins: there the mistake is in
// the last of the fewest lines that it refuses for the same reason.
func Misread(src string, err error) (line, col int, message, help string) {
	lines := strings.Split(src, "\n")
	message = strings.TrimPrefix(err.Error(), "yaml: ")
	if n, _ := fmt.Sscanf(message, "line %d:", &line); n == 1 {
		_, message, _ = strings.Cut(message, ": ")
	}
	refused := func(n int) bool {
		err := yaml.Unmarshal([]byte(strings.Join(lines[:n+1], "\n")), new(yaml.Node))
		return err != nil && strings.HasSuffix(err.Error(), message)
	}
	if strings.Contains(message, "expected ',' or") {
		line = min(line+1, len(lines))
	} else {
		line = 1 + sort.Search(len(lines)-1, refused)
	}
	at := lines[line-1]
	indent := len(at) - len(strings.TrimLeft(at, " \t"))
	if col, trap, help := trap(at, indent); trap != "" {
		return line, 1 + utf8.RuneCountInString(at[:col]), trap, help
	}
	for _, m := range misreadings {
		if regexp.MustCompile(m[0]).MatchString(message + "\n" + at) {
			return line, 1 + indent, m[1], m[2]
		}
	}
	return line, 1 + indent, message, ""
}

// misreadings put the messages of the library in the words of an author, by a pattern of the message and the line.
var misreadings = [][3]string{
	{`(?s)^did not find expected (key|'-').*: *["']`, "the value goes on after its quote ends", "put the whole value in other quotes, or on a line of its own below |-"},
	{`^did not find expected (key|'-')`, "this line is not indented like those that it belongs to", "indent the keys of one mapping alike, and the - of one list"},
	{`^did not find expected ',' or`, "a { or [ is not closed, or a comma is missing within it", "within { } and [ ] YAML reads brackets, commas, ? and : itself: put texts and expressions in quotes"},
	{`^mapping values are not allowed`, "a key does not go here", "indent it like the keys that it belongs to, and write a space after - and after :"},
	{`^could not find expected ':'`, "this is no key with a value", "write key: value, with a space after the colon"},
	{`^found unexpected end of stream`, "a quote in this value is not closed", "close it with the same sign"},
}

// trap names what YAML reads otherwise than it looks in a line that it refuses, and its place in bytes.
func trap(line string, indent int) (at int, what, help string) {
	if i := strings.IndexByte(line[:indent], '\t'); i >= 0 {
		return i, "a tab indents this line", "YAML is indented with spaces"
	}
	m := regexp.MustCompile(`^\s*(?:- )?[\w-]+: +([^'"|>\[{! ].*)$`).FindStringSubmatchIndex(line)
	if m == nil {
		return 0, "", ""
	}
	value := line[m[2]:]
	if strings.ContainsAny(value[:1], "`@%*&") {
		return m[2], "a value cannot begin with " + value[:1], "put the value in quotes"
	}
	i := strings.Index(value, ": ")
	if i < 0 {
		return 0, "", ""
	}
	what = "a text"
	if strings.Contains(value[:i], " ? ") {
		what = "a condition with ? and :"
	}
	return m[2] + i, fmt.Sprintf("in YAML a colon and a space end a key, here within %s", what), "put the value in quotes, or on a line of its own below |-"
}
