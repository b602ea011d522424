package rules_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/rules"
)

// AppendJSON writes what encoding/json does.
func TestTraceAppendJSON(t *testing.T) {
	for name, trace := range map[string]rules.Trace{
		"zero":     {},
		"no steps": {Steps: []rules.Step{}},
		"steps": {Steps: []rules.Step{
			{Rule: "first", Outcome: rules.Unknown, Because: `phase == "x"`, Pos: rules.Pos{File: "p.yaml", Line: 3, Col: 5}, Took: time.Microsecond,
				Operands: []rules.OperandStep{
					{Text: `phase == "x"`, Unknown: true, Problem: "is missing", Reads: []rules.Read{{Name: "phase", State: "missing"}}},
					{Text: "n < 3", Value: true, Reads: []rules.Read{{Name: "n", Value: 2}}},
				}},
			{Rule: "second", Outcome: rules.Holds},
		}},
		"explained": {
			Steps:    []rules.Step{{}},
			Facts:    []rules.FactRead{{}, {Name: "state", Source: "json", Status: rules.Invalid, Defaulted: true, Path: "a.json", Problem: "1:2", Took: 1}},
			Inputs:   []rules.Input{{}, {Name: "state#/a", Value: []any{1, "<b>"}, Cut: true, Told: true}},
			Warnings: []string{"a", "ä"},
		},
	} {
		want, err := json.Marshal(trace)
		if err != nil {
			t.Fatal(err)
		}
		got, err := trace.AppendJSON([]byte("trace: "))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff("trace: "+string(want), string(got)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
	bad := rules.Trace{Inputs: []rules.Input{{Name: "state#/a", Value: math.NaN()}}}
	if got, err := bad.AppendJSON(nil); err == nil {
		t.Errorf("%s, want an error", got)
	}
}
