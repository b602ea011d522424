package schema

import (
	"maps"
	"slices"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// maxFormatted bounds a string with a format, in bytes: parsers quote what they reject.
const maxFormatted = 2 << 10

// format is a format of strings. The values stay strings. An empty string is valid, because documents use it for no
// value.
type format struct {
	parses         func(string) bool
	expected, help string
}

// formats are the formats that the functions date and duration of rules accept. The library checks all others.
var formats = map[string]*format{
	"date-time":   {inLayout(time.RFC3339, time.DateTime, time.DateOnly), "a time", "write a time such as 2026-11-20T12:00:00Z"},
	"go-duration": {isDuration, "a duration", "write a duration such as 30m"},
}

// formatOf returns a format by its name, nil if it is unknown.
func formatOf(name string) *format {
	if f := formats[name]; f != nil {
		return f
	}
	if accepts := jsonschema.Formats[name]; accepts != nil {
		return &format{parses: func(text string) bool { return accepts(text) }}
	}
	return nil
}

func (f *format) accepts(text string) bool {
	return text == "" || len(text) <= maxFormatted && f.parses(text)
}

// inLayout accepts strings in one of the layouts. Besides RFC 3339 people write a date, or a date and time with a space
// and without a zone, which is UTC.
func inLayout(layouts ...string) func(string) bool {
	return func(text string) bool {
		return slices.ContainsFunc(layouts, func(layout string) bool { _, err := time.Parse(layout, text); return err == nil })
	}
}

func isDuration(text string) bool {
	d, err := time.ParseDuration(text)
	return err == nil && d >= 0
}

// formatNames returns the names of the known formats, sorted.
func formatNames() []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(formats)), maps.Keys(jsonschema.Formats))
	slices.Sort(names)
	return slices.Compact(names)
}
