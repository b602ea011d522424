package state

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/internal/jsontext"
	"github.com/ralph-sdk/ralph/schema"
)

// maxMatterSize bounds the YAML between the fences, which is for a few fields; the body may be as large as any file.
const maxMatterSize = 256 << 10

var (
	errNoFrontMatter = errors.New("has no front matter: its first line is not ---")
	errMatterSize    = fmt.Errorf("has front matter that is too big: more than %d KiB", maxMatterSize>>10)
)

// errUnclosed is for a first fence on a line without a second one.
func errUnclosed(line int) error {
	return fmt.Errorf("has front matter that line %d opens and no second --- closes; write a line of --- below its last field", line)
}

// A matter is parsed front matter.
type matter struct {
	yaml    []byte // between the fences, without their line breaks
	offset  int    // offset of yaml in the file
	newline string // the line break after the opening fence
	body    []byte // after the closing fence
	line    int    // line of the opening fence

	fields *yaml.Node // the mapping; nil if there are no fields
	value  map[string]any
	values int64 // number of values, including nested ones

	// Only for lenient front matter.
	remarks  []remark
	unusable []schema.Violation
}

// splitFrontMatter finds the fences: a first line of three dashes, after an optional byte order mark and, if allowed,
// blank lines, and the next such line. Blanks may follow the dashes.
func splitFrontMatter(src []byte, blankLines bool) (*matter, error) {
	at, number := len(src)-len(trimBOM(src)), 1
	line, size := cutLine(src[at:])
	for blankLines && size > 0 && len(bytes.TrimSpace(line)) == 0 {
		at, number = at+size, number+1
		line, size = cutLine(src[at:])
	}
	if !isFence(line) {
		return nil, errNoFrontMatter
	}
	m := &matter{offset: at + size, newline: lineBreak(src[at : at+size]), line: number}
	for at += size; at < len(src); at += size {
		line, size = cutLine(src[at:])
		if isFence(line) {
			m.yaml = src[m.offset:at]
			m.body = src[at+size:]
			return m, nil
		}
	}
	return nil, errUnclosed(number)
}

// cutLine returns the first line without its line break, and its size with it.
func cutLine(src []byte) (line []byte, size int) {
	end := bytes.IndexByte(src, '\n')
	if end < 0 {
		return src, len(src)
	}
	return src[:end], end + 1
}

// lineBreak returns the line break at the end of a line.
func lineBreak(line []byte) string {
	if bytes.HasSuffix(line, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

func isFence(line []byte) bool {
	return bytes.HasPrefix(line, []byte("---")) && len(bytes.TrimRight(line[3:], " \t\r")) == 0
}

// decodeMatter parses front matter of both formats.
func decodeMatter(src []byte, f Format, s *schema.Schema) (*matter, error) {
	if f == LenientFrontMatter {
		return decodeLenient(src, s)
	}
	return decodeFrontMatter(src)
}

// decodeFrontMatter splits and parses front matter. It returns errNoFrontMatter if there is none.
func decodeFrontMatter(src []byte) (*matter, error) {
	m, err := splitFrontMatter(src, false)
	if err != nil {
		return nil, err
	}
	if len(m.yaml) > maxMatterSize {
		return nil, errMatterSize
	}
	m.value = map[string]any{}
	if m.fields, err = parseYAML(m.yaml); err != nil || m.fields == nil {
		return m, err
	}
	reader := yamlReader{left: maxYAMLNodes}
	value, err := reader.value(m.fields, 0)
	if err != nil {
		return nil, err
	}
	m.values = reader.read()
	fields, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("has front matter that is not a list of fields (key: value) but %s", jsontext.Kind(value))
	}
	m.value = fields
	return m, nil
}

// document returns the fields with positions in the whole file.
func (m *matter) document() schema.Document {
	return schema.Document{
		Value:    m.value,
		Repeated: repeatedFields(m.fields, nil, nil),
		Position: func(pointer string) (line, col int) {
			n, ok := nodeAt(m.fields, pointer)
			if !ok {
				return 0, 0
			}
			return n.Line + m.line, n.Column
		},
		Text: func(pointer string) (string, bool) {
			n, ok := nodeAt(m.fields, pointer)
			if !ok || n.Kind != yaml.ScalarNode || n.Style != 0 || isNull(n) {
				return "", false
			}
			return n.Value, true
		},
	}
}

// parseYAML returns the value of the one document in src, or nil if it has only comments.
func parseYAML(src []byte) (n *yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil { // do not rely on the library
			n, err = nil, fmt.Errorf("has front matter that is not valid YAML: %v", p)
		}
	}()
	if !utf8.Valid(src) { // otherwise the library tries UTF-16
		return nil, errors.New("has bytes that are not UTF-8 in its front matter")
	}
	dec := yaml.NewDecoder(bytes.NewReader(src))
	var doc yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, yamlError(err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		if err != nil {
			return nil, yamlError(err)
		}
		return nil, errors.New("has front matter of more than one YAML document")
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return nil, nil
	}
	return doc.Content[0], nil
}

// yamlError rewords the library's message. Its line numbers count from the first line after the fence, and may be off
// by one.
func yamlError(err error) error {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(message, "line "); ok {
		if number, what, ok := strings.Cut(rest, ": "); ok {
			if line, err := strconv.Atoi(number); err == nil {
				message = fmt.Sprintf("near line %d: %s", line+1, what)
			}
		}
	}
	return errors.New("has front matter that is not valid YAML: " + message)
}
