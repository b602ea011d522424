package transcript_test

import (
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/loop/transcript"
)

// Why a promise does not count, as the agent reads it.
const (
	counts   = ""
	inCode   = "it stands in code"
	inQuote  = "it stands in a block quote"
	midway   = "it stands in the middle of a text that is not your last one"
	noTag    = "its tag is missing"
	letters  = "its capital letters differ"
	noWhere  = "-" // it is not there at all
	negates  = "its sentence negates it with "
	notWord  = negates + "“not”"
	cannot   = negates + "“cannot”"
	until    = negates + "“until”"
	never    = negates + "“never”"
	without  = negates + "“without”"
	passing  = "All tests passing"
	done     = "DONE"
	finished = "<promise>DONE</promise>"
)

// Each row is an agent's only text in the turn, which is its last.
func TestPromiseInTheLastText(t *testing.T) {
	for _, c := range []struct{ promise, text, why string }{
		// It counts anywhere,
		{passing, "All tests passing", counts},
		{passing, "✅ All tests passing", counts},
		{passing, "**All tests passing**", counts},
		{passing, "Fixed the parser. All tests passing. The docs are next.", counts},
		{passing, "Great: all TESTS passing now", counts},
		{passing, "- parser fixed\n- all tests passing, lint too", counts},
		{passing, "# All tests passing", counts},
		{passing, "| suite | All tests passing |", counts},
		{passing, "Two tests failed before.\r\nNow: all tests passing.", counts},
		{passing, "1. Fixed it\n\n    All tests passing", counts}, // the list goes on
		{passing, "- a\n  - b\n\n    All tests passing", counts},
		{passing, "- a\n  - b\n\n  c\n\n     All tests passing", counts},
		{passing, "10. a\n\n\tAll tests passing", counts},
		{passing, "I ran it:\n    All tests passing", counts}, // no blank line, no code
		{passing, "<promise>All tests passing</promise>", counts},
		{passing, "Not all of it was easy. \"All tests passing\", at last.", counts},
		{passing, "I did not touch the docs. All tests passing.", counts},
		// and without quotation marks whatever stands around it.
		{passing, "I do not think more is needed, all tests passing", counts},

		// Quoting it is no harm,
		{passing, `So I can say "All tests passing" now.`, counts},
		{passing, "“All tests passing”", counts},
		{passing, "« All tests passing »", counts},
		{passing, "No failure is left, nothing is skipped: 'All tests passing'", counts},
		{passing, "It wasn't easy! 'All tests passing'.", counts},
		{passing, "I did not stop\n\"All tests passing\"", counts}, // alone on a line
		{passing, "I did not touch the docs\nStatus: \"All tests passing\"", counts},
		{passing, "- I did not touch the docs\n- \"All tests passing\", that is it", counts},
		{passing, "The agents' suite isn't slow. They report 'All tests passing'", counts},
		{passing, "(It is not much.) He says \"All tests passing\"", counts},
		// unless its sentence negates it.
		{passing, "I will not say 'All tests passing' yet", notWord},
		{passing, "I will not say\n'All tests passing' before they do", notWord},
		{passing, "I can't say \"All tests passing\".", negates + "“can't”"},
		{passing, "I can’t say “All tests passing”.", negates + "“can't”"},
		{passing, "I cannot say **\"All tests passing\"**.", cannot},
		{passing, "I will never write 'All tests passing' for that.", never},
		{passing, "It would be a lie without a run: 'All tests passing'", without},
		{passing, "I go on until I can say \"Great: all tests passing\".", until},
		{passing, "\"All tests passing\" is not what I see.", notWord},
		{passing, "Two tests fail, so \"All tests passing\" is not true, e.g. on Windows.", notWord},
		{passing, "I must not write, e.g. here, 'All tests passing'.", notWord},
		{passing, "I'm unable to write 'All tests passing'.", negates + "“unable”"},
		{passing, "I WILL NOT SAY 'ALL TESTS PASSING'", notWord},
		{passing, "He wrote “Do not say. All tests passing.”", notWord},
		{passing, "« All tests passing » is not yet true", notWord},
		{passing, "„All tests passing“ is not yet true", notWord},
		{passing, "I won't write <promise>All tests passing</promise> today", negates + "“won't”"},
		{passing, "> fine\n\nI will not say 'All tests passing'", notWord},

		// In code it never counts,
		{passing, "`All tests passing`", inCode},
		{passing, "- `All tests passing`", inCode},
		{passing, "I print `echo All tests passing` at the end", inCode},
		{passing, "``All tests passing ` ``", inCode},
		{passing, "two lines `of code\nAll tests passing` in one", inCode},
		{passing, "```\nAll tests passing\n```", inCode},
		{passing, "```sh\n$ make\n\nAll tests passing\n```\nTwo fail.", inCode},
		{passing, "~~~\nAll tests passing\n~~~", inCode},
		{passing, "1. run\n   ```\n   All tests passing\n   ```", inCode},
		{passing, "- ```\n  All tests passing\n  ```", inCode},
		{passing, "````\n```\nAll tests passing\n```\n````", inCode},
		{passing, "```\nAll tests passing", inCode}, // it never closes
		{passing, "```\n> quoted\n```\n```\nAll tests passing\n```", inCode},
		{passing, "The log:\n\n    All tests passing\n", inCode},
		{passing, "\tAll tests passing", inCode},
		{passing, "The log:\n\n    a\n\n    All tests passing\n", inCode},
		{passing, "- The log:\n\n      All tests passing", inCode}, // four columns behind the text of the item
		{passing, "- a\n  1. b\n\n         c\n         All tests passing", inCode},
		{passing, "- a\n\nThe log:\n\n    All tests passing", inCode}, // the list is over
		// in a block quote neither,
		{passing, "> All tests passing", inQuote},
		{passing, "You said:\n> Then say:\n> All tests passing\n\nI go on.", inQuote},
		{passing, "  >All tests passing", inQuote},
		{passing, "- > All tests passing", inQuote},
		// but beside them it does.
		{passing, "`make` says all tests passing in `ci`", counts},
		{passing, "```\nok\n```\nAll tests passing", counts},
		{passing, "```\nok\n``` \nAll tests passing", counts},
		{passing, "> Are you done?\nAll tests passing", counts},
		{passing, "The log:\n\n    ok\n\nAll tests passing", counts},
		{passing, "a stray ` and all tests passing", counts},
		{passing, "a stray ` is\n\nAll tests passing ` closed in no other paragraph", counts},
		{passing, "\\`All tests passing\\`", counts},
		{passing, "`All tests passing`\n\nAll tests passing", counts},
		{passing, "I won't say 'All tests passing' lightly. All tests passing.", counts},

		// A promise may hold anything.
		{"`make` is green", "Now `make` is green.", counts},
		{"`DONE`", "`DONE`", counts},
		{"`DONE`", "```\n`DONE`\n```", inCode},
		{`All "unit" tests`, `We have all "unit" tests.`, counts},
		{"a.*b (c|d)?", "so a.*b (c|d)? it is", counts},
		{"I am not done until it is green", `I say "I am not done until it is green"`, counts},
		{"Fertig ✅ 完了", "so: fertig ✅ 完了。", counts},
		{"全部完了", "「全部完了」 is not true", notWord},
		{"全部完了", "It is not so。「全部完了」", counts},
		{"\u212aELVIN", "İ: kelvin, which isn't \"quoted\"", counts},
		{"KELVIN", "İ \u212a: I do not write 'kelvin'", notWord},
		{"first\nsecond", "First\nsecond", counts},

		// In its tag it counts anywhere,
		{finished, "ok <promise>DONE</promise> bye", counts},
		{finished, "**<promise> DONE\n</promise>**", counts},
		{finished, "I did not expect it. <promise>DONE</promise>", counts},
		{finished, "It is not much\n<promise>DONE</promise>", counts},
		{finished, "<promise>\n\n    DONE\n\n</promise>", counts},
		{finished, "`<promise>DONE</promise>`\n\n<promise>DONE</promise>", counts},
		{"<promise>a*b `c`</promise>", "<promise>a*b `c`</promise>", counts},
		{"<promise>I do not stop</promise>", "So <promise>I do not stop</promise>", counts},
		// but for code, quotes and sentences that negate it.
		{finished, "I cannot say `<promise>DONE</promise>` yet", inCode},
		{finished, "I cannot say <promise>DONE</promise> yet", cannot},
		{finished, "I will output <promise>DONE</promise> when finished; not yet.", notWord},
		{finished, "- <promise>DONE</promise> only comes when no test fails, never before", never},
		{finished, "> <promise>DONE</promise>", inQuote},
		{finished, "```\n<promise>DONE</promise>\n```", inCode},
		// What was meant as one is said too.
		{finished, "**DONE**", noTag},
		{finished, "<promise>done</promise>", letters},
		{finished, "<PROMISE>DONE</PROMISE>", letters},
		{finished, "We are DONE with part 1", noWhere},
		{finished, "`DONE`", noTag},
		{finished, "Done.", noWhere},
		{finished, "<promise>NOT DONE</promise>", noWhere},
		{passing, "tests passing", noWhere},
		{"", "anything", noWhere},
		{"<promise> </promise>", "<promise> </promise>", noWhere},
	} {
		judged(t, []string{c.text}, c.promise, c.why)
	}
}

