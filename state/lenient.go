package state

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/schema"
)

// Bounds of front matter that is read field by field: each field is parsed alone.
const (
	maxFields  = 1000
	maxRemarks = 10
	maxShown   = 60 // characters of a value that a remark shows
)

// decodeLenient is decodeFrontMatter for blocks that people write without a parser
// at hand. Blank lines may precede the first fence, and what is no YAML as a whole
// is read field by field. s says which fields are texts;
// nil says nothing. whole is false if the writer may not be done yet.
func decodeLenient(src []byte, s *schema.Schema) (m *matter, whole bool, err error) {
	if m, err = splitLenient(src); err != nil {
		return nil, !errors.As(err, new(*syntaxError)), err
	}
	broken := m.decode()
	if len(m.yaml) > maxMatterSize {
		return nil, true, broken
	}
	whole = broken == nil
	if broken != nil || m.repeats() {
		if err := m.decodeFields(); err != nil {
			return nil, whole, err
		}
	}
	if s != nil && m.fields != nil {
		m.readTexts(s.Type())
	}
	slices.SortStableFunc(m.remarks, func(a, b remark) int { return a.line - b.line })
	return m, whole, nil
}

// repeats reports whether two fields have the same name. The YAML library takes the
// last of them; YAML itself has no such blocks.
func (m *matter) repeats() bool {
	if m.fields == nil || m.fields.Style&yaml.FlowStyle != 0 {
		return false
	}
	seen := map[string]bool{}
	for i := 0; i < len(m.fields.Content); i += 2 {
		name := m.fields.Content[i].Value
		if seen[name] {
			return true
		}
		seen[name] = true
	}
	return false
}

// splitLenient finds the fences as decodeLenient allows them.
func splitLenient(src []byte) (*matter, error) {
	at, before := len(src)-len(trimBOM(src)), 0
	for at < len(src) {
		line, size := cutLine(src[at:])
		if len(bytes.TrimSpace(line)) > 0 {
			break
		}
		at, before = at+size, before+1
	}
	m, err := splitFrontMatter(src[at:])
	switch {
	case errors.As(err, new(*syntaxError)):
		return nil, errUnclosed(1 + before)
	case err != nil:
		return nil, err
	}
	m.offset, m.line = m.offset+at, m.line+before
	return m, nil
}

// remark notes what was read in an unusual way, with its line in the file.
func (m *matter) remark(line int, format string, args ...any) {
	m.remarks = append(m.remarks, remark{line, fmt.Sprintf(format, args...)})
}

type remark struct {
	line    int
	message string
}

// problem lists all remarks, one a line, each behind the path and the line.
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

// A rawField is the text of one field: the line of its key, and the lines below it
// that belong to it.
type rawField struct {
	key    string
	indent string
	line   int    // of the key, within the block
	at     int    // where that line begins, within the block
	colon  int    // where the colon stands, within the line
	first  []byte // the line without its break
	rest   []byte // the lines below
}

// decodeFields reads the block one field at a time. Of fields with the same name the
// first counts.
func (m *matter) decodeFields() error {
	fields, err := m.rawFields()
	if err != nil {
		return err
	}
	m.fields, m.value = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}, map[string]any{}
	reader := yamlReader{left: maxYAMLNodes, open: map[*yaml.Node]bool{}}
	seen := map[string]bool{}
	for _, e := range fields {
		if seen[e.key] {
			m.remark(m.line+e.line, "there is a field %s above, which counts; this one is ignored", e.key)
			continue
		}
		seen[e.key] = true
		key, value := e.parse()
		v, err := any(nil), error(nil)
		if value != nil {
			v, err = reader.value(value, 0)
		}
		if value == nil || err != nil {
			if key, value = e.text(m); value == nil {
				m.remark(m.line+e.line, "%s has a quote that is not closed; it is not read", e.key)
				continue
			}
			v = value.Value
			m.remark(m.line+e.line, "%s is not valid YAML; it is read as the text %q", e.key, shorten(value.Value))
		} else if flaw := e.flaw(); flaw != "" {
			m.remark(m.line+e.line, "%s is not valid YAML, since %s; it is read all the same", e.key, flaw)
		}
		m.fields.Content = append(m.fields.Content, key, value)
		m.value[e.key] = v
	}
	return nil
}

