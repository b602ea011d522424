package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// box is an object or a list whose bytes are edited. The parser keeps white space and comments beside each value.
type box struct {
	object *hujson.Object
	array  *hujson.Array
}

func (b box) len() int {
	if b.object != nil {
		return len(b.object.Members)
	}
	return len(b.array.Elements)
}

// before returns the white space and comments before a member, after those between it and the comma, and end those before the bracket.
// A comma follows the last member if its after is not nil.
func (b box) before(i int) *hujson.Extra {
	if b.object != nil {
		return &b.object.Members[i].Name.BeforeExtra
	}
	return &b.array.Elements[i].BeforeExtra
}

func (b box) after(i int) *hujson.Extra {
	if b.object != nil {
		return &b.object.Members[i].Value.AfterExtra
	}
	return &b.array.Elements[i].AfterExtra
}

func (b box) end() *hujson.Extra {
	if b.object != nil {
		return &b.object.AfterExtra
	}
	return &b.array.AfterExtra
}

// The marks that follow a value in what was an empty object or list: after it comes the white space that was there, or there was none.
const (
	markSpace = ' '
	markNone  = '\t'
)

// put adds a value after the others, in the style of its neighbour, or on lines of its own. indent is that of the line on which the box
// begins. A comment behind the last value stays behind it.
func (d *document) put(b box, indent, name string, value any) error {
	n, end := b.len(), *b.end()
	comments, space := cutSpace(end)
	inner, multiline := indent+d.unit, true
	if n > 0 {
		var own string
		if own, multiline = indentation(*b.before(n - 1)); multiline {
			inner = own
		}
	}
	before, prefix := d.newline+inner, inner
	if !multiline {
		before, prefix = " ", ""
		if i := bytes.LastIndex(comments, []byte("//")); i >= 0 && !bytes.Contains(comments[i:], []byte("*/")) {
			before = d.newline
		}
	}
	newline := d.newline
	if !multiline {
		newline = ""
	}
	raw, err := literal(value, prefix, d.unit, newline)
	if err != nil {
		return err
	}
	v, err := hujson.Parse(raw)
	if err != nil {
		return err
	}
	trailing := n > 0 && *b.after(n - 1) != nil
	if trailing {
		v.AfterExtra = hujson.Extra{}
	}
	switch {
	case n > 0:
		before = string(comments) + before
		*b.end() = slices.Clone(space)
	case d.made:
		*b.end() = hujson.Extra(d.newline + indent)
	case len(end) == 0:
		*b.end() = hujson.Extra(string(markNone) + d.newline + indent)
	default:
		*b.end() = append(hujson.Extra{markSpace}, end...)
	}
	if b.array != nil {
		v.BeforeExtra = hujson.Extra(before)
		b.array.Elements = append(b.array.Elements, v)
		return nil
	}
	v.BeforeExtra = hujson.Extra(" ")
	key := hujson.Value{BeforeExtra: hujson.Extra(before), Value: hujson.String(name)}
	b.object.Members = append(b.object.Members, hujson.ObjectMember{Name: key, Value: v})
	return nil
}

// cut removes a member and keeps the comments before it. It reports whether the box is empty now and was not before ralph put something
// there.
func (b box) cut(i int) (empty bool) {
	n := b.len()
	comments, space := cutSpace(*b.before(i))
	end, trailing := *b.end(), *b.after(n - 1) != nil
	switch {
	case n == 1:
		marked := len(end) > 0 && (end[0] == markSpace || end[0] == markNone)
		switch {
		case marked && end[0] == markNone:
			end = nil
		case marked:
			end = end[1:]
		}
		empty = !marked && len(comments) == 0 && len(bytes.TrimSpace(end)) == 0
		*b.end() = append(slices.Clone(comments), end...)
	case i == n-1:
		if !trailing {
			comments = append(slices.Clone(*b.after(i - 1)), comments...)
			*b.after(i - 1) = nil
		} else if *b.after(i - 1) == nil {
			*b.after(i - 1) = hujson.Extra{}
		}
		*b.end() = append(slices.Clone(comments), end...)
	default:
		next := b.before(i + 1)
		if more, _ := cutSpace(*next); len(more) == 0 {
			*next = append(slices.Clone(comments), space...)
		} else {
			*next = append(slices.Clone(comments), *next...)
		}
	}
	if b.object != nil {
		b.object.Members = slices.Delete(b.object.Members, i, i+1)
	} else {
		b.array.Elements = slices.Delete(b.array.Elements, i, i+1)
	}
	return empty
}

// cutSpace splits white space and comments after the last comment. The line feed that ends a comment belongs to the space.
func cutSpace(e hujson.Extra) (comments, space hujson.Extra) {
	trimmed := bytes.TrimRight(e, " \t\r\n")
	return e[:len(trimmed):len(trimmed)], e[len(trimmed):]
}

// indentation returns the white space after the last line feed.
func indentation(e hujson.Extra) (indent string, multiline bool) {
	i := bytes.LastIndexByte(e, '\n')
	if i < 0 {
		return "", false
	}
	return strings.TrimLeft(string(e[i+1:]), "\r"), true
}

// member returns the value of a field and its place, -1 if there is none. A repeated field is an error: hosts read one of them.
func member(o *hujson.Object, name string) (v hujson.ValueTrimmed, at int, err error) {
	at = -1
	for i, m := range o.Members {
		if m.Name.Value.(hujson.Literal).String() != name {
			continue
		}
		if at >= 0 {
			return nil, at, fmt.Errorf("%q is twice in one object of the settings; remove one first", name)
		}
		v, at = m.Value.Value, i
	}
	return v, at, nil
}

// literal returns a value as JSON, on lines of its own below a prefix, or on one line if newline is "".
func literal(value any, prefix, unit, newline string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if newline != "" {
		e.SetIndent(prefix, unit)
	}
	err := e.Encode(value)
	return bytes.ReplaceAll(bytes.TrimSpace(b.Bytes()), []byte("\n"), []byte(newline)), err
}
