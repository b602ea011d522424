package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/amount"
	"github.com/ralph-sdk/ralph/policytest"
)

// writeTests prints the results: one line a file, each failure with what was expected and the way to the decision.
func writeTests(w io.Writer, r testReport, f testFlags) error {
	var b strings.Builder
	for _, file := range r.Files {
		if file.Broken != nil {
			fmt.Fprintf(&b, "FAIL  %s  could not be run\n%s", file.File, indented(file.Broken.Format(), "  "))
			continue
		}
		for _, t := range file.Tests {
			switch {
			case !t.Passed():
				writeFailure(&b, t)
			case f.run != "":
				fmt.Fprintf(&b, "ok    %s%s\n", t.Name, took(t.Took))
			}
		}
		switch failed := file.failed(); {
		case len(file.Tests) == 0:
			fmt.Fprintf(&b, "----  %s  no test matches\n", file.File)
		case failed > 0:
			fmt.Fprintf(&b, "FAIL  %s  %d of %s failed%s\n", file.File, failed, amount.Of(len(file.Tests), "test"), took(file.Took))
		default:
			fmt.Fprintf(&b, "ok    %s  %s%s\n", file.File, amount.Of(len(file.Tests), "test"), took(file.Took))
		}
	}
	switch {
	case len(r.Files) == 0:
		b.WriteString("there are no tests here: write them beside a policy, those of policy.yaml in policy" + policytest.Suffix + "; run `ralph help test`\n")
	case r.Passed+r.Failed == 0 && f.run != "":
		fmt.Fprintf(&b, "no test matches %s\n", f.run)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeFailure(b *strings.Builder, t policytest.Result) {
	fmt.Fprintf(b, "FAIL  %s  %s\n", t.Name, t.Pos)
	for _, f := range t.Failures {
		b.WriteString(indented(f.String()+"\n", "  "))
	}
	for _, h := range t.Hints {
		fmt.Fprintf(b, "  hint: %s\n", h)
	}
	if t.Record.Event == "" {
		return // it has no decision
	}
	var why strings.Builder
	if err := writeExplanation(&why, t.Record, "", ""); err == nil {
		fmt.Fprintf(b, "\n%s\n", indented(why.String(), "    "))
	}
}

func indented(s, by string) string {
	lines := strings.SplitAfter(s, "\n")
	for i, l := range lines {
		if strings.TrimSpace(l) != "" {
			lines[i] = by + l
		}
	}
	return strings.Join(lines, "")
}

// writeUnseen prints the outcomes of operands that no test had.
func writeUnseen(b *strings.Builder, operands []policytest.OperandCoverage) {
	for _, o := range operands {
		if missed := o.Missed(); missed != "" {
			fmt.Fprintf(b, "      ▸ never seen %s: %s\n", missed, oneLine(o.Text))
		}
	}
}

// writeCoverage prints the table of rules, and what no test covered.
func (a *app) writeCoverage(r testReport, f testFlags) error {
	if !f.covered {
		return nil
	}
	var b strings.Builder
	for _, c := range r.Coverage {
		held, all, seen, outcomes := c.Counts()
		fmt.Fprintf(&b, "\n%s  %.1f %%  %d of %d rules held, %d of %d outcomes of operands seen\n", c.Policy, c.Percent(), held, all, seen, outcomes)
		width := len("rule")
		if slices.ContainsFunc(c.When, func(o policytest.OperandCoverage) bool { return o.Missed() != "" }) {
			b.WriteString("  the policy's own when\n")
			writeUnseen(&b, c.When)
		}
		for _, rule := range c.Rules {
			width = max(width, len(rule.Rule))
		}
		fmt.Fprintf(&b, "  %-*s  reached  held\n", width, "rule")
		for _, rule := range c.Rules {
			mark := ""
			switch {
			case rule.Included():
			case rule.Reached == 0:
				mark = "  ▸ no test reaches it"
			case rule.Held == 0:
				mark = "  ▸ it holds in no test"
			}
			fmt.Fprintf(&b, "  %-*s  %7d  %4d%s\n", width, rule.Rule, rule.Reached, rule.Held, mark)
			if rule.Reached > 0 && !rule.Included() {
				writeUnseen(&b, rule.Operands)
			}
		}
	}
	if f.threshold > 0 && r.Percent < f.threshold {
		fmt.Fprintf(&b, "\nFAIL  %.1f %% covered, less than %g %%\n", r.Percent, f.threshold)
	}
	_, err := io.WriteString(a.stdout, b.String())
	return err
}
