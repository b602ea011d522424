package host_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
)

// Why a marker does not count, as the agent reads it.
const (
	counts    = ""
	absent    = "-" // the text does not have it
	inCode    = "it is in code"
	inQuote   = "it is in a block quote"
	inComment = "it is in a comment"
	struck    = "it is struck out"
	unticked  = "its box is not ticked"
	label     = "it is a label with a colon"
	question  = "it is a question"
	notAlone  = "it is not alone on its line"
	lines     = "it is not on one line"
	differs   = "it differs in letter case, white space or signs"
	earlier   = "it is in an earlier text, and not alone on its line"
	repeated  = "it repeats the text that asks for it"
)

// judged is the result of a form for a text.
type judged struct{ text, why string }

func (c judged) check(t *testing.T, form host.Form, marker string, shown []string, texts ...string) {
	t.Helper()
	if got := form.In(texts, marker, shown...); got != (c.why == counts) {
		t.Errorf("form %d, %q in %q: counts is %v", form, marker, texts, got)
	}
	want := ""
	if c.why != counts && c.why != absent {
		show := form.Show(marker)
		_, line, _ := strings.Cut(show, "\n\n")
		want = "“" + line + "” did not count: " + c.why + ".\n" + show
	}
	got := form.Missed(texts, marker, shown...)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("form %d, %q in %q (-want +got):\n%s", form, marker, texts, diff)
	}
	// An agent that repeats what it reads has promised nothing.
	if form.In([]string{got}, marker, form.Shown(got, marker)...) {
		t.Errorf("form %d, %q counts in its own explanation", form, marker)
	}
}

