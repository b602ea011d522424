package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/amount"
	"github.com/ralph-sdk/ralph/loop/replay"
	"github.com/ralph-sdk/ralph/project"
)

// logComparison is the result of diff --log.
type logComparison struct {
	Policy    string          `json:"policy"`
	Recorded  string          `json:"recorded"`
	Decisions []replay.Result `json:"decisions"`
	Same      int             `json:"same"`
	Differs   int             `json:"differs"`
	Unknown   int             `json:"unknown"`
}

// diffLog repeats decisions of OLD in the project with the policy NEW.
func (a *app) diffLog(ctx context.Context, p *project.Project, before, after string, set []string, format string) error {
	policy, err := p.Open(ctx, p.AtHand(after), project.Load{Set: set})
	if err != nil {
		return fmt.Errorf("%s: %w", after, err)
	}
	if old, err := p.Find(p.AtHand(before)); err == nil { // it may no longer exist
		before = old.Name
	}
	entries, err := p.History(project.Query{Policies: []string{before}, Match: isDecision})
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		return fmt.Errorf("the decision log has no decision by %s in this project", before)
	}
	records, err := recordsOf(entries)
	if err != nil {
		return err
	}
	out := logComparison{Policy: policy.Name, Recorded: before, Decisions: []replay.Result{}}
	for r := range withProgress(a, "deciding", records) {
		result := replay.Decide(ctx, policy.Program, r)
		switch result.Outcome {
		case replay.Same:
			out.Same++
		case replay.Differs:
			out.Differs++
			a.status = exitFindings
		default:
			out.Unknown++
		}
		out.Decisions = append(out.Decisions, result)
	}
	if format == "json" {
		return a.encodeJSON(out)
	}
	return writeLogComparison(a.stdout, out)
}

// writeLogComparison writes one line a decision and the counts.
func writeLogComparison(w io.Writer, r logComparison) error {
	var b strings.Builder
	fmt.Fprintf(&b, "decisions of %s, decided again by %s\n", r.Recorded, r.Policy)
	for _, d := range r.Decisions {
		what := d.Then.String()
		switch d.Outcome {
		case replay.Differs:
			what += "  →  " + d.Now.String()
		case replay.Unknown:
			what += "  →  unknown: " + strings.Join(d.Why, "; ")
		}
		fmt.Fprintf(&b, "%s  %-7s  %s\n", d.Time.Local().Format(time.DateTime), d.Outcome, what)
	}
	fmt.Fprintf(&b, "%s: %d same, %d different, %d unknown\n", amount.Of(len(r.Decisions), "decision"), r.Same, r.Differs, r.Unknown)
	_, err := io.WriteString(w, b.String())
	return err
}
