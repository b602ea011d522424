package state

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// Bounds of front matter, which is for a few fields. The text below may be as large as any file.
const (
	maxMatter = 64 << 10 // bytes
	maxFields = 1000     // of a block that is not YAML
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

// matter is a file with front matter.
type matter struct {
	block []byte // between the dashes, with its line ends
	from  int    // where the block begins
	body  int    // where the text below begins
	line  int    // of the block, from 1
	nl    string // line end
}

var dashes = lazy(`(?m)^---[ \t]*(\r?)$`)

// split finds the two lines of dashes. Blank lines may come first.
func split(b []byte) (matter, error) {
	skip := len(b) - len(bytes.TrimLeft(bytes.TrimPrefix(b, bom), " \t\r\n"))
	if !bytes.HasPrefix(b[skip:], []byte("---")) {
		return matter{}, missing("has no front matter")
	}
	head := b[skip:]
	if len(head) > maxMatter {
		head = head[:bytes.LastIndexByte(head[:maxMatter], '\n')+1]
	}
	found := dashes().FindAllSubmatchIndex(head, 2)
	switch {
	case len(found) == 0 || found[0][0] > 0:
		return matter{}, missing("has no front matter")
	case len(found) == 1:
		return matter{}, fmt.Errorf("has front matter that is not closed within %d KiB: write a line of --- below its last field", maxMatter>>10)
	}
	from, to := skip+found[0][1]+1, skip+found[1][0]
	return matter{
		block: b[from:to],
		from:  from,
		body:  min(skip+found[1][1]+1, len(b)),
		line:  1 + bytes.Count(b[:from], []byte("\n")),
		nl:    string(b[skip+found[0][2] : from]),
	}, nil
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
		return nil, fmt.Errorf("has front matter that is not YAML, of more than %d fields", maxFields)
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
	key      string
	indent   string
	line     int // from 0
	colon    int // after the colon
	from, to int // the value on the line, with its quotes, without a comment
	below    int // end of the lines that belong to it
}

// keyValue matches key: value # comment.
var keyValue = lazy(`^([ \t]*)("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#"'-][^:]*?)[ \t]*:()[ \t]*` +
	`("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|(?:[^\s#].*?)?)(?:[ \t]+#.*|[ \t\r]*)$`)

// fieldsOf finds the lines with key: value. Lines further right, of a list or that begin with a bracket belong to the field above.
func fieldsOf(block []byte) (fields []field) {
	at := 0
	for n, line := range bytes.SplitAfter(block, []byte("\n")) {
		start := at
		at += len(line)
		text := bytes.TrimLeft(line, " \t")
		last := len(fields) - 1
		if last >= 0 && (len(line)-len(text) > len(fields[0].indent) || bytes.IndexAny(text, "-]}\r\n") == 0) {
			fields[last].below = at
			continue
		}
		m := keyValue().FindSubmatchIndex(bytes.TrimSuffix(line, []byte("\n")))
		if m == nil {
			continue
		}
		name := string(line[m[4]:m[5]])
		if name[0] == '"' || name[0] == '\'' {
			v, _ := readYAML([]byte(name))
			name = fmt.Sprint(v)
		}
		fields = append(fields, field{name, string(line[:m[3]]), n, start + m[6], start + m[8], start + m[9], at})
	}
	return fields
}

// read reads a field of a block that is not YAML.
func (f field) read(block []byte) (any, error) {
	if v, err := readYAML(join([]byte("x: "), bytes.TrimLeft(block[f.colon:f.below], " \t"))); err == nil {
		if object, ok := v.(map[string]any); ok && len(object) == 1 {
			return object["x"], nil
		}
	}
	text := string(block[f.from:f.to])
	if text == "" {
		return nil, nil
	}
	end := strings.LastIndexByte(text, closing[text[0]])
	switch {
	case closing[text[0]] != 0 && end <= 0:
		return nil, fmt.Errorf("has a %c that is not closed", text[0])
	case closing[text[0]] == text[0] && end == len(text)-1:
		text = text[1:end]
	}
	return text, nil
}

var closing = map[byte]byte{'"': '"', '\'': '\'', '[': ']', '{': '}'}
