package policytest

import (
	"strings"

	"github.com/ralph-sdk/ralph/rules"
)

// Coverage is what the tests of one policy covered.
type Coverage struct {
	Policy string            `json:"policy"`
	When   []OperandCoverage `json:"when,omitempty"` // the operands of the policy's own when
	Rules  []RuleCoverage    `json:"rules"`
}

// RuleCoverage is how many tests reached a rule, and in how many it held.
type RuleCoverage struct {
	Rule     string            `json:"rule"`
	Pos      rules.Pos         `json:"pos"`
	Reached  int               `json:"reached"`
	Held     int               `json:"held"`
	Operands []OperandCoverage `json:"operands,omitempty"`
}

// OperandCoverage is how often an operand was true, false and unknown.
type OperandCoverage struct {
	Text    string `json:"text"`
	True    int    `json:"true"`
	False   int    `json:"false"`
	Unknown int    `json:"unknown"`
}

// Missed returns the outcomes of the operand that no test had: "true", "false", "true or false", or "". Unknown counts
// as false, since a rule does not hold with either.
func (o OperandCoverage) Missed() string {
	kept := o.False+o.Unknown > 0
	switch {
	case o.True == 0 && !kept:
		return "true or false"
	case o.True == 0:
		return "true"
	case !kept:
		return "false"
	}
	return ""
}

// Cover adds up the results of the tests of one policy.
func Cover(policy string, p *rules.Program, results []Result) Coverage {
	c := Coverage{Policy: policy}
	all, at := p.Rules(), map[string]int{}
	for _, part := range p.Outline() {
		switch i := len(c.Rules); part.Kind {
		case "when":
			c.When = unseen(part.Operands)
		case "rule":
			c.Rules = append(c.Rules, RuleCoverage{Rule: part.Name, Pos: all[i].Pos, Operands: unseen(part.Operands)})
			at[part.Name] = i
		}
	}
	for _, result := range results {
		trace := result.Record.Trace
		if trace.When != nil {
			see(c.When, trace.When)
		}
		for _, s := range trace.Steps {
			if i, ok := at[s.Rule]; ok {
				c.Rules[i].add(s)
			}
		}
	}
	return c
}

// unseen returns the coverage of operands before the first test.
func unseen(texts []string) []OperandCoverage {
	var out []OperandCoverage
	for _, text := range texts {
		out = append(out, OperandCoverage{Text: text})
	}
	return out
}

// Included reports whether the rule is in a guard that ships with ralph, which has its own tests and does not count.
func (r RuleCoverage) Included() bool { return strings.HasPrefix(r.Pos.File, "ralph:") }

func (r *RuleCoverage) add(s *rules.Step) {
	r.Reached++
	if s.Outcome == rules.Holds {
		r.Held++
	}
	see(r.Operands, s)
}

// see counts the outcomes of operands in a step.
func see(operands []OperandCoverage, s *rules.Step) {
	for _, seen := range s.Operands {
		for i := range operands {
			o := &operands[i]
			if o.Text != seen.Text {
				continue
			}
			switch holds, ok := seen.Value.(bool); {
			case seen.Unknown:
				o.Unknown++
			case ok && holds:
				o.True++
			default:
				o.False++
			}
		}
	}
}

// Counts returns how much of the policy the tests covered: rules that held in some test, and outcomes of operands, two
// of each.
func (c Coverage) Counts() (held, rules, seen, outcomes int) {
	count := func(operands []OperandCoverage) {
		for _, o := range operands {
			outcomes += 2
			switch o.Missed() {
			case "":
				seen += 2
			case "true", "false":
				seen++
			}
		}
	}
	count(c.When)
	for _, r := range c.Rules {
		if r.Included() {
			continue
		}
		rules++
		if r.Held > 0 {
			held++
		}
		count(r.Operands)
	}
	return held, rules, seen, outcomes
}

// Percent returns the covered share of rules and outcomes of operands, counted together. A policy without rules is
// fully covered.
func (c Coverage) Percent() float64 {
	held, all, seen, outcomes := c.Counts()
	if all+outcomes == 0 {
		return 100
	}
	return 100 * float64(held+seen) / float64(all+outcomes)
}
