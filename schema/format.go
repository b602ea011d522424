package schema

import (
	"maps"
	"slices"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// maxFormatted is how many bytes a duration or a time has at most: the parsers quote what they refuse.
const maxFormatted = 64

// format is a format that ralph checks in its own way. The values stay strings. An empty string is accepted, as it is how
// a document says that there is no value.
type format struct {
	parses         func(string) bool
	expected, help string
}

// formats are the formats that go before those of the library. What they accept, the functions date and duration of rules
// read.
var formats = map[string]*format{
	"date-time":   {isTime, "a time", "write a time such as 2026-11-20T12:00:00Z"},
	"go-duration": {isDuration, "a duration", "write a duration such as 30m"},
}

func (f *format) accepts(text string) bool {
	return text == "" || len(text) <= maxFormatted && f.parses(text)
}

// isTime accepts what people write in a file beside RFC 3339: a date alone, and a space without a zone, which is UTC.
func isTime(text string) bool {
	for _, layout := range [...]string{time.RFC3339, time.DateTime, time.DateOnly} {
		if _, err := time.Parse(layout, text); err == nil {
			return true
		}
	}
	return false
}

func isDuration(text string) bool {
	d, err := time.ParseDuration(text)
	return err == nil && d >= 0
}

// formatNames returns the formats that are checked, sorted.
func formatNames() []string {
	all := maps.Clone(jsonschema.Formats)
	for name := range formats {
		all[name] = nil
	}
	return slices.Sorted(maps.Keys(all))
}
