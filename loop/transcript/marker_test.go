package transcript_test

import (
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/loop/transcript"
)

func TestSaid(t *testing.T) {
	const marker = "ALL_DONE"
	yes := []string{
		"ALL_DONE", "Ready.\n\nALL_DONE", "ALL_DONE\n\nPR: https://example.com/1", "a\r\nALL_DONE\r\nb", "a\rALL_DONE\rb",
		"  ALL_DONE\t ", "**ALL_DONE**", "__ALL_DONE__", "*ALL_DONE*", "_ALL_DONE_", "# ALL_DONE", "## ALL_DONE ##", "### **ALL_DONE**",
		"- ALL_DONE", "* ALL_DONE", "+ ALL_DONE", "1. ALL_DONE", "12) **ALL_DONE**", "- [x] ALL_DONE", "> ALL_DONE", "> - ALL_DONE",
		"`ALL_DONE`", "```\nALL_DONE\n```", `"ALL_DONE"`, "'ALL_DONE'", "“ALL_DONE”", "«ALL_DONE»", "(ALL_DONE)", "[ALL_DONE]", "| ALL_DONE |",
		"ALL_DONE.", "ALL_DONE!", "ALL_DONE:", "✅ ALL_DONE", "ALL_DONE ✔️", "🎉 **ALL_DONE** 🎉", "\u00a0ALL_DONE", "no ALL_DONE yet\nALL_DONE",
	}
	no := []string{
		"", "ALL DONE", "all_done", "All_Done", "NOT_ALL_DONE", "x\nALL_DONES", "I will print ALL_DONE later", "Verified. ALL_DONE",
		"ALL_DONE 2", "2 ALL_DONE", "ALL_DONE?", "ALL_DONE: no", "- [ ] ALL_DONE", "~~ALL_DONE~~", "❌ ALL_DONE", "$ALL_DONE", "%ALL_DONE%",
		"<ALL_DONE>", "/ALL_DONE", "// ALL_DONE", `grep "ALL_DONE" file`, "ALL_DONE ALL_DONE", "ALL_\nDONE", "aALL_DONE", "éALL_DONE",
	}
	for _, text := range yes {
		if !transcript.Said([]string{"before", text, "after"}, marker) {
			t.Errorf("%q does not say it", text)
		}
	}
	for _, text := range no {
		if transcript.Said([]string{"before", text, "after"}, marker) {
			t.Errorf("%q says it", text)
		}
	}
}

// Markers may look like ornament themselves.
func TestSaidOddMarkers(t *testing.T) {
	for _, c := range []struct {
		marker, text string
		want         bool
	}{
		{"", "", false},
		{" \n", " ", false},
		{"a\nb", "a\nb", false},
		{" DONE ", "DONE", true},
		{"**DONE**", "**DONE**", true},
		{"**DONE**", "DONE", false},
		{"<done/>", "<done/>", true},
		{"1. DONE", "1. DONE", true},
		{"[x] DONE", "- [x] DONE", true},
		{"DONE?", "DONE?", true},
		{"全部完了", "→\n全部完了。", true},
		{"--", "x --", false},
		{"--", "-----", true},
		{"all is done", "**all is done**", true},
		{"\xff", "a\xff", false},
	} {
		if got := transcript.Said([]string{c.text}, c.marker); got != c.want {
			t.Errorf("Said(%q, %q) = %v", c.text, c.marker, got)
		}
	}
	if transcript.Said(nil, "DONE") {
		t.Error("nobody said it")
	}
}

