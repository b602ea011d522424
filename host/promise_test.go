package host_test

import (
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/host"
)

// Why a promise does not count, as the agent reads it.
const (
	counts   = ""
	noWhere  = "-" // the text does not have it
	inCode   = "it is in code"
	inQuote  = "it is in a block quote"
	notAlone = "it is not alone on its line"
	earlier  = "it is in a text before your last one, and not alone on its line"
	noTag    = "its tag is missing"
	notWord  = "“not” negates it"
	noWord   = "“no” negates it"
	never    = "“never” negates it"
	cannot   = "“cannot” negates it"
	cant     = "“can't” negates it"

	passing = "All tests passing"
	done    = "DONE"
)

func TestPromise(t *testing.T) {
	const said, promised, mentions = host.Said, host.Promised, host.Mentions
	var last, before []judged // the text is the last of the turn, or the one before it
	both := func(form host.Form, marker, text, why string) {
		last, before = append(last, judged{form, marker, text, why}), append(before, judged{form, marker, text, why})
	}
	atEnd := func(form host.Form, marker, text, why string) {
		last = append(last, judged{form, marker, text, why})
	}

	// A marker must be alone on its line.
	for _, text := range []string{
		"ALL_DONE", "Ready.\n\nALL_DONE", "ALL_DONE\n\nPR: https://example.com/1", "a\r\nALL_DONE\r\nb", "a\rALL_DONE\rb",
		"  ALL_DONE\t ", "**ALL_DONE**", "__ALL_DONE__", "*ALL_DONE*", "_ALL_DONE_", "# ALL_DONE", "## ALL_DONE ##", "### **ALL_DONE**",
		"- ALL_DONE", "* ALL_DONE", "+ ALL_DONE", "1. ALL_DONE", "12) **ALL_DONE**", "- [x] ALL_DONE", `"ALL_DONE"`, "'ALL_DONE'", "“ALL_DONE”",
		"«ALL_DONE»", "(ALL_DONE)", "[ALL_DONE]", "| ALL_DONE |", "ALL_DONE.", "ALL_DONE!", "ALL_DONE:", "✅ ALL_DONE", "ALL_DONE ✔️",
		"🎉 **ALL_DONE** 🎉", "\u00a0ALL_DONE", "no ALL_DONE yet\nALL_DONE", "I do not stop.\nALL_DONE", "I am not\nALL_DONE",
	} {
		both(said, "ALL_DONE", text, counts)
	}
	for _, text := range []string{
		"", "ALL DONE", "all_done", "All_Done", "x\nALL_DONES", "ALL_\nDONE", "aALL_DONE", "éALL_DONE",
	} {
		both(said, "ALL_DONE", text, noWhere)
	}
	for _, text := range []string{
		"I will print ALL_DONE later", "Verified. ALL_DONE", "ALL_DONE 2", "2 ALL_DONE", "ALL_DONE?", "ALL_DONE: no", "- [ ] ALL_DONE", "~~ALL_DONE~~",
		"❌ ALL_DONE", "$ALL_DONE", "%ALL_DONE%", "<ALL_DONE>", "/ALL_DONE", "// ALL_DONE", `grep "ALL_DONE" file`, "ALL_DONE ALL_DONE",
	} {
		both(said, "ALL_DONE", text, notAlone)
	}
	both(said, "ALL_DONE", "I do not write ALL_DONE here", notWord)
	both(said, "ALL_DONE", "NOT_ALL_DONE", notWord)
	both(said, "ALL_DONE", "`ALL_DONE`", inCode)
	both(said, "ALL_DONE", "```\nALL_DONE\n```", inCode)
	both(said, "ALL_DONE", "> ALL_DONE", inQuote)
	both(said, "ALL_DONE", "> - ALL_DONE", inQuote)
	// It may look like ornament itself.
	for _, marker := range []string{"DONE!", "**DONE**", "<done/>", "1. DONE", "DONE?", "[x]", "???", "✅", "--", "❌ failed"} {
		both(said, marker, "so\n"+marker+"\n", counts)
		both(said, marker, "## **"+marker+"**", counts)
		both(said, marker, "a "+marker+" b", notAlone)
	}
	both(said, "**DONE**", "DONE", noWhere)
	both(said, "全部完了", "→\n全部完了。", counts)
	both(said, "\xff", "a \xff", notAlone)
	both(said, " ALL DONE\t", "ALL DONE", counts)
	both(said, "ALL\nDONE", "ALL\nDONE", noWhere)
	both(said, " ", " ", noWhere)

	// A promise must be in its tag.
	for _, text := range []string{
		"ok <promise>DONE</promise> bye", "**<promise> DONE\n</promise>**", "I did not expect it. <promise>DONE</promise>",
		"It is not much\n<promise>DONE</promise>", "<promise>\n\n    DONE\n\n</promise>", "<promise>DONE</promise> only comes now, never before",
		"`<promise>DONE</promise>`\n\n<promise>DONE</promise>", "<promise><promise>DONE</promise>", "<promise>PART</promise><promise>DONE</promise>",
	} {
		both(promised, done, text, counts)
	}
	both(promised, "ALL  DONE", "<promise>\n ALL\t  DONE</promise>", counts)
	both(promised, "a*b", "<promise>aXXb</promise>", noWhere)
	both(promised, "a*b `c`", "<promise>a*b `c`</promise>", counts)
	both(promised, "I do not  stop", "So <promise>I do not stop</promise>", counts)
	both(promised, done, "I cannot say `<promise>DONE</promise>` yet", inCode)
	both(promised, done, "I cannot say <promise>DONE</promise> yet", cannot)
	both(promised, done, "I won't write <promise>\nDONE\n</promise> today", "“won't” negates it")
	both(promised, done, "> <promise>DONE</promise>", inQuote)
	both(promised, done, "```\n<promise>DONE</promise>\n```", inCode)
	both(promised, done, "<promise>NO</promise> <promise>DONE</promise>", noWord)
	both(promised, done, "**DONE**", noTag)
	for _, text := range []string{
		"<promise>done</promise>", "<PROMISE>DONE</PROMISE>", "We are DONE with part 1", "Done.", "<promise>NOT DONE</promise>", "<promise>DONE", "</promise>DONE<promise>",
	} {
		both(promised, done, text, noWhere)
	}
	both(promised, "", "<promise> </promise>", noWhere)

	// What is mentioned counts anywhere in the last text,
	for _, text := range []string{
		"Fixed the parser. All tests passing. The docs are next.", "Great: all TESTS passing now", "- parser fixed\n- all tests passing, lint too",
		"| suite | All tests passing |", "Two tests failed before.\r\nNow: all tests passing.", "So I can say \"All tests passing\" now.",
		"`make` says all tests passing in `ci`", "a stray ` and all tests passing", "So \"All tests passing\" is not true.", "<promise>now all tests passing</promise>",
		// a negation does not reach beyond four words and beyond the sentence,
		"I do not think more is needed, all tests passing", "I did not touch the docs. All tests passing, too.", "I cannot see why: all tests passing",
		"It is not slow; all tests passing now", "Is it not? Now all tests passing", "It was no fun! All tests passing, though", "It is not\nso: all tests passing",
		"Nothing fails, all tests passing", "Without doubt all tests passing", "It isn’t the parser, so now all tests passing",
	} {
		atEnd(mentions, passing, text, counts)
	}
	// and else if it is alone on a line, or in a tag.
	for _, text := range []string{
		"All tests passing", "✅ All tests passing", "**All tests passing**", "# All tests passing", "I ran it:\n    All tests passing", "“All tests passing”",
		"« All tests passing »", "I did not stop\n\"All tests passing\"", "<promise>All tests passing</promise>", "So <promise> ✅ All tests passing. </promise>, now I clean up.",
		"So <promise>\nall tests\u0020passing\n</promise> it is", "1. Fixed it\n\n    All tests passing", "- a\n  - b\n\n    All tests passing",
		"- a\n  - b\n\n  c\n\n     All tests passing", "10. a\n\n\tAll tests passing", "```\nok\n```\nAll tests passing", "```\nok\n``` \nAll tests passing",
		"> Are you done?\nAll tests passing", "The log:\n\n    ok\n\nAll tests passing", "a stray ` is\nAll tests passing\nand ` closed in no other line",
		"`All tests passing`\n\nAll tests passing", "I won't say 'All tests passing' lightly.\nAll tests passing.",
	} {
		both(mentions, passing, text, counts)
	}
	before = append(before,
		judged{mentions, passing, "The goal is all tests passing.", earlier},
		judged{mentions, passing, "So \"All tests passing\" is the goal.", earlier},
		judged{mentions, passing, "All tests passing?", earlier},
		judged{mentions, passing, "<promise>now all tests passing</promise>", earlier})
	// A negation counts in every form and letter case.
	both(mentions, passing, "I will not say 'All tests passing' yet", notWord)
	both(mentions, passing, "I WILL NOT SAY 'ALL TESTS PASSING'", notWord)
	both(mentions, passing, "I can't say \"All tests passing\".", cant)
	both(mentions, passing, "I can’t say “All tests passing”.", cant)
	both(mentions, passing, "I cannot say **\"All tests passing\"**.", cannot)
	both(mentions, passing, "I will never write 'All tests passing' for that.", never)
	both(mentions, passing, "There is no run with all tests passing", noWord)
	both(mentions, passing, "Not, e.g. here, nor there: I do not see (yet) all tests passing", notWord)
	both(mentions, passing, "I won't write <promise>All tests passing</promise> today", "“won't” negates it")
	both(mentions, passing, "I won't write <promise>\nAll tests passing\n</promise> today", "“won't” negates it")
	both(mentions, passing, "> fine\n\nI will not say 'All tests passing'", notWord)
	// In code it never counts,
	for _, text := range []string{
		"`All tests passing`", "- `All tests passing`", "I print `echo All tests passing` at the end", "``All tests passing ` ``",
		"```\nAll tests passing\n```", "```sh\n$ make\n\nAll tests passing\n```\nTwo fail.", "~~~\nAll tests passing\n~~~", "1. run\n   ```\n   All tests passing\n   ```",
		"- ```\n  All tests passing\n  ```", "````\n```\nAll tests passing\n```\n````", "```\nAll tests passing", "```\n> quoted\n```\n```\nAll tests passing\n```",
		"The log:\n\n    All tests passing\n", "\tAll tests passing", "The log:\n\n    a\n\n    All tests passing\n", "- The log:\n\n      All tests passing",
		"- a\n  1. b\n\n         c\n         All tests passing", "- a\n\nThe log:\n\n    All tests passing", "a `b` c `all tests passing` d",
	} {
		both(mentions, passing, text, inCode)
	}
	// in a block quote neither.
	for _, text := range []string{"> All tests passing", "You said:\n> Then say:\n> All tests passing\n\nI go on.", "  >All tests passing", "- > All tests passing"} {
		both(mentions, passing, text, inQuote)
	}
	// It may hold anything.
	atEnd(mentions, "`make` is green", "Now `make` is green.", counts)
	both(mentions, "`DONE`", "`DONE`", counts)
	both(mentions, "`DONE`", "```\n`DONE`\n```", inCode)
	atEnd(mentions, "a.*b (c|d)?", "so a.*b (c|d)? it is", counts)
	atEnd(mentions, "I am not done until it is green", `I say "I am not done until it is green"`, counts)
	atEnd(mentions, "Fertig ✅ 完了", "so: fertig ✅ 完了。", counts)
	both(mentions, "first\nsecond", "First\nsecond", counts)
	both(mentions, "first\nsecond", "- First\nsecond.\nthird", counts)
	both(mentions, "<promise>DONE</promise>", "<promise>done</promise>", counts)
	atEnd(mentions, "\u212aELVIN", "İ: kelvin, at last", counts)
	both(mentions, "KELVIN", "İ \u212a: I do not write 'kelvin'", notWord)
	both(mentions, "σας", "ΣΑΣ", counts)
	both(mentions, "a  b", "A  B", counts)
	both(mentions, "a b", "a  b", noWhere)
	both(mentions, "✅ all tests", "all tests", noWhere)
	both(mentions, passing, "tests passing", noWhere)
	both(mentions, "", "anything", noWhere)
	both(mentions, " \n", "anything \n", noWhere)

	for _, c := range last {
		c.check(t, c.text)
		c.check(t, "Begun.", c.text)
	}
	for _, c := range before {
		c.check(t, c.text, "Two of them fail.")
		c.check(t, "Begun.", c.text, "Two of them fail.")
	}
	// One that counts is enough, and of those that do not the latest is named.
	judged{mentions, passing, "", counts}.check(t, "`All tests passing`", "All tests passing", "> All tests passing")
	judged{mentions, passing, "", inQuote}.check(t, "`All tests passing`", "> All tests passing", "Well.")
	judged{mentions, passing, "", noWhere}.check(t)
}

