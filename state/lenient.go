package state

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/schema"
)

// Limits on front matter that is read field by field: each field is parsed separately.
const (
	maxFields  = 1000
	maxRemarks = 10
	maxShown   = 60 // characters of a value in a remark
)

// decodeLenient is decodeFrontMatter for front matter written without a parser. Blank lines may precede the first
// fence, and each field is parsed separately. s says which fields are strings; it may be nil.
func decodeLenient(src []byte, s *schema.Schema) (*matter, error) {
	m, err := splitFrontMatter(src, true)
	if err == nil {
		err = m.decodeFields(s)
	}
	return m, err
}

// remark records what was read in an unusual way, with its line in the block.
func (m *matter) remark(line int, format string, args ...any) {
	m.remarks = append(m.remarks, remark{m.line + line, fmt.Sprintf(format, args...)})
}

type remark struct {
	line    int
	message string
}

// problem returns all remarks, one a line, each after the path and the line.
func (m *matter) problem(path string) string {
	var lines []string
	for i, r := range m.remarks {
		if i == maxRemarks {
			lines = append(lines, fmt.Sprintf("… and %d more", len(m.remarks)-i))
			break
		}
		lines = append(lines, fmt.Sprintf("%s:%d: %s", path, r.line, r.message))
	}
	return strings.Join(lines, "\n")
}

// A rawField is the text of one field: the line of its key, and the lines below that belong to it.
type rawField struct {
	key    string
	indent string
	line   int    // of the key, in the block
	at     int    // offset of that line in the block
	colon  int    // index of the colon in the line
	first  []byte // the line without its break
	rest   []byte // the lines below
}

// value returns what follows the colon on its line.
func (e *rawField) value() []byte { return e.first[e.colon+1:] }

// goesOn reports whether the value continues below its line.
func (e *rawField) goesOn() bool {
	block := len(e.value()) > 0 && bytes.IndexAny(bytes.TrimLeft(e.value(), " \t"), "|>") == 0
	for rest := e.rest; len(rest) > 0; {
		line, size := cutYAMLLine(rest)
		if line = bytes.TrimSpace(line); len(line) > 0 && (block || line[0] != '#') {
			return true
		}
		rest = rest[size:]
	}
	return false
}

// decodeFields reads the block field by field. Of fields with the same name the last counts.
func (m *matter) decodeFields(t *schema.Schema) error {
	if len(m.yaml) > maxMatterSize {
		return errMatterSize
	}
	fields, strays := rawFields(m.yaml)
	switch {
	case len(fields) > maxFields:
		return fmt.Errorf("has front matter of more than %d fields", maxFields)
	case len(fields) == 0 && len(strays) > 0:
		return errors.New("has front matter in which no line is a field (name: value)")
	case len(strays) == 1:
		m.remark(strays[0].line, "%q is not a field (name: value); it is ignored", strays[0].message)
	case len(strays) > 1:
		m.remark(strays[0].line, "%q is not a field (name: value); all %d such lines are ignored", strays[0].message, len(strays))
	}
	m.fields, m.value = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}, map[string]any{}
	reader := yamlReader{left: maxYAMLNodes}
	last := map[string]int{} // by key
	for i, e := range fields {
		last[e.key] = i
	}
	for i, e := range fields {
		if last[e.key] != i {
			m.remark(e.line, "%s is set again below, which counts; this one is ignored", e.key)
			continue
		}
		declared := t.At(e.key)
		if v, node := m.readField(e, &reader, declared != nil && declared.Kind == schema.String); node != nil {
			m.fields.Content = append(m.fields.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: e.key, Line: e.line, Column: len(e.indent) + 1}, node)
			m.value[e.key] = v
		}
	}
	m.values = reader.read()
	slices.SortStableFunc(m.remarks, func(a, b remark) int { return a.line - b.line })
	return nil
}

