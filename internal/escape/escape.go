// Package escape makes invisible characters of a text visible, so that no file, agent or log can move a
// cursor, reverse a line or hide words. Start with [Person], for what people read, and [Agent].
package escape

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Person returns a text for people, in a terminal, a log, a host or a page: controls but tabs and line ends, what
// changes the direction of text, and what has no width are escaped as in [Rune]. What emoji and scripts need stays, see
// [Text.Shows]. JSON stays JSON with the same meaning, since package json writes no control into it.
func Person(s string) string {
	var t Text
	return escaped(s, func(r rune) bool { return t.Shows(r) || r == '\n' || r == '\t' })
}

// Line is [Person] for a text on one line: tabs and line ends are escaped, too.
func Line(s string) string {
	var t Text
	return escaped(s, t.Shows)
}

// Agent returns a text for an agent: controls but tabs and line ends are escaped. What is invisible to people stays,
// because it may be part of names and contents that the agent must write.
func Agent(s string) string {
	return escaped(s, func(r rune) bool { return r == '\n' || r == '\t' || !unicode.IsControl(r) })
}

// escaped returns s with escapes for the characters that are not shown. A line end is \n, and a byte that is not UTF-8
// U+FFFD.
func escaped(s string, shown func(rune) bool) string {
	var b strings.Builder
	kept := 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if !shown(r) || r == utf8.RuneError && n == 1 {
			b.WriteString(s[kept:i])
			if r != '\r' || i+1 == len(s) || s[i+1] != '\n' || !shown('\n') {
				b.WriteString(Rune(r))
			}
			kept = i + n
		}
		i += n
	}
	if kept == 0 {
		return s
	}
	b.WriteString(s[kept:])
	return b.String()
}

// Rune returns the escape of a character: that of a Go string if it is below U+0080, else that of JSON.
func Rune(r rune) string {
	switch {
	case r == utf8.RuneError:
		return string(r)
	case r == '\x7f':
		return `\u007f` // JSON allows it unescaped, and has only this escape
	case r < utf8.RuneSelf:
		return strings.Trim(fmt.Sprintf("%q", r), "'")
	case r > 0xffff:
		high, low := utf16.EncodeRune(r)
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// Text reads the characters of a text one after the other. Its zero value is at the beginning.
type Text struct {
	before rune // the last character that is not part of another
	parts  int  // how many parts of it came since
}

// Shows reports whether people see the next character of the text, or at least what it does to the one before it:
//
//   - A joiner after a symbol, as in emoji, and a joiner or non-joiner after a letter or mark of a script that joins, such as
//     Arabic or Devanagari.
//   - One selector of a variation after a character that has variations: a symbol, a digit, a character of Han or Mongolian.
//   - Tags after a black flag, as in the flag of Scotland.
func (t *Text) Shows(r rune) bool {
	if ' ' <= r && r < 0x7f {
		t.before, t.parts = r, 0
		return true
	}
	switch part := hidden(r); {
	case !part && unicode.Is(unicode.Sk, r) && r > 0xffff, unicode.Is(unicode.Me, r):
		t.parts = 0 // a shade of skin, a key: the emoji continues
		return true
	case !part:
		t.before, t.parts = r, 0
		return true
	case !t.takes(r):
		*t = Text{}
		return false
	}
	t.parts++
	return true
}

// takes reports whether an invisible character is part of the one before it.
func (t *Text) takes(r rune) bool {
	const joiner, nonJoiner, flag, maxTags = '\u200d', '\u200c', '\U0001F3F4', 7
	symbol := unicode.In(t.before, unicode.So, unicode.Sm)
	switch {
	case r == joiner && symbol:
		return t.parts < 2 // also after a selector
	case r == joiner, r == nonJoiner:
		return t.parts == 0 && unicode.In(t.before, joining()...)
	case 0xe0020 <= r && r <= 0xe007f:
		return t.before == flag && t.parts < maxTags
	case t.parts > 0 || !unicode.Is(unicode.Variation_Selector, r):
		return false
	case unicode.Is(unicode.Mongolian, r):
		return unicode.Is(unicode.Mongolian, t.before)
	case unicode.Is(unicode.Han, t.before):
		return true
	}
	return (r == '\ufe0e' || r == '\ufe0f') && (symbol || unicode.In(t.before, unicode.Nd, unicode.P) || t.before == 'ℹ')
}

// joining are scripts in which a joiner or non-joiner changes the form of a letter.
func joining() []*unicode.RangeTable {
	return []*unicode.RangeTable{
		unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mandaic, unicode.Mongolian, unicode.Phags_Pa, unicode.Adlam, unicode.Hanifi_Rohingya,
		unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu,
		unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan, unicode.Balinese, unicode.Javanese,
	}
}

// hidden reports whether a character is invisible on its own, or changes the order of others.
func hidden(r rune) bool {
	if unicode.In(r, unicode.Prepended_Concatenation_Mark, unicode.Egyptian_Hieroglyphs) {
		return false // signs that enclose or arrange what follows
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
