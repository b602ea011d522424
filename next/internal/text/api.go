package text

// Clean makes a text safe to show to an agent, a person, a log or a terminal: control characters but line breaks and tabs, bidi controls,
// tag characters and zero-width characters become visible or go away.
func Clean(s string) string { panic("later") }

// Line is Clean on one line: line breaks become visible too.
func Line(s string) string { panic("later") }

// Cut returns the first n characters of a text, and … if there were more.
func Cut(s string, n int) string { panic("later") }

// Tail returns the last n characters of a text, after … if there were more.
func Tail(s string, n int) string { panic("later") }

// Nearest returns "did you mean X?" for a name that is not known, or the list of what there is if that is short, or "".
func Nearest(name string, known []string) string { panic("later") }