// X is the marker, or the promise in its tag: both have one form.
var alone = []judged{
	{"X", counts}, {"Ready.\n\nX", counts}, {"X\n\nPR: https://example.com/1", counts}, {"a\r\nX\r\nb", counts}, {"a\rX\rb", counts}, {"no X yet\nX", counts}, {"I am not\nX", counts},
	{"  X\t ", counts}, {"\u00a0X", counts}, {"**X**", counts}, {"__X__", counts}, {"*X*", counts}, {"_X_", counts}, {"# X", counts}, {"## X ##", counts}, {"### **X**", counts},
	{"- X", counts}, {"* X", counts}, {"+ X", counts}, {"1. X", counts}, {"12) **X**", counts}, {"- [x] X", counts}, {"* [X] **X**", counts}, {"[x] X", counts}, {"✅ X", counts}, {"X ✔️", counts},
	{"- ✅ **X**", counts}, {"X.", counts}, {"X!", counts}, {"**X.**", counts}, {"X…", counts}, {"X。", counts}, {"> You asked.\nX", counts}, {"```\nok\n```\nX", counts}, {"<!-- x -->\nX", counts},
	{"1. Fixed\n\n    X", counts}, {"- a\n  - b\n\n    X", counts}, {"I ran it:\n    X", counts}, {"a stray ` is\nX\nand ` in no other line", counts}, {"The tag `<pre>` is new.\nX", counts},

	// Sentences, whatever they say and in whatever language.
	{"I will print X later", notAlone}, {"Verified. X", notAlone}, {"X 2", notAlone}, {"2 X", notAlone}, {"I do not write X here", notAlone}, {"I cannot say X yet.", notAlone}, {"We are X!", notAlone},
	{"Ich schreibe noch nicht X.", notAlone}, {"Je n'écris pas encore X", notAlone}, {"まだ X ではない", notAlone}, {"ещё не X", notAlone}, {"nearly X", notAlone}, {"X soon", notAlone}, {"X, once the tests pass", notAlone},
	{"X (not yet)", notAlone}, {"(X)", notAlone}, {`"X"`, notAlone}, {"'X'", notAlone}, {"“X”", notAlone}, {"«X»", notAlone}, {"| X |", notAlone}, {"X X", notAlone}, {"X,", notAlone}, {"X;", notAlone}, {"🎉 X", notAlone},
	{"not\u00a0X", notAlone}, {"$X", notAlone}, {"%X%", notAlone}, {"/X", notAlone}, {"// X", notAlone}, {"-X", notAlone}, {"+X", notAlone}, {"#X", notAlone}, {"--- X", notAlone}, {"echo X", notAlone}, {"[X](url)", notAlone},
	{"Status: X", notAlone}, {"<del>X</del>", notAlone}, {"~X~", notAlone}, {"x > X", notAlone}, {"[1] X", notAlone}, {"X - no", notAlone}, {"X = false", notAlone}, {"1.5 X", notAlone},

	// What makes it void.
	{"- [ ] X", unticked}, {"* [ ] **X**", unticked}, {"[-] X", unticked}, {"- [~] X", unticked}, {"☐ X", unticked}, {"☒ X", unticked}, {"❌ X", unticked}, {"X ❌", unticked}, {"✗ X", unticked}, {"🚫 X", unticked},
	{"~~X~~", struck}, {"- ~~**X**~~", struck}, {"X?", question}, {"**X**?", question}, {"X？", question}, {"X؟", question}, {"Is it X?", question}, {"X, right?", question}, {"X:", label}, {"**X**: no", label}, {"X: 3 of 4", label},
	{"`X`", inCode}, {"- `X`", inCode}, {"``X ` ``", inCode}, {"Write `X` last", inCode}, {"```\nX\n```", inCode}, {"~~~\nX\n~~~", inCode}, {"````\n```\nX\n```\n````", inCode}, {"```\nX", inCode}, {"- ```\n  X\n  ```", inCode},
	{"The log:\n\n    X\n", inCode}, {"\tX", inCode}, {"The log:\n\n    a\n\n    X", inCode}, {"- The log:\n\n      X", inCode}, {"<pre>\nX\n</pre>", inCode}, {"```sh\n$ make\n\nX\n```\nTwo fail.", inCode},
	{"> X", inQuote}, {"> - X", inQuote}, {"- > X", inQuote}, {"  >X", inQuote}, {"You said:\n> Then write:\n> X\n\nI go on.", inQuote}, {"<blockquote>\nX\n</blockquote>", inQuote},
	{"<!-- X -->", inComment}, {"<!--\nX\n-->", inComment}, {"So <!-- that is\nX\n-->", inComment}, {"<!-- todo\n\nX", inComment}, {"> a\n<!--\n- X\n-->", inComment},
}

