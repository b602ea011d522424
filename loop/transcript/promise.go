package transcript

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A promise ends a loop, so the agent must mean it. This is the one rule for [Promised] and [Mentions]:
//
//   - In code (fenced, indented, between backticks) and in a block quote a promise never counts.
//   - Alone on a line it counts. Around it may stand what [Said] allows around a marker.
//   - In quotation marks or in its tag it does not count if the rest of the sentence negates it: I cannot say "done" yet.
//   - Elsewhere the last text counts anywhere, an earlier text only in the tag.

// Promised reports whether one of the texts has the promise in a tag, as <promise>…</promise>, where it counts. The
// last of the texts is the agent's last text. White space is collapsed and trimmed on both sides, letters count as
// they are, and any of several tags counts. A blank promise is never made.
func Promised(texts []string, promise string) bool {
	return inTag(promise).search(texts).fault == none
}

// Mentions reports whether one of the texts has the given one where it counts, in any letter case of any script. The
// last of the texts is the agent's last text. White space counts as it is. A blank text is never mentioned.
func Mentions(texts []string, text string) bool {
	return inWords(text).search(texts).fault == none
}

// Uncounted says why a promise that one of the texts has does not count, and how to write it: "" if it counts, or none
// of them has it. A text that is wholly in the tag, <promise>…</promise>, is what [Promised] looks for, any other one
// what [Mentions] does.
//
// The answer itself, repeated by the agent, does not count either.
func Uncounted(texts []string, text string) string {
	text = strings.TrimSpace(text)
	p := inWords(text)
	if hasTag(text, openTag) && strings.HasSuffix(text, closeTag) {
		p = inTag(text[len(openTag) : len(text)-len(closeTag)])
	}
	found := p.search(texts)
	if found.fault == absent && p.tag {
		found = p.almost(texts)
	}
	why := ""
	switch found.fault {
	case none, absent:
		return ""
	case inCode:
		why = "it stands in code"
	case inBlockQuote:
		why = "it stands in a block quote"
	case negated:
		why = "its sentence negates it with “" + found.word + "”"
	case midway:
		why = "it stands in the middle of a text that is not your last one"
	case untagged:
		why = "its tag is missing"
	case otherCase:
		why = "its capital letters differ"
	}
	return "You wrote the promise, but it did not count: " + why +
		". When it is true, and not before, write this as plain text on a line of its own: “" + text + "”"
}

// fault is why a promise does not count.
type fault uint8

const (
	absent fault = iota // the promise is not there
	none                // it counts
	inCode
	inBlockQuote
	negated
	midway
	untagged
	otherCase
)

// finding is a fault, with the word that negates.
type finding struct {
	fault fault
	word  string
}

// promise is what is looked for.
type promise struct {
	tag  bool   // in its tag
	want string // collapsed if in its tag, else folded
}

func inTag(s string) promise   { return promise{tag: true, want: collapse(s)} }
func inWords(s string) promise { return promise{want: fold(s)} }

// search judges the texts from the last to the first. What it finds is a place that counts, or else the latest place.
func (p promise) search(texts []string) finding {
	if strings.TrimSpace(p.want) == "" {
		return finding{}
	}
	var latest finding
	for i, text := range slices.Backward(texts) {
		switch f := p.judge(text, p.places(text), i == len(texts)-1); {
		case f.fault == none:
			return f
		case latest.fault == absent:
			latest = f
		}
	}
	return latest
}

// almost looks for the promise as an agent writes it that forgets the tag, or takes the letters lightly.
func (p promise) almost(texts []string) finding {
	if Said(texts, p.want) {
		return finding{fault: untagged}
	}
	for _, text := range texts {
		for _, s := range tags(text) {
			if p.want != "" && fold(collapse(text[s.start:s.end])) == fold(p.want) {
				return finding{fault: otherCase}
			}
		}
	}
	return finding{}
}

// places lists where the promise stands in a text, with its tag.
func (p promise) places(text string) []span {
	var places []span
	if p.tag {
		for _, s := range tags(text) {
			whole := span{s.start - len(openTag), s.end + len(closeTag)}
			exact := strings.HasPrefix(text[whole.start:], openTag) && strings.HasPrefix(text[s.end:], closeTag)
			if exact && collapse(text[s.start:s.end]) == p.want {
				places = append(places, whole)
			}
		}
		return places
	}
	// Letters of other cases have other sizes, but there is one for each.
	folded := fold(text)
	at, i := 0, 0 // the same place in folded and in text
	to := func(place int) int {
		for at < place {
			_, n := utf8.DecodeRuneInString(folded[at:])
			_, m := utf8.DecodeRuneInString(text[i:])
			at, i = at+n, i+m
		}
		return i
	}
	for from := 0; ; {
		n := strings.Index(folded[from:], p.want)
		if n < 0 {
			return places
		}
		start := to(from + n)
		from += n + len(p.want)
		places = append(places, span{start, to(from)})
	}
}