// judged is the result of a form for a text.
type judged struct {
	form              host.Form
	marker, text, why string
}

func (c judged) check(t *testing.T, texts ...string) {
	t.Helper()
	if got := c.form.In(texts, c.marker); got != (c.why == counts) {
		t.Errorf("form %d, %q in %q: counts is %v", c.form, c.marker, texts, got)
	}
	got, want := c.form.Missed(texts, c.marker), ""
	if c.why != counts && c.why != noWhere {
		shown := strings.Join(strings.Fields(c.marker), " ")
		if c.form == host.Promised {
			shown = "<promise>" + shown + "</promise>"
		}
		want = "You have not yet written “" + shown + "” where it counts: " + c.why + ". When it is true, and not before, write it as plain text alone on a line."
	}
	if got != want {
		t.Errorf("form %d, %q in %q:\n%s\nwant\n%s", c.form, c.marker, texts, got, want)
	}
	// An agent that repeats what it reads has promised nothing.
	if c.form.In([]string{got}, c.marker) {
		t.Errorf("form %d, %q counts in its own explanation", c.form, c.marker)
	}
}

// A tag does not reach from one text to the next.
func TestPromiseOverTexts(t *testing.T) {
	judged{host.Promised, done, "", noWhere}.check(t, "<promise>DO", "NE</promise>")
}