func TestMarkerAlone(t *testing.T) {
	for _, form := range []host.Form{host.Said, host.Promised} {
		_, line, _ := strings.Cut(form.Show("ALL_DONE"), "\n\n")
		for _, c := range alone {
			text := strings.ReplaceAll(strings.ReplaceAll(c.text, "[X] ", "[x] "), "X", line)
			c.check(t, form, "ALL_DONE", nil, text)
			c.check(t, form, "ALL_DONE", nil, text, "Two of them fail.")
			c.check(t, form, "ALL_DONE", nil, "Begun.", text)
		}
	}
	for _, c := range []struct {
		form              host.Form
		marker, text, why string
	}{
		// Each form that was seen is named; one that is part of other words was not.
		{host.Said, "ALL_DONE", "all_done", differs}, {host.Said, "ALL_DONE", "**All done!**", differs}, {host.Said, "ALL_DONE", "ALL **_** DONE", differs}, {host.Said, "ALL_DONE", "- [ ] all done", differs},
		{host.Said, "ALL DONE", "ALL\nDONE", lines}, {host.Said, "ALL DONE", "ALL \t DONE", counts}, {host.Said, "ALL\nDONE", "ALL DONE", counts}, {host.Said, " ALL DONE\t", "ALL DONE", counts},
		{host.Said, "ALL_DONE", "ALL_DONES", absent}, {host.Said, "ALL_DONE", "éALL_DONE", absent}, {host.Said, "ALL_DONE", "It is all done, I think", absent}, {host.Said, "ALL_DONE", "NOT_ALL_DONE", notAlone},
		{host.Promised, "ALL  DONE", "<promise>\u00a0ALL DONE </promise>", counts}, {host.Promised, "DONE", "<promise>\nDONE\n</promise>", differs}, {host.Promised, "ALL DONE", "<promise>ALL\nDONE</promise>", lines},
		{host.Promised, "DONE", "**DONE**", differs}, {host.Promised, "DONE", "<promise>DONE", differs}, {host.Promised, "DONE", "<Promise>Done</Promise>", differs}, {host.Promised, "DONE", "<promise>done</promise>", differs},
		{host.Promised, "DONE", "<promise>NOT DONE</promise>", absent}, {host.Promised, "DONE", "We are DONE with part 1", absent}, {host.Promised, "a*b `c`", "<promise>a*b `c`</promise>", counts},
		{host.Promised, "", "<promise> </promise>", absent}, {host.Said, " \n", " ", absent}, {host.Mentions, "", "anything", absent},
		// A marker may look like a sign itself.
		{host.Said, "DONE!", "- DONE!", counts}, {host.Said, "**DONE**", "## **DONE**", counts}, {host.Said, "**DONE**", "DONE", differs}, {host.Said, "1. DONE", "1. DONE", counts}, {host.Said, "DONE?", "**DONE?**", counts},
		{host.Said, "[x]", "- [x]", counts}, {host.Said, "???", "???", counts}, {host.Said, "✅", "✅ ", counts}, {host.Said, "--", "--", counts}, {host.Said, "❌ failed", "- ❌ failed.", counts}, {host.Said, "_x", "*_x*", counts},
		{host.Said, "全部完了", "→\n全部完了。", counts}, {host.Said, "\xff", "a \xff", notAlone}, {host.Said, "`DONE`", "`DONE`", counts}, {host.Said, "✅ done", "done", differs},
	} {
		judged{c.text, c.why}.check(t, c.form, c.marker, nil, c.text)
	}
	// One that counts is enough, and of those that do not the latest is named. A tag does not reach into the next text.
	judged{"", counts}.check(t, host.Said, "DONE", nil, "`DONE`", "DONE", "> DONE")
	judged{"", inQuote}.check(t, host.Said, "DONE", nil, "`DONE`", "> DONE", "Well.")
	judged{"", absent}.check(t, host.Said, "DONE", nil)
	judged{"", absent}.check(t, host.Promised, "DONE", nil, "<promise>DO", "NE</promise>")
}