// judge finds the first of the places in a text that counts, or else says what is wrong with the last of them.
func (p promise) judge(text string, places []span, last bool) finding {
	if len(places) == 0 {
		return finding{}
	}
	var f finding
	for b := range passages(text) {
		var paragraph *paragraph
		for len(places) > 0 && places[0].start < b.end {
			place := span{max(places[0].start, b.start) - b.start, min(places[0].end, b.end) - b.start}
			places = places[1:]
			switch b.kind {
			case code:
				f = finding{fault: inCode}
				continue
			case quote:
				f = finding{fault: inBlockQuote}
				continue
			}
			if paragraph == nil {
				paragraph = newParagraph(text[b.start:b.end])
			}
			if f = paragraph.judge(place, p.tag, last); f.fault == none {
				return f
			}
		}
	}
	return f
}

// paragraph is a block of prose, read as far as places in it are judged.
type paragraph struct {
	text      string
	code      []span
	quoted    [][]span
	tags      []span     // the last of quoted
	sentences []int      // their ends
	negations []negation // in order
	line      span       // the line that was measured last, without the ornament at its ends
	ends      span       // of that line
}

// negation is a word that negates its sentence.
type negation struct {
	at   int
	word string
}

func newParagraph(text string) *paragraph {
	quoted := quotations(text)
	return &paragraph{
		text: text, code: codeSpans(text), quoted: quoted, tags: quoted[len(quoted)-1], sentences: sentences(text, quoted), negations: negations(text),
		ends: span{0, -1},
	}
}

func (p *paragraph) judge(place span, tagged, last bool) finding {
	if _, in := find(p.code, place.start); in {
		return finding{fault: inCode}
	}
	if _, in := find(p.code, place.end-1); in {
		return finding{fault: inCode}
	}
	whole := place
	if tag, in := find(p.tags, place.start); in && !tagged && place.end <= tag.end {
		content := p.text[tag.start:tag.end]
		if place.start-tag.start <= ornamentBefore(content) && place.end-tag.start >= ornamentAfter(content) {
			whole, tagged = span{tag.start - len(openTag), tag.end + len(closeTag)}, true
		}
	}
	if p.alone(whole) {
		return finding{fault: none}
	}
	if tagged || p.isQuoted(place) {
		if word := p.negation(place); word != "" {
			return finding{negated, word}
		}
	}
	if !last && !tagged {
		return finding{fault: midway}
	}
	return finding{fault: none}
}

// alone reports whether a place has nothing beside it on its line but ornament.
func (p *paragraph) alone(place span) bool {
	if place.start < p.ends.start || place.end > p.ends.end {
		p.ends.start = strings.LastIndexAny(p.text[:place.start], "\r\n") + 1
		p.ends.end = len(p.text)
		if n := strings.IndexAny(p.text[place.end:], "\r\n"); n >= 0 {
			p.ends.end = place.end + n
		}
		line := p.text[p.ends.start:p.ends.end]
		p.line = span{p.ends.start + ornamentBefore(line), p.ends.start + ornamentAfter(line)}
	}
	return place.start <= p.line.start && place.end >= p.line.end
}

func (p *paragraph) isQuoted(place span) bool {
	return slices.ContainsFunc(p.quoted, func(spans []span) bool {
		s, in := find(spans, place.start)
		return in && place.end <= s.end
	})
}

// negation is a word that negates the sentence around a place, "" if there is none.
func (p *paragraph) negation(place span) string {
	first, _ := slices.BinarySearch(p.sentences, place.start+1)
	start := 0
	if first > 0 {
		start = p.sentences[first-1]
	}
	end := len(p.text)
	if i, _ := slices.BinarySearch(p.sentences, place.end); i < len(p.sentences) {
		end = p.sentences[i]
	}
	from := func(at int) int {
		i, _ := slices.BinarySearchFunc(p.negations, at, func(n negation, at int) int { return n.at - at })
		return i
	}
	if i := from(start); i < len(p.negations) && p.negations[i].at < place.start {
		return p.negations[i].word
	}
	if i := from(place.end); i < len(p.negations) && p.negations[i].at < end {
		return p.negations[i].word
	}
	return ""
}

// negations lists the words that negate a sentence. Words such as "no" and "nothing" are not among them: "no test
// fails" is how work ends.
func negations(text string) []negation {
	var found []negation
	for i := 0; i < len(text); {
		n := strings.IndexFunc(text[i:], unicode.IsLetter)
		if n < 0 {
			break
		}
		start := i + n
		i = len(text)
		if n := strings.IndexFunc(text[start:], func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '’' }); n >= 0 {
			i = start + n
		}
		word := strings.TrimRight(strings.ToLower(strings.ReplaceAll(text[start:i], "’", "'")), "'")
		switch word {
		case "not", "cannot", "never", "neither", "nor", "without", "until", "till", "unless", "before", "yet", "unable", "refuse":
		default:
			if !strings.HasSuffix(word, "n't") {
				continue
			}
		}
		found = append(found, negation{start, word})
	}
	return found
}
