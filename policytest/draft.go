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
	var lost []string
	kinds := rules.Sources()
	facts, missing, invalid := map[string]any{}, map[string]any{}, map[string]any{}
	memory := map[string]any{}
	for _, f := range r.Trace.Facts {
		switch f.Status {
		case rules.Missing:
			// Plain absence is not reported; it needs no reason in the test either.
			missing[f.Name] = ""
			if f.Problem != "" && slices.ContainsFunc(r.Notices, func(n string) bool { return strings.Contains(n, f.Problem) }) {
				missing[f.Name] = f.Problem
			}
		case rules.Invalid:
			invalid[f.Name] = f.Problem
		default:
			if doc := recorded.Document(&r, f.Name); doc != nil {
				facts[f.Name] = doc
			} else if slices.ContainsFunc(kinds, func(k rules.SourceKind) bool { return k.Name == f.Source && k.Editable }) {
				facts[f.Name] = map[string]any{}
			}
		}
	}
	for _, in := range r.Trace.Inputs {
		name, pointer, isFact := strings.Cut(in.Name, "#")
		switch {
		case in.Cut && !in.Reported:
			lost = append(lost, name+strings.ReplaceAll(pointer, "/", "."))
		case isFact || in.Cut:
		case name == vocab.SessionElapsed, strings.HasPrefix(name, "run."):
			if v, ok := recorded.Known(&r, in.Name); ok && !isZero(v) && v != "0s" && v != 0 {
				group, member, _ := strings.Cut(name, ".")
				values, _ := d.Given[group].(map[string]any)
				if values == nil {
					values = map[string]any{}
				}
				values[member] = v
				d.Given[group] = values
			}
		case name == vocab.TranscriptFailed:
			v, _ := recorded.Known(&r, in.Name)
			if failed, ok := v.(map[string]any); ok {
				d.Given["transcript"] = []any{map[string]any{string(byFailed): failed["kind"]}}
			}
		case strings.HasPrefix(name, "memory."):
			if v, ok := recorded.Known(&r, in.Name); ok {
				memory[strings.TrimPrefix(name, "memory.")] = v
			}
		case isInput(name), name == vocab.Host:
			if v, ok := recorded.Known(&r, in.Name); ok && !isZero(v) {
				d.Given[name] = v
			}
		}
	}
	put := func(key string, values map[string]any) {
		if len(values) > 0 {
			d.Given[key] = values
		}
	}
	put("facts", facts)
	put("missing", missing)
	put("invalid", invalid)
	put("memory", memory)
	put("repeated", counts(r.Repeated))
	put("loop", streak(r))
	answers(d.Given, r.Calls)
	if len(lost) > 0 {
		d.Note = "the log does not hold " + strings.Join(lost, ", ")
	}
	return d
}

func isZero(v any) bool {
	list, isList := v.([]any)
	return v == nil || v == "" || v == false || isList && len(list) == 0
}

func counts(all map[string]int) map[string]any {
	out := map[string]any{}
	for name, n := range all {
		if n > 0 {
			out[name] = n
		}
	}
	return out
}

// streak writes the loop memory as a test gives it.
func streak(record loop.Record) map[string]any {
	r := record.Streak
	out := map[string]any{}
	if r.Continuations > 0 {
		out["continuations"] = r.Continuations
		if r.Progress == r.Before && r.Same > 0 {
			out["repeats"] = r.Same
		}
		if r.Failed > 0 {
			out["failures"] = r.Failed
		}
		for name, d := range map[string]time.Duration{"elapsed": r.Elapsed, "step": r.Step} {
			if d = d.Round(time.Second); d > 0 {
				out[name] = d.String()
			}
		}
	}
	if r.Total > r.Continuations {
		out["total"] = r.Total
	}
	if record.Loop != nil && record.Loop.Gone {
		out["seen"] = true
	}
	return out
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
		case vocab.AnyFile: // which file matched is not known; the pattern stands for it
			list, _ := given[vocab.Exists].([]any)
			given[vocab.Exists] = append(list, text)
		case vocab.Exists, vocab.IsDir, vocab.Which:
			list, _ := given[function].([]any)
			given[function] = append(list, text)
		}
	}
	if len(words) > 0 && given[vocab.LastAssistantMessage] == nil {
		given[vocab.LastAssistantMessage] = strings.Join(words, "\n")
	}
}