func TestPromised(t *testing.T) {
	for _, c := range []struct {
		promise, text string
		want          bool
	}{
		{"DONE", "ok <promise>DONE</promise> bye", true},
		{"DONE", "<promise>\n DONE \n</promise>", true},
		{"ALL DONE", "<promise>\n ALL\t  DONE</promise>", true},
		{"ALL  DONE", "<promise>ALL DONE</promise>", true},
		{"ALL  DONE", "<promise>ALL  DONE</promise>", true},
		{"DONE", "<promise>NO</promise> <promise>DONE</promise>", true},
		{"DONE", "<promise>DONE</promise> <promise>NO</promise>", true},
		{"DONE", "a <promise> that stays open <promise>DONE</promise>", true},
		{"DONE", "</promise><promise>DONE</promise>", true},
		{"Fertig ✅ 完了", "so: <promise>Fertig ✅ 完了</promise>", true},
		{"a*b", "<promise>a*b</promise>", true},

		{"DONE", "DONE", false},
		{"DONE", "We are DONE with part 1", false},
		{"DONE", "<promise>done</promise>", false},
		{"DONE", "<promise>NOT DONE</promise>", false},
		{"DONE", "<promise>DONE and more to come", false},
		{"DONE", "DONE</promise>", false},
		{"DONE", "<PROMISE>DONE</PROMISE>", false},
		{"a*b", "<promise>aXXb</promise>", false},
		{"", "<promise></promise>", false},
		{" ", "<promise> </promise>", false},
	} {
		if got := transcript.Promised([]string{"before", c.text, "after"}, c.promise); got != c.want {
			t.Errorf("Promised(%q, %q) = %v", c.text, c.promise, got)
		}
	}
	if transcript.Promised([]string{"<promise>DO", "NE</promise>"}, "DONE") {
		t.Error("a tag does not reach from one text to the next")
	}
}

func TestMentions(t *testing.T) {
	for _, c := range []struct {
		want bool
		text string
		in   string
	}{
		{true, "All tests passing", "Great: all TESTS passing now"},
		{true, "✅ all tests", "Result: ✅ All Tests passing."},
		{true, "FERTIG ÄÖÜ É", "fertig äöü é"},
		{true, "σας", "ΣΑΣ"},
		{true, "kelvin", "\u212aelvin"},
		{true, "a  b", "A  B"},
		{false, "a b", "a  b"},
		{false, "All tests passing", "All tests\npassing"},
		{false, "✅ all tests", "all tests"},
		{false, "All tests passing", "tests passing"},
		{false, "", "anything"},
		{false, " ", "any thing"},
	} {
		if got := transcript.Mentions([]string{"before", c.in}, c.text); got != c.want {
			t.Errorf("Mentions(%q, %q) = %v", c.in, c.text, got)
		}
	}
}

// A marker is found, and not found, in texts of megabytes whatever they are made of.
func TestMarkersInLargeTexts(t *testing.T) {
	const size = 1 << 20
	for _, filler := range []string{"word ", "-", "- ", "1", "\n", "DONE ", "DONE\u00a0x\n", "<promise>", "</promise>", "[x]", "é", "\xff"} {
		text := strings.Repeat(filler, size/len(filler))
		if transcript.Said([]string{"x" + text + "x"}, "DONE") || transcript.Promised([]string{text}, "DONE") || transcript.Mentions([]string{text}, "NOPE") {
			t.Errorf("found in %.10q…", filler)
		}
		whole := []string{text + "\nDONE\n<promise>DONE</promise>"}
		if !transcript.Said(whole, "DONE") || !transcript.Promised(whole, "DONE") || !transcript.Mentions(whole, "done") {
			t.Errorf("not found behind %.10q…", filler)
		}
	}
	// Each of these has many places at which the promise does not count.
	for _, filler := range []string{
		"`DONE` ", "`DONE ``", "I do not say \"DONE\", ", "'DONE' \"DONE\" not ", "> DONE\n", "not <promise>DONE</promise> ", "not “DONE” !!!!!!!!!!", "- - - `DONE`\n", "\n\n    DONE\n",
		"not.) “DONE” not.... ", "\\`DONE\\\\` \r", "not 'DONE\t", "`<promise>DONE</promise>` not «DONE»",
	} {
		text := strings.Repeat(filler, size/4/len(filler))
		for _, form := range []string{"done", "<promise>DONE</promise>"} {
			transcript.Uncounted([]string{text, "last"}, form)
			transcript.Uncounted([]string{text}, form)
		}
		if !transcript.Mentions([]string{text + "\n\nDONE\n", "last"}, "done") {
			t.Errorf("not found behind %.10q…", filler)
		}
	}
}