// An earlier text of the turn counts if it is the promise, and not if it speaks of it.
func TestPromiseInAnEarlierText(t *testing.T) {
	const last = "Two tests fail."
	for _, c := range []struct{ promise, text, why string }{
		{passing, "All tests passing", counts},
		{passing, "Fixed it.\n\n**All tests passing!**\n\nNow I clean up.", counts},
		{passing, "- ✅ all tests passing", counts},
		{passing, "So <promise>All tests passing</promise>, now I clean up.", counts},
		{passing, "So <promise> ✅ All tests passing. </promise>, now I clean up.", counts},
		{passing, "The goal is all tests passing.", midway},
		{passing, "So \"All tests passing\" is the goal.", midway},
		{passing, "All tests passing?", midway},
		{passing, "I will not say 'All tests passing' yet", notWord},
		{passing, "I won't say <promise>All tests passing</promise> yet", negates + "“won't”"},
		{passing, "`All tests passing`", inCode},
		{passing, "> All tests passing", inQuote},
		{finished, "<promise>DONE</promise> Now I clean up.", counts},
		{finished, "I cannot say <promise>DONE</promise>.", cannot},
		{finished, done, noTag},
	} {
		judged(t, []string{c.text, last}, c.promise, c.why)
		judged(t, []string{"Begun.", c.text, last}, c.promise, c.why)
	}
	// One that counts is enough, and of those that do not the latest is spoken of.
	judged(t, []string{"`All tests passing`", "All tests passing", "> All tests passing"}, passing, counts)
	judged(t, []string{"`All tests passing`", "> All tests passing", "Well."}, passing, inQuote)
	judged(t, nil, passing, noWhere)
}