// readField returns the value of a field and its node, which is nil if the field is unusable. It is what YAML reads in
// the field, or else the text of its line. A string by the schema is that text where YAML reads something else: a list,
// an alias, a tag, or what may or may not be a comment.
func (m *matter) readField(e rawField, reader *yamlReader, isString bool) (any, *yaml.Node) {
	node := e.parse()
	isString = isString && !e.goesOn() && !isText(node)
	if node != nil && !isString {
		if v, err := reader.value(node, 0); err == nil {
			if after := e.value(); strings.Contains(e.indent, "\t") || len(after) > 0 && !isBlank(after[0]) && after[0] != '\r' {
				m.remark(e.line, "%s is not valid YAML; it is read anyway", e.key)
			}
			return v, node
		}
	}
	text, start, end := plainText(e.value())
	quoted := strings.HasPrefix(text, `"`) || strings.HasPrefix(text, "'")
	switch {
	case quoted && text == plain(e.value()[start:end]):
		m.remark(e.line, "%s has a quote that is not closed; it is not read", e.key)
		m.refuse(e, start, "has a quote that is not closed: ", text)
		return nil, nil
	case isString && strings.HasPrefix(text, "#") && len(text) > 1 && !isBlank(text[1]):
		m.refuse(e, start, "# begins a comment; put it in quotes: ", text)
		return nil, nil
	case isString && (text == "" || text[0] == '#'):
		return nil, &yaml.Node{Kind: yaml.ScalarNode, Line: e.line}
	case !isString || node == nil:
		m.remark(e.line, "%s is not valid YAML; it is read as the text %q", e.key, shorten(text))
	}
	return text, e.textNode(text, start)
}

// refuse makes a field unusable because of its text.
func (m *matter) refuse(e rawField, start int, message, text string) {
	m.unusable = append(m.unusable, schema.Violation{
		Pointer: schema.PointerOf([]any{e.key}), Line: m.line + e.line, Col: e.textNode(text, start).Column,
		Message: message + strconv.Quote(shorten(text)), Value: text,
	})
}