// rawFields cuts the block into its fields.
func (m *matter) rawFields() ([]rawField, error) {
	var found []rawField
	inside, base, line := false, -1, 0
	strays, stray, first := 0, 0, "" // lines that are no fields, and the first of them
	for at := 0; at < len(m.yaml); {
		text, size := cutYAMLLine(m.yaml[at:])
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
				last.rest = m.yaml[last.at+len(last.first) : at]
			}
			continue
		case trimmed[0] == '#':
			continue
		}
		key, colon := keyOf(trimmed)
		if inside = key != ""; !inside {
			if strays++; strays == 1 {
				stray, first = m.line+line, shorten(plain(trimmed))
			}
			continue
		}
		if base < 0 {
			base = indent
		}
		if len(found) == maxFields {
			return nil, fmt.Errorf("has front matter of more than %d fields", maxFields)
		}
		found = append(found, rawField{key: key, indent: string(blank[:indent]), line: line, at: begin, colon: indent + colon, first: text})
	}
	switch {
	case len(found) == 0:
		return nil, fmt.Errorf("has front matter in which no line is a field (name: value)")
	case strays == 1:
		m.remark(stray, "%q is no field (name: value); it is ignored", first)
	case strays > 1:
		m.remark(stray, "%q is no field (name: value); all %d such lines are ignored", first, strays)
	}
	return found, nil
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// keyOf gives the name that a line begins with, in quotes or not, and where the colon
// behind it stands. The name is "" if the line is no field.
func keyOf(line []byte) (name string, colon int) {
	end := 0
	if line[0] == '"' || line[0] == '\'' {
		if end = quotedSize(line, line[0]); end < 3 {
			return "", 0
		}
		name = string(line[1 : end-1])
	} else {
		for end < len(line) && isNameByte(line[end]) {
			end++
		}
		name = string(line[:end])
	}
	colon = end + len(line[end:]) - len(bytes.TrimLeft(line[end:], " \t"))
	if name == "" || strings.ContainsAny(name, `"'\`) || colon == len(line) || line[colon] != ':' {
		return "", 0
	}
	return name, colon
}

func isNameByte(c byte) bool {
	return c == '_' || c == '-' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// parse gives the nodes of the field if it is YAML when it stands alone, with their
// places in the block; nil if not.
func (e rawField) parse() (key, value *yaml.Node) {
	// A tab is allowed here, and so is a value right behind the colon.
	after := e.first[e.colon+1:]
	text := bytes.TrimLeft(after, " \t")
	blanks, added := len(after)-len(text), 0
	switch {
	case blanks > 0 || len(text) == 0:
	case text[0] == '#':
		return nil, nil // the blank would make it a comment
	default:
		blanks, added = 1, 1
	}
	var b bytes.Buffer
	b.WriteString(strings.Repeat(" ", len(e.indent)))
	b.Write(e.first[len(e.indent) : e.colon+1])
	b.WriteString(strings.Repeat(" ", blanks))
	b.Write(text)
	b.Write(e.rest)
	if legible(b.Bytes()) != nil {
		return nil, nil
	}
	n, err := parseYAML(b.Bytes())
	if err != nil || n == nil || n.Kind != yaml.MappingNode || n.Style&yaml.FlowStyle != 0 || len(n.Content) != 2 {
		return nil, nil
	}
	key, value = n.Content[0], n.Content[1]
	if name, ok := keyText(key); !ok || name != e.key || isMerge(key) {
		return nil, nil
	}
	shift(key, e.line-1, 0)
	shift(value, e.line-1, added)
	return key, value
}

// flaw says what parse overlooks: what is not YAML in a field that is read nonetheless.
func (e rawField) flaw() string {
	switch after := e.first[e.colon+1:]; {
	case strings.Contains(e.indent, "\t"):
		return "a tab stands before it"
	case len(after) > 0 && !isBlank(after[0]) && after[0] != '\r':
		return "no blank follows its colon"
	}
	return ""
}

// shift moves nodes down, and those on the first line to the left.
func shift(n *yaml.Node, lines, columns int) {
	if n.Line == 1 {
		n.Column -= columns
	}
	n.Line += lines
	for _, c := range n.Content {
		shift(c, lines, columns)
	}
}

// text makes the rest of the key's line the value. Where a quote begins it that is not
// closed, nothing says where the value ends: it is nil, and the field unusable.
func (e rawField) text(m *matter) (key, value *yaml.Node) {
	text, start, end := plainText(e.first[e.colon+1:])
	at := e.at + e.colon + 1
	if raw := e.first[at-e.at:][start:end]; text == plain(raw) && (strings.HasPrefix(text, `"`) || strings.HasPrefix(text, "'")) {
		m.unusable = append(m.unusable, schema.Violation{
			Pointer: schema.PointerOf([]any{e.key}), Line: m.line + e.line, Col: e.colon + 2 + start,
			Message: "has a quote that is not closed: " + strconv.Quote(shorten(text)), Value: text,
		})
		return nil, nil
	}
	key = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: e.key, Line: e.line, Column: len(e.indent) + 1}
	return key, m.textNode(text, e.line, e.colon+2+start, [2]int{at + start, at + end})
}

