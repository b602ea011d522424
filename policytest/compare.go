package policytest

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

// compare lists what is not as the test expects it.
func (b *bench) compare(d *loop.Decision) []Failure {
	e, v := b.test.Expect, d.Verdict
	var out []Failure
	fail := func(at rules.Pos, what, want, got string) {
		out = append(out, Failure{Pos: at, What: what, Want: want, Got: got})
	}
	if d.Err != nil {
		fail(b.test.Pos, "error", "", d.Err.Error())
		return out
	}
	reason := v.Reason
	if d.Skipped != "" {
		reason = d.Skipped
		if len(e.Text.Value) == 0 && len(e.Reason.Value) == 0 {
			// A policy that tries no rule meets most expectations.
			fail(b.test.Pos, "no rule is tried", "", d.Skipped+"; if that is meant, write stop: "+skippedWords(d))
		}
	}
	verdict := v.Action.String()
	if v.Rule != "" {
		verdict += " by rule " + v.Rule
	}
	if e.Action.Given && e.Action.Value != v.Action {
		fail(e.Action.Pos, "verdict", e.Action.Value.String(), verdict)
	}
	if e.Rule.Given && e.Rule.Value != v.Rule {
		want := "rule " + e.Rule.Value
		if e.Rule.Value == "" {
			want = "no rule"
		}
		fail(e.Rule.Pos, "rule", want, verdict)
	}
	if e.Success.Given && e.Success.Value != v.Success {
		word := map[bool]string{true: "the work is done", false: "the work is not said to be done"}
		fail(e.Success.Pos, "success", word[e.Success.Value], word[v.Success])
	}
	if e.Measure.Given {
		compareMeasure(v, e.Measure, fail)
	}
	texts := func(what string, want texts, got string) {
		if !want.Given {
			return
		}
		if len(want.Value) == 0 && strings.TrimSpace(got) != "" {
			fail(want.Pos, what, "nothing", got)
		}
		for _, p := range want.Value {
			if !p.Match(got) {
				fail(want.Pos, what, strings.TrimSpace(p.Text), orNothing(got))
			}
		}
	}
	if !e.Action.Given || e.Action.Value == v.Action {
		texts(e.Action.Value.String(), e.Text, reason)
	}
	texts("reason", e.Reason, reason)
	texts("notice", e.Notice, strings.Join(slices.Concat(d.Notices, d.Notes), "\n"))
	texts("note", e.Note, notes(v))
	texts("log", e.Log, strings.Join(d.Log, "\n"))
	effects := func(what string, want optional[[]string], got []rules.Effect) {
		if want.Given && !slices.EqualFunc(want.Value, got, sameEffect) {
			fail(want.Pos, what, orNothing(strings.Join(want.Value, "\n")), orNothing(effectLines(got)))
		}
	}
	var all []rules.Effect
	for _, part := range v.Parts {
		all = append(all, part.Effects...)
	}
	all = slices.DeleteFunc(all, func(e rules.Effect) bool { return e.Kind == rules.RememberEffect })
	effects("effects", e.Effects, all)
	effects("finally", e.Finally, v.Finally)
	for _, name := range slices.Sorted(maps.Keys(e.Memory.Value)) {
		want, got := e.Memory.Value[name], b.remembered(v, name)
		if !reflect.DeepEqual(want, got) {
			fail(e.Memory.Pos, "memory "+name, jsonText(want), jsonText(got))
		}
	}
	read := map[string]bool{}
	for _, f := range v.Trace.Facts {
		read[f.Name] = true
	}
	for _, name := range e.Read.Value {
		if !read[name] {
			fail(e.Read.Pos, "read", name+" is read", "it is left unread")
		}
	}
	for _, name := range e.Unread.Value {
		if read[name] {
			fail(e.Unread.Pos, "unread", name+" is left unread", "it is read")
		}
	}
	if e.Files.Given {
		out = append(out, b.compareFiles(e.Files)...)
	}
	return out
}

