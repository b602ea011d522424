package main

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
	"github.com/ralph-sdk/ralph/state"
)

// coverage reads the profiles that go test -coverprofile writes:
//
//	facts:
//	  cover: {coverage: coverage.out}
//
// The value has statements, covered (both counts) and percent (0 to 100, one
// decimal). The zero coverage is ready to use.
type coverage struct{}

// Kind declares the source, so that rules.Load knows its key and the types of its
// fields: a rule that asks for cover.precent is then refused at its place.
func (coverage) Kind() rules.SourceKind {
	return rules.SourceKind{
		Name:     "coverage",
		Doc:      "A coverage profile of go test.",
		Argument: "path",
		Value: rules.SourceValue{Type: &schema.Schema{Kind: schema.Object, Fields: map[string]*schema.Schema{
			"statements": {Kind: schema.Int},
			"covered":    {Kind: schema.Int},
			"percent":    {Kind: schema.Number},
		}}},
	}
}

// Gather reads the profile, never outside of the project's root, whatever the path is. A profile that does not exist is
// missing, and a file that is not a profile is invalid; the policy decides what follows from that.
func (coverage) Gather(ctx context.Context, q loop.Query) rules.Value {
	doc, v := q.Read(ctx, state.Text)
	if v.Status != rules.OK {
		return v
	}
	total, covered, err := count(doc.Text)
	if err != nil {
		v.Status, v.Problem = rules.Invalid, err.Error()
		return v
	}
	percent := 100.0
	if total > 0 {
		percent = math.Round(1000*float64(covered)/float64(total)) / 10
	}
	v.V = map[string]any{"statements": total, "covered": covered, "percent": percent}
	return v
}

// count adds up a profile. Its lines are FILE:SPAN STATEMENTS RUNS, below a first
// line that names the mode.
func count(profile string) (total, covered int, err error) {
	for i, line := range strings.Split(profile, "\n") {
		if i == 0 && strings.HasPrefix(line, "mode: ") {
			continue
		}
		fields := strings.Fields(line)
		if len(fields) != 3 {
			return 0, 0, fmt.Errorf("is no coverage profile: %d:1: expected a block and two numbers", i+1)
		}
		statements, err := strconv.ParseUint(fields[1], 10, 31)
		if err != nil {
			return 0, 0, fmt.Errorf("is no coverage profile: %d:1: %q is no count", i+1, fields[1])
		}
		total += int(statements)
		if fields[2] != "0" {
			covered += int(statements)
		}
	}
	return total, covered, nil
}