func TestMentions(t *testing.T) {
	const marker = "All tests passing"
	in := func(word string) string { return "“" + word + "” is in its clause" }
	for _, c := range alone { // what counts alone counts here, and what is void is void
		if strings.Contains(c.text, "yet\nX") || c.why == notAlone {
			continue
		}
		c.check(t, host.Mentions, marker, nil, strings.ReplaceAll(strings.ReplaceAll(c.text, "[X] ", "[x] "), "X", marker))
	}
	for _, c := range []judged{
		{"Fixed the parser. All tests passing. The docs are next.", counts}, {"Great: all TESTS passing now", counts}, {"- parser fixed\n- all tests passing, lint too", counts}, {"| suite | All tests passing |", counts},
		{"No failures left, all tests passing.", counts}, {"I did not touch the docs. All tests passing, too.", counts}, {"I cannot see why: all tests passing", counts}, {"It is not slow; all tests passing now", counts},
		{"Not bad! All tests passing", counts}, {"It is not\nso all tests passing", counts}, {"all tests passing (not counting the slow ones)", counts}, {"all tests passing — no doubt", counts}, {"Never mind - all tests passing", counts},
		{"“All tests passing”", counts}, {"Nothing fails and all tests passing", counts}, {"all tests passing notwithstanding", counts}, {"I knot it: all tests passing", counts}, {"`make` says all tests passing in `ci`", counts},
		{"I will not say 'All tests passing' yet", in("not")}, {"I WON'T SAY 'ALL TESTS PASSING'", in("won't")}, {"I can’t say “All tests passing”.", in("can't")}, {"I cannot say **\"All tests passing\"**.", in("cannot")},
		{"I will never write all tests passing for that.", in("never")}, {"There is no run with all tests passing", in("no")}, {"It cannot merge without all tests passing", in("cannot")}, {"not merged without all tests passing", in("not")},
		{"I work until all tests passing holds", in("until")}, {"unless all tests passing is false", in("unless")}, {"Once all tests passing, I stop", in("once")}, {"I stop when all tests passing", in("when")}, {"If all tests passing then good", in("if")},
		{"All tests passing almost", in("almost")}, {"all tests passing is not true", in("not")}, {"All tests passing is what I do not see.", in("not")},
		{"all tests passing: no", label}, {"So are all tests passing, then?", question}, {"I print `echo All tests passing` at the end", inCode}, {"~~lint, all tests passing~~", struck}, {"- [ ] then all tests passing", unticked},
		{"| All tests passing | ❌ |", unticked}, {"> he saw all tests passing", inQuote}, {"see <!-- all tests passing -->", inComment}, {"All **tests** passing", differs}, {"All tests\npassing", lines},
		{"overall tests passing", absent}, {"All tests passings", absent}, {"tests passing", absent}, {"not all tests passing, but now all tests passing", counts},
	} {
		c.check(t, host.Mentions, marker, nil, c.text)
		c.check(t, host.Mentions, marker, nil, "Begun.", c.text)
	}
	judged{"", earlier}.check(t, host.Mentions, marker, nil, "Now all tests passing.", "Two of them fail.")
	judged{"", counts}.check(t, host.Mentions, marker, nil, "**All tests passing**", "I clean up.")
	for marker, text := range map[string]string{
		"`make` is green": "Now `make` is green.", "a.*b (c|d)?": "so a.*b (c|d)? it is", "I am not done": `I say "I am not done"`, "Fertig ✅ 完了": "so: fertig ✅ 完了。", "完了": "全部完了です",
		"\u212aELVIN": "İ: kelvin, at last", "σας": "so ΣΑΣ", "FERTIG ÄÖÜ É": "Fertig äöü é",
	} {
		judged{text, counts}.check(t, host.Mentions, marker, nil, text)
	}
}

// A text that ralph sent is no promise when the agent repeats it; a line of the agent's is.
func TestRepeatedTextIsNoPromise(t *testing.T) {
	for _, form := range []host.Form{host.Said, host.Promised, host.Mentions} {
		_, line, _ := strings.Cut(form.Show("DONE"), "\n\n")
		sent := "Fix it.\n\n" + form.Show("DONE") + "\n\nZum Schluss:\n- " + line + "\n\n```\nexample\n```\n" + line
		shown := form.Shown(sent, "DONE")
		for _, c := range []judged{
			{sent, repeated}, {form.Show("DONE"), repeated}, {"- **When it is true, and not before, write this line:**\n" + line, repeated}, {"Zum Schluss:\n\n\n" + line, repeated},
			{line, counts}, {"Fix it.\n\n" + line, counts}, {sent + "\n\nIt is true.\n\n" + line, counts}, {"When it is true, I write this line:\n\n" + line, counts},
		} {
			c.check(t, form, "DONE", shown, c.text)
		}
	}
	if got := host.Said.Shown("DONE\nThen DONE\nsay done", "DONE"); got != nil {
		t.Errorf("no line is before the marker: %q", got)
	}
}

