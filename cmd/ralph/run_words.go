package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/run"
)

// outcomes returns the counts of iterations by outcome, most frequent first; "" if all are ok.
func outcomes(n map[run.Outcome]int) string {
	if n[run.OK] == 0 && len(n) == 0 || n[run.OK] > 0 && len(n) == 1 {
		return ""
	}
	all := slices.SortedFunc(maps.Keys(n), func(a, b run.Outcome) int {
		return cmp.Or(cmp.Compare(n[b], n[a]), cmp.Compare(a, b))
	})
	words := make([]string, len(all))
	for i, o := range all {
		words[i] = fmt.Sprintf("%d %s", n[o], o)
	}
	return strings.Join(words, ", ")
}

// bar returns a progress bar, "" if there is no work.
func bar(done, total float64) string {
	const width = 10
	if !(total > 0) {
		return ""
	}
	full := int(min(max(done/total, 0), 1) * width)
	return strings.Repeat("█", full) + strings.Repeat("░", width-full)
}

// outcomeWords describes how an iteration ended.
func outcomeWords(ev run.Event) string {
	words := map[run.Outcome]string{
		run.OK: "is done", run.RateLimited: "met a rate limit", run.Auth: "could not sign in", run.Billing: "could not be paid",
		run.TurnLimit: "reached a limit of the client", run.ContextOverflow: "overflowed its context", run.OverBudget: "reached the client's budget",
		run.Timeout: "took too long", run.Crashed: "failed", run.Interrupted: "was interrupted", run.Lost: "was lost",
	}[ev.Outcome]
	if words == "" {
		words = string(ev.Outcome)
	}
	return words
}

// closing returns how a run ended, and why, without repeating what the reason begins with.
func closing(ev run.Event) string {
	words := string(project.Outcome(ev.Ended))
	rest, repeated := strings.CutPrefix(ev.Why, words)
	switch {
	case ev.Why == "":
		return words
	case repeated && (rest == "" || rest[0] == ' '):
		return ev.Why
	}
	return words + ": " + ev.Why
}

// clock returns a local time, with the date if it is not today.
func clock(at, now time.Time) string {
	at, now = at.Local(), now.Local()
	if at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		return at.Format(time.TimeOnly)
	}
	return at.Format(time.DateTime)
}

// used returns what a run has used so far.
func used(t run.Totals) string {
	words := []string{t.Elapsed.Round(time.Second).String()}
	if t.Tokens > 0 {
		words = append(words, thousands(t.Tokens)+" tokens")
	}
	if t.Cost != nil {
		words = append(words, fmt.Sprintf("$%.2f", *t.Cost))
	}
	if t.Window > 0 {
		words = append(words, fmt.Sprintf("%.0f%% of the usage window", t.Window))
	}
	return strings.Join(words, ", ")
}

// thousands returns a number in few digits.
func thousands(n int) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 1_000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}
