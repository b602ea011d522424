package host

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-sdk/ralph/internal/markdown"
)

// Form is how an agent must write a marker or a promise that a policy waits for. Since it ends a loop, the agent must
// mean it:
//
//   - Said: the marker is alone on its line. Emphasis and decoration may surround it: white space, bold and italic
//     signs, heading, list and table signs, quotation marks, brackets, a list number, a ticked box, an emoji, and
//     punctuation; but no letter or digit, no question mark, no empty box, no cross, and nothing that strikes it out.
//   - Promised: the promise is in its tag, <promise>…</promise>; white space is collapsed and trimmed on both sides.
//   - Mentions: the last message has it anywhere, an earlier one alone on a line or in the tag. Case does not matter.
//
// Code (fenced, indented, between backticks) and block quotes do not count. One of not, n't, never, no and cannot among
// the four preceding words in its sentence negates it. A sentence ends at . ! ? : ; and at the end of its line.
type Form uint8

const (
	Said Form = iota
	Promised
	Mentions
)

// In reports whether one of texts has the marker where it counts; the last of texts is the agent's last message. A
// blank marker never counts, and one of several lines never counts as Said.
func (f Form) In(texts []string, marker string) bool {
	counts, _ := f.find(texts, marker)
	return counts
}

// maxShownMarker bounds how many bytes of a marker Missed shows.
const maxShownMarker = 400

// Missed returns feedback for an agent that wrote the marker where it does not count: why it did not count, and how to
// write it. It returns "" if the marker counts or is not in texts. The feedback itself, repeated by the agent, does not
// count.
func (f Form) Missed(texts []string, marker string) string {
	counts, why := f.find(texts, marker)
	marker = oneLine(marker)
	if f == Promised {
		if bare, _ := Said.find(texts, marker); bare && why == "" {
			why = "its tag is missing"
		}
		marker = openTag + marker + closeTag
	}
	if counts || why == "" {
		return ""
	}
	return fmt.Sprintf("You have not yet written “%s” where it counts: %s. When it is true, and not before, write it as plain text alone on a line.",
		firstBytes(marker, maxShownMarker), why)
}

// find judges texts from the last to the first until the marker counts. If none does, why says why the latest
// occurrence does not; it is "" if there is none.
func (f Form) find(texts []string, marker string) (counts bool, why string) {
	switch f {
	case Said:
		if marker = strings.TrimSpace(marker); strings.ContainsAny(marker, "\r\n") {
			return false, ""
		}
	case Promised:
		marker = oneLine(marker)
	case Mentions:
		marker = fold(marker)
	}
	if strings.TrimSpace(marker) == "" {
		return false, ""
	}
	for i, text := range slices.Backward(texts) {
		counts, fault := f.judge(text, f.places(text, marker), i == len(texts)-1)
		if counts {
			return true, ""
		}
		if why == "" {
			why = fault
		}
	}
	return false, why
}

// place is where a marker is in a text, with its tag.
type place struct {
	span
	tagged bool
}

// places returns where the marker is in a text, in order.
func (f Form) places(text, marker string) (places []place) {
	tagged := func(s span) span { return span{s.start + len(openTag), s.end - len(closeTag)} }
	switch f {
	case Promised:
		for _, s := range tags(text) {
			if in := tagged(s); oneLine(text[in.start:in.end]) == marker {
				places = append(places, place{s, true})
			}
		}
		return places
	case Said:
		for from := 0; ; {
			n := strings.Index(text[from:], marker)
			if n < 0 {
				return places
			}
			s := span{from + n, from + n + len(marker)}
			from = s.end
			before, _ := utf8.DecodeLastRuneInString(text[:s.start])
			after, _ := utf8.DecodeRuneInString(text[s.end:])
			if !isWord(before) && !isWord(after) { // otherwise part of another word
				places = append(places, place{s, false})
			}
		}
	}
	// fold maps letter to letter, but their sizes may differ.
	folded := fold(text)
	at, i := 0, 0 // the same position in folded and in text
	to := func(position int) int {
		for at < position {
			_, n := utf8.DecodeRuneInString(folded[at:])
			_, m := utf8.DecodeRuneInString(text[i:])
			at, i = at+n, i+m
		}
		return i
	}
	var all []span
	for from := 0; ; {
		n := strings.Index(folded[from:], marker)
		if n < 0 {
			return places
		}
		if from == 0 {
			all = tags(text)
		}
		start := to(from + n)
		from += n + len(marker)
		found := place{span{start, to(from)}, false}
		for len(all) > 0 && all[0].end <= found.start {
			all = all[1:]
		}
		if len(all) > 0 {
			in := tagged(all[0])
			content := text[in.start:in.end]
			if in.start <= found.start && found.end <= in.end && found.start-in.start <= ornamentBefore(content) && found.end-in.start >= ornamentAfter(content) {
				found = place{all[0], true}
			}
		}
		places = append(places, found)
	}
}

