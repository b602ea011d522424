package main

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/amount"
	"github.com/ralph-sdk/ralph/internal/shellwords"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/rules"
)

// writeExplanation writes a decision as text, with the hook that would run it and the state of the policy, if given.
func writeExplanation(w io.Writer, r loop.Record, hook, state string) error {
	var b strings.Builder
	verdict := string(r.Outcome())
	if r.Command != "" {
		verdict = "ended by " + r.Command
	} else if r.Rule != "" {
		verdict += " by rule " + r.Rule
		if r.At != "" {
			verdict += " (" + r.At + ")"
		}
	} else if r.Cause == "" && r.Reason == "" {
		happened := project.NothingDecided(r.Event, r.Noted, r.Trace.Steps)
		verdict += ": " + happened
		if r.Event == host.UserPromptSubmit || host.Watched(r.Event) { // it has no verdict
			verdict = happened
		}
	}
	fmt.Fprintf(&b, "%s  %s: %s\n", r.Time.Local().Format(time.DateTime), project.Short(r.Policy), verdict)
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "  %-8s %s\n", name, strings.ReplaceAll(value, "\n", "\n           "))
		}
	}
	line("hook", hook)
	line("state", state)
	if r.Shadows != "" {
		line("policy", r.Policy+" of the project, which replaces the shipped policy "+r.Shadows)
	}
	// The texts of a broken policy repeat its error, and a notice the question.
	failed := r.Rule == "" && r.Cause.Failed()
	repeated := func(text string) bool {
		text = strings.TrimPrefix(strings.TrimPrefix(text, "[ralph] "), r.Policy+": ")
		return text == r.Reason || failed && strings.Contains(r.Reason, text)
	}
	switch {
	case failed:
		line("error", r.Reason)
	case r.Cause.Untried():
		line("skipped", r.Reason)
	default:
		line("reason", r.Reason)
	}
	if w := r.Wait; w != nil && !w.Until.IsZero() {
		line("wait", fmt.Sprintf("since %s, until %s at the latest", w.Since.Local().Format(time.TimeOnly), w.Until.Local().Format(time.DateTime)))
	}
	if r.Command != "" { // there was no event and no decision
		line("session", r.Session)
		for _, e := range r.Effects {
			line("effect", effectText(e))
		}
		_, err := io.WriteString(w, b.String())
		return err
	}
	line("event", strings.TrimSpace(strings.Join([]string{r.Event, cmp.Or(r.Host, "unknown host"), "session " + cmp.Or(r.Session, "unknown")}, ", ")))
	line("streak", fmt.Sprintf("%s before this one, %d in the session%s", amount.Of(r.Streak.Continuations, "continuation"), r.Streak.Total, progress(r.Streak.Progress)))
	if m := r.Measure; m != nil {
		line("measure", measured(m.Done, m.Total))
	}
	line("hint", r.Hint)
	if r.Event != host.UserPromptSubmit && len(r.Noted) > 0 {
		line("noted", "by "+strings.Join(r.Noted, ", "))
	}
	for _, n := range r.Notices {
		if !repeated(n) {
			line("notice", n)
		}
	}
	for _, f := range r.Failures {
		line("failed", f.String())
	}
	for _, n := range r.Notes {
		line("note", n)
	}
	for _, l := range r.Log {
		if !repeated(l) {
			line("log", l)
		}
	}
	for _, e := range r.Effects {
		line("effect", effectText(e))
	}
	for _, e := range r.Finally {
		line("effect", "finally "+effectText(e))
	}
	if !r.Kept && len(r.Effects)+len(r.Finally) > 0 {
		line("", "(not applied)")
	}
	if r.Trace.When != nil {
		b.WriteString("\nthe policy's own when\n")
		writeStep(&b, "", r.Trace.When)
	}
	if len(r.Trace.Steps) > 0 {
		b.WriteString("\nrules\n")
	}
	for i, s := range r.Trace.Steps {
		writeStep(&b, strconv.Itoa(i+1), s)
	}
	if len(r.Trace.Facts) > 0 {
		b.WriteString("\nfacts\n")
	}
	for _, f := range r.Trace.Facts {
		fmt.Fprintf(&b, "  %-12s %-8s %s%s%s\n", f.Name, cmp.Or(f.Status, "ok"), cmp.Or(f.Path, f.Source), brackets(cmp.Or(f.Problem, without(f))), took(f.Took))
	}
	for _, warning := range r.Trace.Warnings {
		fmt.Fprintf(&b, "\nwarning: %s\n", warning)
	}
	fmt.Fprintf(&b, "\ndecided in %s\n", cmp.Or(strings.TrimSpace(took(r.Took)), "less than 1ms"))
	_, err := io.WriteString(w, b.String())
	return err
}

