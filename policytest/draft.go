package policytest

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/recorded"
	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// FromRecord makes a test of a recorded decision: it gives what the record holds of
// the situation, and expects what was decided. What the record does not hold,
// such as long texts, is named in the note.
func FromRecord(r loop.Record) Draft {
	verdict := r.Action.String()
	if r.Rule != "" {
		verdict += " by " + r.Rule
	}
	d := Draft{
		Name:   verdict + " on " + r.Time.UTC().Format("2006-01-02 at 15:04:05"),
		Event:  r.Event,
		Given:  map[string]any{},
		Expect: map[string]any{r.Action.String(): true, "rule": r.Rule},
	}
	put := func(v any, path ...string) {
		if list, isList := v.([]any); v != nil && (isList && len(list) > 0 || !isList && !slices.Contains([]any{"", false, 0, "0s"}, v)) {
			give(d.Given, v, path...)
		}
	}
	var lost []string
	for _, f := range r.Trace.Facts {
		switch f.Status {
		case rules.Missing:
			// Plain absence is not reported; it needs no reason in the test either.
			why := ""
			if f.Problem != "" && slices.ContainsFunc(r.Notices, func(n string) bool { return strings.Contains(n, f.Problem) }) {
				why = f.Problem
			}
			give(d.Given, why, "missing", f.Name)
		case rules.Invalid:
			give(d.Given, f.Problem, "invalid", f.Name)
		default:
			if doc := recorded.Document(&r, f.Name); doc != nil {
				give(d.Given, doc, "facts", f.Name)
			} else if slices.ContainsFunc(rules.Sources(), func(k rules.SourceKind) bool { return k.Name == f.Source && k.Editable }) {
				give(d.Given, map[string]any{}, "facts", f.Name)
			}
		}
	}
	for _, in := range r.Trace.Inputs {
		name, pointer, isFact := strings.Cut(in.Name, "#")
		v, ok := recorded.Known(&r, in.Name)
		switch {
		case in.Cut && !in.Reported:
			lost = append(lost, name+strings.ReplaceAll(pointer, "/", "."))
		case isFact || in.Cut || !ok:
		case name == vocab.TranscriptFailed:
			if failed, ok := v.(map[string]any); ok {
				d.Given["transcript"] = []any{map[string]any{"failed": failed["kind"]}}
			}
		case strings.HasPrefix(name, "memory."):
			give(d.Given, v, strings.Split(name, ".")...)
		case name == vocab.SessionElapsed, strings.HasPrefix(name, "run."), isInput(name), name == vocab.Host:
			put(v, strings.Split(name, ".")...)
		}
	}
	for rule, n := range r.Repeated {
		put(n, "repeated", rule)
	}
	if s := r.Streak; s.Continuations > 0 {
		put(s.Continuations, "loop", "continuations")
		if s.Progress == s.Before {
			put(s.Same, "loop", "repeats")
		}
		put(s.Failed, "loop", "failures")
		put(s.Elapsed.Round(time.Second).String(), "loop", "elapsed")
		put(s.Step.Round(time.Second).String(), "loop", "step")
	}
	if r.Streak.Total > r.Streak.Continuations {
		put(r.Streak.Total, "loop", "total")
	}
	put(r.Loop != nil && r.Loop.Gone, "loop", "seen")
	answers(d.Given, r.Calls)
	if len(lost) > 0 {
		d.Note = "the log does not hold " + strings.Join(lost, ", ")
	}
	return d
}

// answers makes a situation in which functions answer as they did.
func answers(given map[string]any, calls map[string]any) {
	words := []string{}
	for _, call := range slices.Sorted(maps.Keys(calls)) {
		v := calls[call]
		function, quoted, _ := strings.Cut(strings.TrimSuffix(call, ")"), "(")
		text, err := strconv.Unquote(quoted)
		if err != nil || v == false || v == "" {
			continue
		}
		switch function {
		case vocab.Said, vocab.Mentions:
			words = append(words, text)
		case vocab.Promised:
			words = append(words, "<promise>"+text+"</promise>")
		case vocab.AnyFile, vocab.Exists, vocab.IsDir, vocab.Which:
			if function == vocab.AnyFile { // which file matched is not known; the pattern stands for it
				function = vocab.Exists
			}
			list, _ := given[function].([]any)
			given[function] = append(list, text)
		}
	}
	if len(words) > 0 && given[vocab.LastAssistantMessage] == nil {
		given[vocab.LastAssistantMessage] = strings.Join(words, "\n")
	}
}
