// Package text makes texts of files, agents and programs fit to be shown, and guesses what a person meant to write.
//
// It promises that a cleaned text moves no cursor, turns no line around and hides no words. It leaves out what a text means: an order
// in plain words passes through. Start with [Clean]. All functions are pure and safe for concurrent use.
package text

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean returns a text that is safe to show to an agent, a person, a log or a terminal. Controls but line feeds and tabs, characters
// without width, tags, and those that change the direction of text become their escapes, such as \u202e. The end of a line is \n, and a
// byte that is not UTF-8 is U+FFFD. What emoji and scripts need to be read stays. A clean text comes back as it is.
func Clean(s string) string {
	var p previous
	var b strings.Builder
	kept := 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if shown := p.shows(r) || r == '\n' || r == '\t'; !shown || r == utf8.RuneError && n == 1 {
			b.WriteString(s[kept:i])
			if !strings.HasPrefix(s[i:], "\r\n") {
				b.WriteString(escape(r))
			}
			kept = i + n
		}
		i += n
	}
	if kept == 0 {
		return s
	}
	return b.String() + s[kept:]
}

// Line is Clean on one line: line feeds and tabs become \n and \t.
func Line(s string) string { return oneLine.Replace(Clean(s)) }

var oneLine = strings.NewReplacer("\n", `\n`, "\t", `\t`)

// escape returns the escape of a character in Go.
func escape(r rune) string {
	if r == utf8.RuneError {
		return string(r)
	}
	return strings.Trim(strconv.QuoteRuneToASCII(r), "'")
}

// previous is the last visible character of a text, with the number of invisible ones that belong to it.
type previous struct {
	char  rune
	parts int
}

// shows reports whether people see the next character of the text, or what it does to the one before it.
func (p *previous) shows(r rune) bool {
	switch {
	case ' ' <= r && r < 0x7f: // most are
		*p = previous{char: r}
		return true
	case unicode.Is(unicode.Me, r), unicode.Is(unicode.Sk, r) && r > 0xffff:
		p.parts = 0 // a key, a shade of skin: the emoji goes on
		return true
	case !hidden(r):
		*p = previous{char: r}
		return true
	case !p.takes(r):
		*p = previous{}
		return false
	}
	p.parts++
	return true
}

// takes reports whether an invisible character belongs to the one before it.
func (p *previous) takes(r rune) bool {
	const joiner, nonJoiner, flag, maxTags = '\u200d', '\u200c', '\U0001F3F4', 7
	symbol := unicode.In(p.char, unicode.So, unicode.Sm)
	switch {
	case r == joiner && symbol:
		return p.parts < 2 // there may be a selector between them
	case r == joiner, r == nonJoiner:
		return p.parts == 0 && unicode.In(p.char, joining()...)
	case 0xe0020 <= r && r <= 0xe007f:
		return p.char == flag && p.parts < maxTags // the flag of Scotland
	case p.parts > 0 || !unicode.Is(unicode.Variation_Selector, r):
		return false
	case r == '\ufe0e', r == '\ufe0f':
		return symbol || unicode.In(p.char, unicode.Nd, unicode.P, unicode.Han) || p.char == 'ℹ'
	}
	return unicode.Is(unicode.Han, p.char)
}

// joining returns scripts in which a joiner changes the form of a letter.
func joining() []*unicode.RangeTable {
	return []*unicode.RangeTable{
		unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mandaic, unicode.Mongolian, unicode.Phags_Pa, unicode.Adlam,
		unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu,
		unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan, unicode.Balinese,
	}
}

// hidden reports whether a character is invisible by itself, or changes the order of others.
func hidden(r rune) bool {
	if unicode.In(r, unicode.Prepended_Concatenation_Mark, unicode.Egyptian_Hieroglyphs) {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Cut returns the first n characters of a text, and … if there were more. It reads no more of the text than that.
func Cut(s string, n int) string {
	count := 0
	for i := range s {
		if count >= n {
			return s[:i] + "…"
		}
		count++
	}
	return s
}

// Tail returns the last n characters of a text, after … if there were more.
func Tail(s string, n int) string {
	at := len(s)
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	if at > 0 {
		return "…" + s[at:]
	}
	return s
}