func writeStep(b *strings.Builder, n string, s *rules.Step) {
	line := fmt.Sprintf("  %2s  %-13s %s", n, s.Outcome, s.Rule)
	b.WriteString(strings.TrimRight(line, " ") + took(s.Took) + "\n")
	if len(s.Operands) == 0 && s.Because != "" {
		fmt.Fprintf(b, "        %s\n", s.Because)
	}
	for _, o := range s.Operands {
		value := "unknown"
		if !o.Unknown {
			value = shownValue(o.Value)
		}
		mark := " "
		if o.Text == s.Because || o.Unknown {
			mark = "▸" // the cause that the rule does not hold
		}
		fmt.Fprintf(b, "      %s %s  =  %s%s\n", mark, oneLine(o.Text), value, brackets(o.Problem))
		for _, r := range o.Reads {
			if empty, ok := r.Value.(map[string]any); r.Name == o.Text || ok && len(empty) == 0 && r.State == "" {
				continue
			}
			fmt.Fprintf(b, "          %s = %s\n", oneLine(r.Name), cmp.Or(r.State, shownValue(r.Value)))
		}
	}
}

// without returns the variables that the program of a fact did not get.
func without(f rules.FactRead) string {
	names, _ := f.Meta["without"].([]any)
	if len(names) == 0 {
		return ""
	}
	var list []string
	for _, name := range names {
		list = append(list, fmt.Sprint(name))
	}
	return "without the variables " + strings.Join(list, ", ")
}

// measured returns the progress.
func measured(done, total float64) string {
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	return number(done) + " of " + number(total) + " done"
}

func progress(p string) string {
	if p == "" {
		return ""
	}
	return ", progress " + p
}

func brackets(s string) string {
	if s == "" {
		return ""
	}
	return "  (" + oneLine(s) + ")"
}

// effectText returns an effect on one line.
func effectText(e rules.Effect) string {
	switch e.Kind {
	case rules.SetEffect:
		text := fmt.Sprintf("set %s %s = %s", e.File, pathText(e.Path), shownValue(e.Value))
		if e.Create {
			text += ", in a new file"
		}
		return text
	case rules.PruneEffect:
		return fmt.Sprintf("prune %s older than %s", e.Glob, e.Older)
	case rules.LogEffect:
		return "log"
	case rules.OwnEffect:
		return e.Name
	case rules.RunEffect:
		return "run " + shellwords.Line(e.Args)
	case rules.RememberEffect:
		return fmt.Sprintf("remember %s = %s", e.Name, shownValue(e.Value))
	}
	if e.To != "" {
		return fmt.Sprintf("%s %s to %s", e.Kind, e.File, e.To)
	}
	return fmt.Sprintf("%s %s", e.Kind, e.File)
}

// pathText returns a path into a document as tasks[2].done.
func pathText(path []any) string {
	s := ""
	for i, step := range path {
		switch step := step.(type) {
		case int:
			s += fmt.Sprintf("[%d]", step)
		default:
			if i > 0 {
				s += "."
			}
			s += fmt.Sprint(step)
		}
	}
	return s
}
