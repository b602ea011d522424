package schema

import (
	"maps"
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"regexp/syntax"
	"slices"
	"sync"
	"time"
)

// maxFormatted is how many bytes a string with a format has at most: the parsers quote what they refuse.
const maxFormatted = 2 << 10

// format is a format of strings. The values stay strings. An empty string is accepted, as it is how a document says that
// there is no value.
type format struct {
	parses         func(string) bool
	expected, help string
}

// formats are the formats that are checked. What date-time and go-duration accept, the functions date and duration of rules
// read.
var formats = map[string]*format{
	"date":        {parses: inLayout(time.DateOnly)},
	"date-time":   {inLayout(time.RFC3339, time.DateTime, time.DateOnly), "a time", "write a time such as 2026-11-20T12:00:00Z"},
	"email":       {parses: isEmail},
	"go-duration": {isDuration, "a duration", "write a duration such as 30m"},
	"hostname":    {parses: matches(`^([a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\.)*[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\.?$`)},
	"ipv4":        {parses: func(s string) bool { ip, err := netip.ParseAddr(s); return err == nil && ip.Is4() }},
	"ipv6":        {parses: func(s string) bool { ip, err := netip.ParseAddr(s); return err == nil && ip.Is6() && ip.Zone() == "" }},
	"regex":       {parses: func(s string) bool { _, err := syntax.Parse(s, syntax.Perl); return err == nil }},
	"time":        {parses: inLayout("15:04:05Z07:00")},
	"uri":         {parses: func(s string) bool { u, err := url.Parse(s); return err == nil && u.IsAbs() }},
	"uuid":        {parses: matches(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)},
}

func (f *format) accepts(text string) bool {
	return text == "" || len(text) <= maxFormatted && f.parses(text)
}

// inLayout accepts what is written in one of the layouts. Beside RFC 3339 people write a date alone, and a space without a
// zone, which is UTC.
func inLayout(layouts ...string) func(string) bool {
	return func(text string) bool {
		return slices.ContainsFunc(layouts, func(layout string) bool { _, err := time.Parse(layout, text); return err == nil })
	}
}

func isDuration(text string) bool {
	d, err := time.ParseDuration(text)
	return err == nil && d >= 0
}

func isEmail(text string) bool {
	address, err := mail.ParseAddress(text)
	return err == nil && address.Name == "" && address.Address == text
}

func matches(expr string) func(string) bool {
	compiled := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
	return func(text string) bool { return compiled().MatchString(text) }
}

// formatNames returns the formats that are checked, sorted.
func formatNames() []string { return slices.Sorted(maps.Keys(formats)) }
