package main

import (
	"fmt"
	"strings"
	"time"
)

// junit writes the results in the form that build servers read: one suite a file.
func junit(r testReport) string {
	var b strings.Builder
	broken := 0
	for _, f := range r.Files {
		if f.Broken != nil {
			broken++
		}
	}
	b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
	fmt.Fprintf(&b, "<testsuites tests=\"%d\" failures=\"%d\" errors=\"%d\">\n", r.Passed+r.Failed+broken, r.Failed, broken)
	for _, f := range r.Files {
		if f.Broken != nil {
			fmt.Fprintf(&b, "  <testsuite name=\"%s\" tests=\"1\" failures=\"0\" errors=\"1\" time=\"%s\">\n", xmlText(f.File), seconds(f.Took))
			fmt.Fprintf(&b, "    <testcase classname=\"%s\" name=\"load\" file=\"%s\">\n", xmlText(f.File), xmlText(f.File))
			fmt.Fprintf(&b, "      <error message=\"the tests could not be run\">%s</error>\n    </testcase>\n  </testsuite>\n", xmlText(f.Broken.Format()))
			continue
		}
		fmt.Fprintf(&b, "  <testsuite name=\"%s\" tests=\"%d\" failures=\"%d\" errors=\"0\" time=\"%s\">\n", xmlText(f.File), len(f.Tests), f.failed(), seconds(f.Took))
		for _, t := range f.Tests {
			fmt.Fprintf(&b, "    <testcase classname=\"%s\" name=\"%s\" file=\"%s\" line=\"%d\" time=\"%s\"", xmlText(f.File), xmlText(t.Name), xmlText(f.File), t.Pos.Line, seconds(t.Took))
			if t.Passed() {
				b.WriteString("/>\n")
				continue
			}
			var text strings.Builder
			writeFailure(&text, t)
			fmt.Fprintf(&b, ">\n      <failure message=\"%s\">%s</failure>\n    </testcase>\n", xmlText(t.Failures[0].What), xmlText(text.String()))
		}
		b.WriteString("  </testsuite>\n")
	}
	b.WriteString("</testsuites>\n")
	return b.String()
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.6f", d.Seconds()) }

// xmlText writes a text so that it may stand in an attribute and between tags. What
// XML does not allow becomes U+FFFD.
func xmlText(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case r == '"':
			b.WriteString("&quot;")
		case r == '\n', r == '\t':
			fmt.Fprintf(&b, "&#%d;", r)
		case r < ' ', r == 0xfffe, r == 0xffff:
			b.WriteRune('\ufffd')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