func judged(t *testing.T, texts []string, promise, why string) {
	t.Helper()
	inner, tagged := strings.CutPrefix(promise, "<promise>")
	inner = strings.TrimSuffix(inner, "</promise>")
	got := transcript.Mentions(texts, promise)
	if tagged {
		got = transcript.Promised(texts, inner)
	}
	if got != (why == counts) {
		t.Errorf("%q in %q: counts is %v", promise, texts, got)
	}
	answer := transcript.Uncounted(texts, promise)
	if why == counts || why == noWhere {
		if answer != "" {
			t.Errorf("%q in %q: %s", promise, texts, answer)
		}
		return
	}
	want := "You wrote the promise, but it did not count: " + why + ". When it is true, and not before, write this as plain text on a line of its own: “" + promise + "”"
	if answer != want {
		t.Errorf("%q in %q:\n%s\nwant\n%s", promise, texts, answer, want)
	}
	// An agent that repeats what it was told has promised nothing.
	judgedOnce := transcript.Mentions([]string{answer}, promise)
	if tagged {
		judgedOnce = transcript.Promised([]string{answer}, inner)
	}
	if judgedOnce {
		t.Errorf("%q counts in its own explanation", promise)
	}
}

// What is added to a text as code, as a quote or in a sentence that negates it changes nothing; and a promise on a
// line of its own counts, whatever stands around it, unless a fence is open above it.
func FuzzPromise(f *testing.F) {
	for _, s := range []string{
		"", "All tests passing", "I will not say 'Kept ✅ it' yet", "> quote", "```\ncode\n```\n", "- item\n\n    more", "`a` <promise>Kept ✅ it</promise>",
		"\"open", "1. ``` 2", "\tcode\n\n", "~~~\n~~~~", "a\r\nb\rc", "\\`", "« kept ✅ IT", "İ\u212a\xff", "<promise>", "</promise><promise>", "e.g. a.b… 。",
	} {
		f.Add(s, s == "")
	}
	f.Fuzz(func(t *testing.T, text string, last bool) {
		for _, promise := range []string{"Kept ✅ it", "<promise>Kept ✅ it</promise>"} {
			words := func(text string) []string {
				if last {
					return []string{"Before.", text}
				}
				return []string{"Before.", text, "After."}
			}
			test := func(text string) bool {
				counts := transcript.Mentions(words(text), promise)
				if strings.HasPrefix(promise, "<") {
					counts = transcript.Promised(words(text), "Kept ✅ it")
				}
				if why := transcript.Uncounted(words(text), promise); counts && why != "" {
					t.Fatalf("%q in %q counts, but: %s", promise, text, why)
				}
				return counts
			}
			if !test(promise + "\n\n" + text) {
				t.Fatalf("%q does not count above %q", promise, text)
			}
			if !test(text + "\n\n" + promise + "\n") {
				if !strings.Contains(text, "```") && !strings.Contains(text, "~~~") {
					t.Fatalf("%q does not count below %q", promise, text)
				}
				continue // in an open fence
			}
			before := test(text)
			for _, more := range []string{
				"\n\n~~~~~\n" + promise + "\n~~~~~\n", "\n\n> " + promise + "\n", "\n\nNow `" + promise + "` is code.\n", "\n\nI will never say “" + promise + "” here.\n",
			} {
				if after := test(text + more); after != before {
					t.Fatalf("%q counts in %q: %v, with %q: %v", promise, text, before, more, after)
				}
				if why := transcript.Uncounted(words(text+more), promise); before == (why != "") {
					t.Fatalf("%q in %q with %q: %q", promise, text, more, why)
				}
			}
		}
	})
}
