package policytest

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/inputs"
	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// FromRecord returns a test for a recorded decision: its situation, as far as the record has it, and the verdict as
// expectation. The note lists what the record lacks, such as long texts.
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
	put := func(v any, path ...string) { // unless it is the default in a test
		if list, isList := v.([]any); (!isList || len(list) > 0) && !slices.Contains([]any{nil, "", false, 0, "0s"}, v) {
			give(d.Given, v, path...)
		}
	}
	for _, f := range r.Trace.Facts {
		doc := inputs.Document(&r, f.Name)
		editable := slices.ContainsFunc(rules.SourceKinds(), func(k rules.SourceKind) bool { return k.Name == f.Source && k.Editable })
		switch {
		case f.Status == rules.Invalid:
			give(d.Given, f.Problem, "invalid", f.Name)
		case f.Status == rules.Missing:
			// An ordinary missing fact is not reported, so the test needs no reason either.
			if !slices.ContainsFunc(r.Notices, func(n string) bool { return strings.Contains(n, f.Problem) }) {
				f.Problem = ""
			}
			give(d.Given, f.Problem, "missing", f.Name)
		case doc != nil:
			give(d.Given, doc, "facts", f.Name)
		case editable:
			give(d.Given, map[string]any{}, "facts", f.Name)
		}
	}
	var lost []string
	for _, in := range r.Trace.Inputs {
		name, pointer, isFact := strings.Cut(in.Name, "#")
		v, ok := inputs.Known(&r, in.Name)
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
	for rule, d := range r.Streak.Waited {
		put(d.Round(time.Second).String(), "waited", rule)
	}
	s := r.Streak
	if s.Progress != s.Before {
		s.Same = 0
	}
	if s.Total == s.Continuations {
		s.Total = 0 // derived
	}
	for key, v := range map[string]any{
		"continuations": s.Continuations, "total": s.Total, "repeats": s.Same, "failures": s.Failed,
		"elapsed": s.Elapsed.Round(time.Second).String(), "step": s.Step.Round(time.Second).String(), "seen": r.Loop != nil && r.Loop.Gone,
	} {
		put(v, "loop", key)
	}
	answers(d.Given, r.Calls)
	if len(lost) > 0 {
		d.Note = "the log does not hold " + strings.Join(lost, ", ")
	}
	return d
}

// answers sets up a situation in which functions return the recorded results.
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
		case vocab.AnyFile: // the matching file is unknown; use the pattern
			function = vocab.Exists
			fallthrough
		case vocab.Exists, vocab.IsDir, vocab.Which:
			list, _ := given[function].([]any)
			given[function] = append(list, text)
		}
	}
	if len(words) > 0 && given[vocab.LastAssistantMessage] == nil {
		given[vocab.LastAssistantMessage] = strings.Join(words, "\n")
	}
}