// A marker is found, and not found, in large texts, whatever they consist of.
func TestMarkersInLargeTexts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and no goroutine meets another")
	}
	const size = 1 << 18
	for _, filler := range []string{
		"word ", "-", "- ", "1", "1. ", "\n", "*", "#", "# ", "DONE ", "xDONE", "DONE\u00a0x\n", "<promise>", "</promise>", "[x]", "é", "\xff", "not ", "`` ` ", "`DONE` ", "`DONE ``", "I do not say \"DONE\" ",
		"> DONE\n", "not <promise>DONE</promise> ", "- - - `DONE`\n", "\\`DONE\\` \r", "<!--", "<!-- -->", "~~DONE", "DONE? ", "[ ] DONE ",
	} {
		text := "x" + strings.Repeat(filler, size/len(filler))
		for _, form := range []host.Form{host.Said, host.Promised, host.Mentions} {
			if form.In([]string{text + "x"}, "NOPE") || form != host.Mentions && form.In([]string{text + "x"}, "DONE") {
				t.Errorf("form %d: found in %.10q…", form, filler)
			}
			_, line, _ := strings.Cut(form.Show("DONE"), "\n\n")
			if filler != "<!--" && !form.In([]string{text + "\n" + line + "\n", "last"}, "DONE") {
				t.Errorf("form %d: not found behind %.10q…", form, filler)
			}
			form.Missed([]string{text}, "DONE")
		}
	}
}

// A text without a line that folds to the marker never counts. One with a separate line counts, unless a fence or a
// comment is open above it; and code, a quote or a sentence more changes nothing.
func FuzzPromise(f *testing.F) {
	for _, c := range alone {
		f.Add(c.text, true)
	}
	for _, s := range []string{"", "I will not say 'Kept ✅ it' yet", "kept ✅ IT", "\"open", "\tcode\n\n", "~~~\n~~~~", "a\r\nb\rc", "İ\u212a\xff", "</promise><promise>", "no: a.b… 。"} {
		f.Add(s, s == "")
	}
	const marker = marked
	f.Fuzz(func(t *testing.T, text string, last bool) {
		text = strings.ReplaceAll(text, "X", marker)
		for _, form := range []host.Form{host.Said, host.Promised, host.Mentions} {
			_, line, _ := strings.Cut(form.Show(marker), "\n\n")
			test := func(text string) bool {
				texts := []string{"Before.", text, "After."}
				if last {
					texts = texts[:2]
				}
				counts := form.In(texts, marker)
				if why := form.Missed(texts, marker); counts && why != "" {
					t.Fatalf("%q in %q counts, but: %s", line, text, why)
				}
				return counts
			}
			before := test(text)
			if before && !folds(form, text, line, last) {
				t.Fatalf("%q counts in %q, which has no such line", line, text)
			}
			if !test(line + "\n\n" + text) {
				t.Fatalf("%q does not count above %q", line, text)
			}
			if strings.Contains(text, "```") || strings.Contains(text, "~~~") || strings.Contains(text, "<") {
				continue // what is added may be in code or in a comment
			}
			if !test(text + "\n\n" + line + "\n") {
				t.Fatalf("%q does not count below %q", line, text)
			}
			for _, more := range []string{"~~~~~\n" + line + "\n~~~~~\n", "> " + line, "Now `" + line + "` is code.", "I will never say “" + line + "” here."} {
				if after := test(text + "\n\n" + more); after != before {
					t.Fatalf("%q counts in %q: %v, with %q: %v", line, text, before, more, after)
				}
			}
		}
	})
}

// folds reports whether a text has a line of which only the marker is left. Mentions also finds it in sentences.
func folds(form host.Form, text, line string, last bool) bool {
	if form == host.Mentions && last {
		return regexp.MustCompile(`(?i)` + regexp.QuoteMeta(marked)).MatchString(strings.Join(strings.Fields(text), " "))
	}
	signs := regexp.MustCompile(`^(#+ |[-*+] |\d{1,9}[.)] |[*_✅☑✔\x{fe0f}]|\[[xX]\]| )*` + regexp.QuoteMeta(line) + `[ *_#.!…。！✅☑✔\x{fe0f}]*$`)
	for l := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\r' || r == '\n' }) {
		l = strings.Join(strings.Fields(l), " ")
		if signs.MatchString(strings.NewReplacer("<promise> ", "<promise>", " </promise>", "</promise>").Replace(l)) {
			return true
		}
	}
	return false
}

const marked = "Kept ✅ it"