// judge reports whether one of the places in text counts, and otherwise why the last does not.
func (f Form) judge(text string, places []place, last bool) (counts bool, why string) {
	for l := range textLines(text) {
		if len(places) == 0 {
			break
		}
		if places[0].start >= l.end {
			continue
		}
		line := text[l.start:l.end]
		code, before, after := codeSpans(line), ornamentBefore(line), ornamentAfter(line)
		words := reader{line: line}
		for len(places) > 0 && places[0].start < l.end {
			p := places[0]
			places = places[1:]
			at := p.start - l.start
			for len(code) > 0 && code[0].end <= at {
				code = code[1:]
			}
			alone := at <= before && p.end-l.start >= after
			if p.end > l.end { // it continues on other lines
				end, _ := markdown.LineAt(text, p.end)
				alone = at <= before && ornamentAfter(text[p.end:end]) == 0
			}
			word := words.negation(at)
			switch {
			case l.kind == inQuote:
				why = "it is in a block quote"
			case l.kind == inCode, len(code) > 0 && code[0].start <= at:
				why = "it is in code"
			case word != "":
				why = "“" + word + "” negates it"
			case alone, f == Promised, f == Mentions && (last || p.tagged):
				return true, ""
			case f == Said:
				why = "it is not alone on its line"
			default:
				why = "it is in a text before your last one, and not alone on its line"
			}
		}
	}
	return false, why
}

// reader reads the words of a line.
type reader struct {
	line   string
	at     int
	latest [4]string // the preceding words of the sentence
}

// negation reads up to place and returns the word before it that negates it, or "".
func (r *reader) negation(place int) string {
	for r.at < place {
		c, size := utf8.DecodeRuneInString(r.line[r.at:])
		if strings.ContainsRune(".!?:;", c) {
			r.latest = [4]string{}
		}
		if !inWord(c) {
			r.at += size
			continue
		}
		word := r.line[r.at:place]
		if n := strings.IndexFunc(word, func(c rune) bool { return !inWord(c) }); n >= 0 {
			word = word[:n]
		}
		r.at += len(word)
		copy(r.latest[:], r.latest[1:])
		r.latest[3] = word
	}
	for _, word := range slices.Backward(r.latest[:]) {
		word = strings.Trim(strings.ToLower(strings.ReplaceAll(word, "’", "'")), "'")
		if slices.Contains([]string{"not", "never", "no", "cannot"}, word) || strings.HasSuffix(word, "n't") {
			return word
		}
	}
	return ""
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// inWord reports whether a word may contain r, which includes apostrophes.
func inWord(r rune) bool { return isWord(r) || r == '\'' || r == '’' }

const (
	openTag  = "<promise>"
	closeTag = "</promise>"
)

// tags returns the promise tags with their content. If several open before one closes, the last of them is the one that
// is closed.
func tags(text string) (all []span) {
	for from := 0; ; {
		n := strings.Index(text[from:], closeTag)
		if n < 0 {
			return all
		}
		end := from + n
		if start := strings.LastIndex(text[from:end], openTag); start >= 0 {
			all = append(all, span{from + start, end + len(closeTag)})
		}
		from = end + len(closeTag)
	}
}

// fold maps every letter to the first of those that differ from it only in case.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		case r < utf8.RuneSelf:
			return r
		}
		first := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			first = min(first, next)
		}
		return first
	}, s)
}