// rawFields splits a block into its fields. Strays are lines that belong to none.
func rawFields(src []byte) (found []rawField, strays []remark) {
	inside, base, line := false, -1, 0
	for at := 0; at < len(src); {
		text, size := cutYAMLLine(src[at:])
		line++
		begin := at
		at += size
		blank := bytes.TrimRight(text, " \t")
		trimmed := bytes.TrimLeft(blank, " \t")
		indent := len(blank) - len(trimmed)
		switch {
		case len(trimmed) == 0, inside && (indent > base || trimmed[0] == '-' && (len(trimmed) == 1 || isBlank(trimmed[1]))):
			if inside {
				last := &found[len(found)-1]
				last.rest = src[last.at+len(last.first) : at]
			}
			continue
		case trimmed[0] == '#':
			continue
		}
		key, colon, ok := keyOf(trimmed)
		if inside = ok; !ok {
			strays = append(strays, remark{line, shorten(plain(trimmed))})
			continue
		}
		if base < 0 {
			base = indent
		}
		found = append(found, rawField{key: key, indent: string(blank[:indent]), line: line, at: begin, colon: indent + colon, first: text})
	}
	return found, strays
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// keyOf returns the name at the beginning of a line, quoted or not, and the index of the colon after it. ok is false if
// the line is not a field.
func keyOf(line []byte) (name string, colon int, ok bool) {
	end := 0
	if line[0] == '"' || line[0] == '\'' {
		for end = 1; end < len(line) && line[end] != line[0]; end++ {
			if line[end] == '\\' && line[0] == '"' {
				end++
			}
		}
		end = min(end+1, len(line))
		name, ok = valueOf(line[:end]).(string) // ok is false if it is not closed
	} else {
		for end < len(line) && isNameByte(line[end]) {
			end++
		}
		name, ok = string(line[:end]), end > 0
	}
	colon = end + len(line[end:]) - len(bytes.TrimLeft(line[end:], " \t"))
	return name, colon, ok && colon < len(line) && line[colon] == ':'
}

func isNameByte(c byte) bool {
	return c == '_' || c == '-' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}

// parse returns the node of the value if the field by itself is YAML, with its position in the block; otherwise nil.
func (e *rawField) parse() *yaml.Node {
	if n := e.word(); n != nil {
		return n
	}
	// A tab is allowed here, and so is a value directly after the colon.
	text := bytes.TrimLeft(e.value(), " \t")
	blanks, added := len(e.value())-len(text), 0
	switch {
	case blanks > 0 || len(text) == 0:
	case text[0] == '#':
		return nil // the blank would make it a comment
	default:
		blanks, added = 1, 1
	}
	var b bytes.Buffer
	b.WriteString(strings.Repeat(" ", len(e.indent)))
	b.Write(e.first[len(e.indent) : e.colon+1])
	b.WriteString(strings.Repeat(" ", blanks))
	b.Write(text)
	b.Write(e.rest)
	n, err := parseYAML(b.Bytes())
	if err != nil || n == nil || n.Kind != yaml.MappingNode || n.Style&yaml.FlowStyle != 0 || len(n.Content) != 2 {
		return nil
	}
	if name, ok := keyText(n.Content[0]); !ok || name != e.key {
		return nil
	}
	shift(n.Content[1], e.line-1, added)
	return n.Content[1]
}

// word returns the node of a value that needs no parser, as nearly all that a hook reads: a word, number or time,
// quoted or not.
func (e *rawField) word() *yaml.Node {
	text, start, end := plainText(e.value())
	simple := func(c rune) bool { return isNameByte(byte(c)) && c < utf8.RuneSelf }
	if start != 1 || text == "" || e.goesOn() || strings.ContainsFunc(text, func(c rune) bool { return !simple(c) && c != ':' && c != ' ' }) ||
		strings.Contains(text+" ", ": ") || !simple(rune(text[0])) || text[0] == '-' || text[0] == '.' {
		return nil
	}
	n := e.textNode(text, start)
	if end-start == len(text) {
		n.Style = 0
	}
	return n
}

// shift moves nodes down, and those on the first line to the right.
func shift(n *yaml.Node, lines, columns int) {
	if n.Line == 1 {
		n.Column -= columns
	}
	n.Line += lines
	for _, c := range n.Content {
		shift(c, lines, columns)
	}
}

// textNode returns a text that begins at an offset after the colon.
func (e *rawField) textNode(text string, start int) *yaml.Node {
	column := utf8.RuneCount(e.first[:e.colon+1+start]) + 1
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: text, Line: e.line, Column: column}
}

// plainText reads what follows a colon as a line parser would: without one pair of quotes around it, and without a
// comment after it. start and end are its range, with the quotes.
func plainText(rest []byte) (text string, start, end int) {
	trimmed := bytes.TrimLeft(rest, " \t")
	start = len(rest) - len(trimmed)
	trimmed = bytes.TrimRight(trimmed, " \t\r")
	if len(trimmed) > 1 && (trimmed[0] == '"' || trimmed[0] == '\'') {
		if last := bytes.LastIndexByte(trimmed, trimmed[0]); last > 0 && onlyComment(trimmed[last+1:]) {
			return plain(trimmed[1:last]), start, start + last + 1
		}
	}
	for i := 1; i < len(trimmed); i++ {
		if trimmed[i] == '#' && isBlank(trimmed[i-1]) {
			trimmed = bytes.TrimRight(trimmed[:i], " \t")
			break
		}
	}
	return plain(trimmed), start, start + len(trimmed)
}

// plain returns text without invalid bytes.
func plain(b []byte) string { return strings.ReplaceAll(cleanText(string(b)), "\x00", "\ufffd") }

// isText reports whether YAML itself reads a string, number or word here.
func isText(n *yaml.Node) bool {
	if n == nil {
		return false
	}
	ownTag := n.Style&yaml.TaggedStyle != 0 && !strings.HasPrefix(n.Tag, "!!")
	return n.Kind == yaml.ScalarNode && n.Anchor == "" && !ownTag && (n.Style != 0 || n.Value != "")
}

func shorten(text string) string {
	if runes := []rune(text); len(runes) > maxShown {
		return string(runes[:maxShown-1]) + "…"
	}
	return text
}
