package host

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-sdk/ralph/internal/markdown"
)

// Form is how an agent must write a marker that a policy waits for. Since the marker ends a loop, it must be exact:
//
//   - Said: the marker is alone on its line, in any of the texts. White space, emphasis, heading and list signs, a
//     ticked box and closing punctuation may surround it, and nothing else: a sentence never counts.
//   - Promised: the same for the marker in its tag, <promise>…</promise>.
//   - Mentions: what counts as Said, and a guess: the marker in any letter case anywhere in the last text, unless its
//     line has an open or crossed box or a cross, it is struck out, it is a question or a label with a colon, or its
//     clause has a word such as not or until.
//
// Code, block quotes and comments never count, nor does ralph's own text repeated; see [Form.Shown].
type Form uint8

const (
	Said Form = iota
	Promised
	Mentions
)

// In reports whether one of texts has the marker where it counts; the last of texts is the agent's last message. shown
// is what Shown returned for the texts that the agent has read. A blank marker never counts.
func (f Form) In(texts []string, marker string, shown ...string) bool {
	counts, _ := f.find(texts, f.line(marker), shown)
	return counts
}

// Show returns the lines that ask an agent for the marker.
func (f Form) Show(marker string) string {
	return "When it is true, and not before, write this line:\n\n" + f.line(marker)
}

// Shown returns digests of the lines before the marker's lines in a text for an agent. A marker below such a line
// repeats that text.
func (f Form) Shown(text, marker string) (digests []string) {
	line, before := f.line(marker), ""
	for l := range textLines(text) {
		s := oneLine(text[l.start:l.end])
		if before != "" && f.alone(s, line) {
			digests = append(digests, digest(core(before)))
		}
		before = cmp.Or(s, before)
	}
	return digests
}

// Missed returns feedback for an agent that wrote the marker where it does not count: why it did not count, and the line
// to write. It returns "" if the marker counts or is not in texts.
func (f Form) Missed(texts []string, marker string, shown ...string) string {
	line := f.line(marker)
	counts, why := f.find(texts, line, shown)
	if !counts && why == "" {
		why = f.near(strings.Join(texts, "\n\x00\n"), line)
	}
	if counts || why == "" {
		return ""
	}
	const enough = 400
	return "“" + firstBytes(line, enough) + "” did not count: " + why + ".\n" + f.Show(marker)
}

// near returns how a line differs that was meant to be the marker, which is not in text; "" if there is none.
func (f Form) near(text, marker string) string {
	if words := loose(marker); words != "" {
		for l := range textLines(text) {
			if s := oneLine(text[l.start:l.end]); len(s) < 2*len(marker)+100 && loose(s) == words {
				return "it differs in letter case, white space or signs"
			}
		}
	}
	if marker != "" && len(occurrences(f.trimTag(oneLine(text)), marker)) > 0 {
		return "it is not on one line"
	}
	return ""
}

const (
	openTag  = "<promise>"
	closeTag = "</promise>"
)

// line returns the line that an agent must write, "" for a blank marker.
func (f Form) line(marker string) string {
	marker = oneLine(marker)
	if f == Promised && marker != "" {
		return openTag + marker + closeTag
	}
	return marker
}

// trimTag removes white space at both ends of the content of a tag.
func (f Form) trimTag(s string) string {
	if f == Promised {
		s = strings.ReplaceAll(strings.ReplaceAll(s, openTag+" ", openTag), " "+closeTag, closeTag)
	}
	return s
}

// absent is the result of judge for text without the marker.
const absent = "absent"

// find judges texts from the last to the first until the marker counts. If none does, why says why the latest
// occurrence does not; it is "" if there is none.
func (f Form) find(texts []string, marker string, shown []string) (counts bool, why string) {
	if marker == "" {
		return false, ""
	}
	for i, text := range slices.Backward(texts) {
		before, latest := "", ""
		for l := range textLines(text) {
			s := oneLine(text[l.start:l.end])
			if s == "" {
				continue
			}
			switch fault := f.judge(s, marker, l.kind, i == len(texts)-1); {
			case fault == "" && len(shown) > 0 && slices.Contains(shown, digest(core(before))):
				latest = "it repeats the text that asks for it"
			case fault == "":
				return true, ""
			case fault != absent:
				latest = fault
			}
			before = s
		}
		why = cmp.Or(why, latest)
	}
	return false, why
}

// judge returns why the marker on a line does not count, "" if it does, or absent.
func (f Form) judge(s, marker string, kind lineKind, last bool) string {
	if kind == inProse && f.alone(s, marker) {
		return ""
	}
	line, part := f.trimTag(s), marker
	if f == Mentions {
		line, part = fold(line), fold(part)
	}
	all := occurrences(line, part)
	if len(all) == 0 {
		return absent
	}
	why, code := "", codeSpans(line)
	for _, at := range all {
		before, after := line[:at], line[at+len(part):]
		why = void(before, after, kind)
		switch {
		case within(code, at):
			why = "it is in code"
		case why != "":
		case f != Mentions:
			return "it is not alone on its line"
		case !last:
			return "it is in an earlier text, and not alone on its line"
		default:
			word := hedge(before, after)
			if word == "" {
				return ""
			}
			why = "“" + word + "” is in its clause"
		}
	}
	return why
}