// A marker is found, and not found, in texts of megabytes, whatever they consist of.
func TestMarkersInLargeTexts(t *testing.T) {
	const size = 1 << 20
	forms := []host.Form{host.Said, host.Promised, host.Mentions}
	for _, filler := range []string{"word ", "-", "- ", "1", "\n", "DONE ", "DONE\u00a0x\n", "<promise>", "</promise>", "[x]", "é", "\xff", "a", "not ", "`` ` "} {
		text := strings.Repeat(filler, size/len(filler))
		for i, marker := range []string{"DONE", "DONE", "NOPE"} {
			if forms[i].In([]string{"x" + text + "x"}, marker) {
				t.Errorf("form %d: found in %.10q…", i, filler)
			}
		}
		for _, form := range forms {
			if !form.In([]string{text + "\nDONE\n<promise>DONE</promise>", "last"}, "DONE") {
				t.Errorf("form %d: not found behind %.10q…", form, filler)
			}
		}
	}
	// Each of these has many places at which the promise does not count.
	for _, filler := range []string{
		"`DONE` ", "`DONE ``", "I do not say \"DONE\", ", "'DONE' \"DONE\" not ", "> DONE\n", "not <promise>DONE</promise> ", "not “DONE” !!!!!!!!!!", "- - - `DONE`\n", "\n\n    DONE\n",
		"not.) “DONE” not.... ", "\\`DONE\\` \r", "not 'DONE\t", "`<promise>DONE</promise>` not «DONE»", "DONEnot", "DONE\nDONE",
	} {
		text := strings.Repeat(filler, size/4/len(filler))
		for _, form := range forms {
			form.Missed([]string{text, "last"}, "DONE")
			form.Missed([]string{text}, "DONE")
			form.Missed([]string{text}, "D")
			if form != host.Promised && !form.In([]string{text + "\n\nDONE\n", "last"}, "DONE") {
				t.Errorf("form %d: not found behind %.10q…", form, filler)
			}
		}
	}
}