// skippedWords is how a test expects that no rule is tried.
func skippedWords(d *loop.Decision) string {
	if d.Verdict.Trace.When != nil {
		return "not for this event"
	}
	return "does not decide " + d.Event.Name
}

// compareMeasure compares the numbers that the test names.
func compareMeasure(v *rules.Verdict, want optional[map[string]float64], fail func(at rules.Pos, what, want, got string)) {
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	switch {
	case v.Measure == nil && want.Value != nil:
		fail(want.Pos, "measure", "numbers", "nothing is measured")
	case v.Measure != nil && want.Value == nil:
		fail(want.Pos, "measure", "nothing is measured", number(v.Measure.Done)+" of "+number(v.Measure.Total))
	case v.Measure != nil:
		for name, got := range map[string]float64{"done": v.Measure.Done, "total": v.Measure.Total} {
			if expected, given := want.Value[name]; given && expected != got {
				fail(want.Pos, "measure "+name, number(expected), number(got))
			}
		}
	}
}

// remembered is a value of the memory after the verdict.
func (b *bench) remembered(v *rules.Verdict, name string) any {
	of := b.program.Memory[name]
	in := v.Memory
	if of.Per == "project" {
		in = v.Project
	}
	if got, ok := in.Values[name]; ok {
		return got
	}
	return of.Default
}

func notes(v *rules.Verdict) string {
	var all []string
	for _, p := range v.Parts {
		if p.Note != "" {
			all = append(all, p.Note)
		}
	}
	return strings.Join(all, "\n")
}

func orNothing(s string) string {
	if strings.TrimSpace(s) == "" {
		return "nothing"
	}
	return s
}

func effectLines(effects []rules.Effect) string {
	lines := make([]string, len(effects))
	for i, e := range effects {
		lines[i] = effectText(e)
	}
	return strings.Join(lines, "\n")
}

// compareFiles compares the files that changed with those that are expected to.
func (b *bench) compareFiles(want optional[map[string]content]) []Failure {
	var out []Failure
	fail := func(path, want_, got string) {
		out = append(out, Failure{Pos: want.Pos, What: "file " + path, Want: want_, Got: got})
	}
	if !b.applied {
		return []Failure{{Pos: want.Pos, What: "files", Got: "no file can change: the fact whose file the rule changes is given under facts; give it under files"}}
	}
	after, err := snapshot(b.project)
	if err != nil {
		return []Failure{{Pos: want.Pos, What: "files", Got: err.Error()}}
	}
	paths := map[string]bool{}
	for _, files := range []map[string]string{b.before, after} {
		for path := range files {
			paths[path] = true
		}
	}
	for path := range want.Value {
		paths[path] = true
	}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		w, named := want.Value[path]
		old, was := b.before[path]
		got, exists := after[path]
		switch {
		case !named && !was && path == state.ArchiveDir+"/.gitignore": // no rule asks for it
		case !named && was && !exists:
			fail(path, "it stays as it is", "it is gone")
		case !named && got != old:
			fail(path, "it stays as it is", got)
		case !named:
		case w.Gone && exists:
			fail(path, "no such file", got)
		case w.Gone && !was:
			fail(path, "a file that is removed", "it was never there")
		case w.Gone:
		case !exists:
			fail(path, "a file", "there is none")
		case w.Whole && got != w.Text:
			fail(path, w.Text, got)
		}
		for _, p := range w.Parts {
			if exists && !p.Match(got) {
				fail(path, strings.TrimSpace(p.Text), got)
			}
		}
	}
	return out
}

// hints say what a test gives in vain, which is the commonest reason of a failure
// that is hard to understand.
func (b *bench) hints(d *loop.Decision) []string {
	var out []string
	for _, f := range d.Verdict.Trace.Facts {
		if _, given := b.world.literals[f.Name]; given && !b.world.asked[f.Name] {
			out = append(out, fmt.Sprintf("the value given for %s is not used, since its path cannot be evaluated: %s", f.Name, f.Problem))
		}
	}
	return out
}