// alone reports whether a line consists of the marker and of what may surround it.
func (f Form) alone(s, marker string) bool {
	for rest := range layers(f.trimTag(s)) {
		if after, ok := strings.CutPrefix(rest, marker); ok && strings.Trim(after, closing) == "" {
			return true
		}
	}
	return false
}

// closing has what may follow a marker on its line: white space, emphasis, heading signs, closing punctuation, ticks.
const closing = " *_#.!…。！✅☑✔\ufe0f"

// layers yields a line, then the line without the first sign before its words, and so on.
func layers(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		signs := []string{"*", "_", "[x]", "[X]", "✅", "☑", "✔", "\ufe0f"}
		for yield(s) {
			if text := strings.TrimLeft(s, "#"); strings.HasPrefix(text, " ") {
				s = text
			} else if mark, text := markdown.CutMark(s); mark != "" && text != "" {
				s = text
			} else if i := slices.IndexFunc(signs, func(sign string) bool { return strings.HasPrefix(s, sign) }); i >= 0 {
				s = s[len(signs[i]):]
			} else {
				return
			}
			s = strings.TrimLeft(s, " ")
		}
	}
}

// core returns a line without the signs around its words.
func core(s string) string {
	for rest := range layers(s) {
		s = rest
	}
	return strings.TrimRight(s, closing)
}

// loose returns the letters and digits of a line and of the content of its tag, without their case.
func loose(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(fold(core(s)), openTag, ""), closeTag, "")
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}

// maxOccurrences bounds how many markers are judged on a line.
const maxOccurrences = 20

// occurrences returns where a marker is on a line, but not as a part of a longer word. Where letters have no case, words
// have no ends.
func occurrences(line, marker string) (found []int) {
	first, _ := utf8.DecodeRuneInString(marker)
	last, _ := utf8.DecodeLastRuneInString(marker)
	for at := 0; len(found) < maxOccurrences; {
		next := strings.Index(line[at:], marker)
		if next < 0 {
			break
		}
		start := at + next
		at = start + len(marker)
		before, _ := utf8.DecodeLastRuneInString(line[:start])
		after, _ := utf8.DecodeRuneInString(line[at:])
		if (!cased(before) || !cased(first)) && (!cased(last) || !cased(after)) {
			found = append(found, start)
		}
	}
	return found
}

func cased(r rune) bool { return unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsDigit(r) }

// void returns why a marker between before and after does not count in any form, or "".
func void(before, after string, kind lineKind) string {
	end := strings.IndexAny(after, ".!?。！？؟")
	switch {
	case kind == inQuote:
		return "it is in a block quote"
	case kind == inComment, strings.LastIndex(before, "<!--") > strings.LastIndex(before, "-->"):
		return "it is in a comment"
	case kind == inCode:
		return "it is in code"
	case strings.Count(before, "~~")%2 == 1:
		return "it is struck out"
	case hasCross(before), hasCross(after):
		return "its box is not ticked"
	case strings.HasPrefix(strings.TrimLeft(after, " *_"), ":"):
		return "it is a label with a colon"
	case end >= 0 && hasAnyPrefix(after[end:], "?", "？", "؟"):
		return "it is a question"
	}
	return ""
}

// hasCross reports whether a part of a line has an open box, a crossed one, or a cross.
func hasCross(s string) bool {
	return slices.ContainsFunc([]string{"[ ]", "[-]", "[~]", "☐", "☒", "❌", "❎", "✖", "✗", "✘", "🚫", "⛔"}, func(cross string) bool { return strings.Contains(s, cross) })
}

// hedge returns the word of a clause, which is folded, that makes a marker between before and after no promise, or "".
func hedge(before, after string) string {
	for _, end := range []string{".", "!", "?", ":", ";", ",", "(", ")", "[", "]", "{", "}", "–", "—", "--", " - "} {
		if i := strings.LastIndex(before, end); i >= 0 {
			before = before[i+len(end):]
		}
		after, _, _ = strings.Cut(after, end)
	}
	words := strings.FieldsFunc(strings.ReplaceAll(before+" "+after, "’", "'"), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })
	for _, word := range words {
		word = strings.Trim(word, "'")
		if strings.HasSuffix(word, "n't") || slices.Contains([]string{"not", "never", "no", "cannot", "without", "until", "unless", "once", "when", "if", "almost"}, word) {
			return word
		}
	}
	return ""
}

// fold returns s without the difference of letters that differ only in case.
func fold(s string) string { return strings.ToLower(strings.ToUpper(s)) }
