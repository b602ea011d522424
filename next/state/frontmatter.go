package state

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// Bounds of front matter, which is for a few fields. The text below it may be as large as any file.
const (
	maxMatter = 256 << 10 // bytes
	maxFields = 1000
	maxDepth  = 200
)

// ParseFrontMatter returns the fields of front matter, and the text below it as body. Without front matter the error is
// [fs.ErrNotExist].
//
// Front matter is YAML between two lines of three dashes, the first at the beginning of the file. Words like yes, and times, are texts;
// numbers are as in [ParseJSON]; of duplicate keys the last counts. Where the block is not YAML, or has tags, anchors or aliases, each
// field is read by itself, and one that is not YAML is the text of its line. A quote or bracket that is not closed is an error.
func ParseFrontMatter(b []byte) (map[string]any, error) {
	text, err := decode(b)
	if err != nil {
		return nil, err
	}
	m, err := split([]byte(text))
	if err != nil {
		return nil, err
	}
	values, err := m.values()
	if err != nil {
		return nil, err
	}
	values["body"] = text[m.body:]
	return values, nil
}

// matter is a file with front matter, by offsets.
type matter struct {
	block []byte // between the dashes, with its line ends
	from  int    // where the block begins
	body  int    // where the text below begins
	line  int    // of the block's first line, from 1
	nl    string // line end
}

// split finds the two lines of dashes. Blank lines may come first.
func split(b []byte) (matter, error) {
	var m matter
	at := len(b) - len(bytes.TrimPrefix(b, bom))
	for at < len(b) {
		line, size := cutLine(b[at:])
		m.line++
		switch at += size; {
		case m.from > 0 && isDashes(line):
			m.block, m.body = b[m.from:at-size], at
			if len(m.block) > maxMatter {
				return m, fmt.Errorf("has front matter of more than %d KiB", maxMatter>>10)
			}
			m.line = m.line - bytes.Count(m.block, []byte("\n"))
			return m, nil
		case m.from > 0 || len(bytes.TrimSpace(line)) == 0:
		case isDashes(line):
			m.from, m.nl = at, string(b[at-size+len(bytes.TrimRight(line, "\r")):at])
		default:
			return m, fmt.Errorf("has no front matter: %w", fs.ErrNotExist)
		}
	}
	if m.from == 0 {
		return m, fmt.Errorf("has no front matter: %w", fs.ErrNotExist)
	}
	return m, errors.New("has front matter that is not closed: write a line of --- below its last field")
}

// cutLine returns the first line without its \n, and its size with it.
func cutLine(b []byte) (line []byte, size int) {
	if end := bytes.IndexByte(b, '\n'); end >= 0 {
		return b[:end], end + 1
	}
	return b, len(b)
}

func isDashes(line []byte) bool {
	return bytes.HasPrefix(line, []byte("---")) && len(bytes.TrimRight(line[3:], " \t\r")) == 0
}

// values reads the fields, as YAML if they are.
func (m matter) values() (map[string]any, error) {
	v, err := readYAML(m.block)
	if object, ok := v.(map[string]any); ok && err == nil {
		return object, nil
	}
	values := map[string]any{}
	if v == nil && err == nil {
		return values, nil // nothing but comments
	}
	fields := fieldsOf(m.block)
	switch {
	case len(fields) == 0:
		return nil, errors.New("has front matter that is no list of fields: write key: value")
	case len(fields) > maxFields:
		return nil, fmt.Errorf("has front matter of more than %d fields", maxFields)
	}
	for _, f := range fields {
		v, err := f.read(m.block)
		if err != nil {
			return nil, fmt.Errorf("line %d: %s %w", m.line+f.line, f.key, err)
		}
		values[f.key] = v
	}
	return values, nil
}

// field is one field of front matter, found by its line only.
type field struct {
	key   string
	line  int // from 0
	start int // of its line in the block
	colon int // after the colon
	end   int // of its line, without line end
	below int // end of the lines that belong to it
}

// fieldsOf finds the lines with key: value. Lines further right, of a list or that begin with a bracket belong to the field above.
func fieldsOf(block []byte) (fields []field) {
	indent := -1
	for at, n := 0, 0; at < len(block); n++ {
		line, size := cutLine(block[at:])
		line = bytes.TrimRight(line, "\r")
		text := bytes.TrimLeft(line, " \t")
		column := len(line) - len(text)
		start := at
		at += size
		if len(fields) > 0 && (len(text) == 0 || column > indent || text[0] == '-' || text[0] == ']' || text[0] == '}') {
			fields[len(fields)-1].below = at
			continue
		}
		key, colon := keyOf(text)
		if key == "" {
			continue
		}
		if indent < 0 {
			indent = column
		}
		fields = append(fields, field{key: key, line: n, start: start, colon: start + column + colon, end: start + len(line), below: at})
	}
	return fields
}

// keyOf returns the name at the beginning of a line and the offset after its colon. The colon is the first before a blank, else the
// first.
func keyOf(line []byte) (key string, colon int) {
	for i, c := range line {
		if c == ':' && (i+1 == len(line) || line[i+1] == ' ' || line[i+1] == '\t') {
			colon = i + 1
			break
		}
	}
	if colon == 0 {
		colon = bytes.IndexByte(line, ':') + 1
	}
	if colon == 0 || line[0] == '#' || line[0] == '-' {
		return "", 0
	}
	key = strings.TrimSpace(string(line[:colon-1]))
	if strings.HasPrefix(key, `"`) || strings.HasPrefix(key, "'") {
		v, _ := readYAML([]byte(key))
		key, _ = v.(string)
	}
	return key, colon
}

// read reads a field that is part of a block that is not YAML.
func (f field) read(block []byte) (any, error) {
	alone := bytes.Join([][]byte{[]byte("x: "), block[f.colon:f.below]}, nil)
	if v, err := readYAML(alone); err == nil {
		if object, ok := v.(map[string]any); ok && len(object) == 1 {
			return object["x"], nil
		}
	}
	from, to := f.value(block)
	text := block[from:to]
	if len(text) == 0 {
		return nil, nil
	}
	closing := map[byte]byte{'"': '"', '\'': '\'', '[': ']', '{': '}'}[text[0]]
	switch last := len(text) - 1; {
	case closing == 0:
	case bytes.IndexByte(text[1:], closing) < 0:
		return nil, fmt.Errorf("has a %c that is not closed", text[0])
	case closing == text[0] && text[last] == closing:
		text = text[1:last]
	}
	return string(text), nil
}

// value returns where the value on the field's line begins and ends, with its quotes, without a comment.
func (f field) value(block []byte) (from, to int) {
	text := block[f.colon:f.end]
	from = f.end - len(bytes.TrimLeft(text, " \t"))
	to = f.colon + len(bytes.TrimRight(text, " \t"))
	if from >= to {
		return f.colon, f.colon
	}
	at := from
	if q := block[from]; q == '"' || q == '\'' {
		for end := from + 1; end < to; end++ {
			if block[end] == '\\' && q == '"' || q == '\'' && bytes.HasPrefix(block[end:to], []byte("''")) {
				end++
			} else if block[end] == q {
				at = end // a # inside of quotes is none of a comment
				break
			}
		}
	}
	for i := at; i < to; i++ {
		if block[i] == '#' && (block[i-1] == ' ' || block[i-1] == '\t') {
			return from, from + len(bytes.TrimRight(block[from:i], " \t"))
		}
	}
	return from, to
}