// Adding code, a quote or a negation to a text changes nothing; and a promise on a separate line counts, whatever is
// around it, unless a fence is open above it.
func FuzzPromise(f *testing.F) {
	for _, s := range []string{
		"", "All tests passing", "I will not say 'Kept ✅ it' yet", "> quote", "```\ncode\n```\n", "- item\n\n    more", "`a` <promise>Kept ✅ it</promise>",
		"\"open", "1. ``` 2", "\tcode\n\n", "~~~\n~~~~", "a\r\nb\rc", "\\`", "« kept ✅ IT", "İ\u212a\xff", "<promise>", "</promise><promise>", "no: a.b… 。",
	} {
		f.Add(s, s == "")
	}
	const marker = "Kept ✅ it"
	f.Fuzz(func(t *testing.T, text string, last bool) {
		for _, form := range []host.Form{host.Said, host.Promised, host.Mentions} {
			written := marker
			if form == host.Promised {
				written = "<promise>" + marker + "</promise>"
			}
			words := func(text string) []string {
				if last {
					return []string{"Before.", text}
				}
				return []string{"Before.", text, "After."}
			}
			test := func(text string) bool {
				counts := form.In(words(text), marker)
				if why := form.Missed(words(text), marker); counts && why != "" {
					t.Fatalf("%q in %q counts, but: %s", written, text, why)
				}
				return counts
			}
			if !test(written + "\n\n" + text) {
				t.Fatalf("%q does not count above %q", written, text)
			}
			if !test(text + "\n\n" + written + "\n") {
				if !strings.Contains(text, "```") && !strings.Contains(text, "~~~") {
					t.Fatalf("%q does not count below %q", written, text)
				}
				continue // in an open fence
			}
			before := test(text)
			for _, more := range []string{
				"\n\n~~~~~\n" + written + "\n~~~~~\n", "\n\n> " + written + "\n", "\n\nNow `" + written + "` is code.\n", "\n\nI will never say “" + written + "” here.\n",
			} {
				if after := test(text + more); after != before {
					t.Fatalf("%q counts in %q: %v, with %q: %v", written, text, before, more, after)
				}
				if why := form.Missed(words(text+more), marker); before == (why != "") {
					t.Fatalf("%q in %q with %q: %q", written, text, more, why)
				}
			}
		}
	})
}