// textNode is a text whose bytes in the block are not those of YAML.
func (m *matter) textNode(text string, line, column int, span [2]int) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: text, Line: line, Column: column}
	if m.spans == nil {
		m.spans = map[*yaml.Node][2]int{}
	}
	m.spans[n] = span
	return n
}

// plainText reads what stands behind a colon as a line parser would: without one pair
// of quotes around it, and without a comment behind it. start and end are its place,
// with the quotes.
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

// plain is text without the bytes that no text has.
func plain(b []byte) string { return strings.ReplaceAll(cleanText(string(b)), "\x00", "\ufffd") }

// readTexts gives fields that are texts by the schema the text of their line where
// YAML reads something else: a list, an alias, a tag. A value that YAML takes for a
// comment is unusable: nothing says whether it is one.
func (m *matter) readTexts(t *schema.Type) {
	for _, name := range slices.Sorted(maps.Keys(t.Fields)) {
		if t.Fields[name].Kind != schema.String {
			continue
		}
		if key, value := ownField(m.fields, name); value != nil && !isText(value) {
			m.readText(name, key, value)
		}
	}
}

// isText reports whether YAML itself reads a text, number or word here.
func isText(n *yaml.Node) bool {
	ownTag := n.Style&yaml.TaggedStyle != 0 && !strings.HasPrefix(n.Tag, "!!")
	return n.Kind == yaml.ScalarNode && n.Anchor == "" && !ownTag && (n.Style != 0 || n.Value != "")
}

// readText is readTexts for one field.
func (m *matter) readText(name string, key, value *yaml.Node) {
	begin, at, err := yamlEdit{src: m.yaml}.behind(key)
	if err != nil {
		return
	}
	rest, _ := cutYAMLLine(m.yaml[at:])
	text, start, end := plainText(rest)
	column := key.Column + utf8.RuneCount(m.yaml[begin:at+start])
	switch value.Kind {
	case yaml.ScalarNode:
		if strings.HasPrefix(text, "#") && len(text) > 1 && !isBlank(text[1]) {
			delete(m.value, name)
			m.unusable = append(m.unusable, schema.Violation{
				Pointer: schema.PointerOf([]any{name}), Line: m.line + key.Line, Col: column,
				Message: "# begins a comment; put it in quotes: " + strconv.Quote(shorten(text)), Value: text,
			})
			return
		}
		if value.Anchor == "" && value.Style == 0 || strings.HasPrefix(text, "#") {
			return // there is nothing
		}
	case yaml.SequenceNode, yaml.MappingNode:
		open := max(bytes.IndexAny(rest, "[{"), 0)
		size := flowSize(rest[open:])
		if value.Style&yaml.FlowStyle == 0 || size == 0 {
			return // it goes over several lines
		}
		end = open + size
		text = plain(rest[start:end])
	}
	node := m.textNode(text, key.Line, column, [2]int{at + start, at + end})
	for i := range m.fields.Content {
		if m.fields.Content[i] == value {
			m.fields.Content[i] = node
		}
	}
	m.value[name] = text
}

func shorten(text string) string {
	if runes := []rune(text); len(runes) > maxShown {
		return string(runes[:maxShown-1]) + "…"
	}
	return text
}
