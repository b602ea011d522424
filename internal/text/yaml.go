package text

import (
	"fmt"
	"regexp"
	"sort"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// maxLine is how much of a line is compared with what people misread, in bytes: comparing takes time.
const maxLine = 10_000

// Misread says where and why the YAML library refuses a text with err, and what to write: line and column count from 1, the column in
// characters. The library names the line above the bracket that is open, else that where the block around begins: there the mistake is in
// the last of the fewest lines that it refuses for the same reason.
func Misread(src string, err error) (line, col int, message, help string) {
	lines := strings.Split(src, "\n")
	message = strings.TrimPrefix(err.Error(), "yaml: ")
	if n, _ := fmt.Sscanf(message, "line %d:", &line); n == 1 {
		_, message, _ = strings.Cut(message, ": ")
	}
	if line = min(line+1, len(lines)); !strings.Contains(message, "expected ',' or") {
		line = 1 + sort.Search(len(lines)-1, func(n int) bool {
			err := yaml.Unmarshal([]byte(strings.Join(lines[:n+1], "\n")), new(yaml.Node))
			return err != nil && strings.HasSuffix(err.Error(), message)
		})
	}
	at := lines[line-1]
	at = at[:min(len(at), maxLine)]
	for _, m := range misreadings {
		if found := regexp.MustCompile(m[0]).FindStringSubmatchIndex(at + "\n" + message); found != nil {
			return line, 1 + utf8.RuneCountInString(at[:found[2]]), m[1], m[2]
		}
	}
	return line, 1, message, ""
}

// misreadings are patterns of a line and the message of the library, what is wrong there, and what to write. The group is the place.
var misreadings = [][3]string{
	{`^ *(\t)`, "a tab indents this line", "YAML is indented with spaces"},
	{"^\\s*(?:- )?[\\w-]+: +([`@%*&])", "a value cannot begin with this sign", "put the value in quotes"},
	{`^\s*(?:- )?[\w-]+: +[^'"|>\[{! \n].*? \? .*?(: )`, "in YAML a colon and a space end a key, here within a condition with ? and :", "put the value in quotes, or on a line of its own below |-"},
	{`^\s*(?:- )?[\w-]+: +[^'"|>\[{! \n].*?(: )`, "in YAML a colon and a space end a key, here within a text", "put the value in quotes, or on a line of its own below |-"},
	{`^\s*(\S.*: *["'].*\n)did not find expected (?:key|'-')`, "the value goes on after its quote ends", "put the whole value in other quotes, or on a line of its own below |-"},
	{`^\s*(.*\n)did not find expected (?:key|'-')`, "this line is not indented like those that it belongs to", "indent the keys of one mapping alike, and the - of one list"},
	{`^\s*(.*\n)did not find expected ',' or`, "a { or [ is not closed, or a comma is missing within it", "within { } and [ ] YAML reads brackets, commas, ? and : itself: put texts and expressions in quotes"},
	{`^\s*(.*\n)mapping values are not allowed`, "a key does not go here", "indent it like the keys that it belongs to, and write a space after - and after :"},
	{`^\s*(.*\n)could not find expected ':'`, "this is no key with a value", "write key: value, with a space after the colon"},
	{`^\s*(.*\n)found unexpected end of stream`, "a quote in this value is not closed", "close it with the same sign"},
}
