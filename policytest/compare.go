package policytest

import (
	"fmt"
	"maps"
	slashpath "path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

// compare returns the expectations that the decision does not meet.
func (b *bench) compare(d *loop.Decision) []Failure {
	e, v := b.test.Expect, d.Verdict
	var out []Failure
	fail := func(at rules.Pos, what, want, got string) {
		out = append(out, Failure{Pos: at, What: what, Want: want, Got: got})
	}
	if d.Err != nil && !v.Cause.Undecided() {
		fail(b.test.Pos, "error", "", d.Err.Error())
		return out
	}
	reason := v.Reason
	if untried(v) {
		if len(e.Text) == 0 && len(e.Reason) == 0 {
			// A policy that tries no rule meets most expectations by accident.
			fail(b.test.Pos, "no rule is tried", "", reason+"; if this is intended, write stop: "+skippedWords(d))
		}
	}
	verdict := v.Action.String()
	if v.Rule != "" {
		verdict += " by rule " + v.Rule
	}
	texts := func(key string, want texts, got string) {
		if want != nil && len(want) == 0 && strings.TrimSpace(got) != "" {
			fail(e.at[key], key, "nothing", got)
		}
		for _, p := range want {
			if !p.Match(got) {
				fail(e.at[key], key, strings.TrimSpace(p.Text), orNothing(got))
			}
		}
	}
	if action := e.Action; action != nil && *action != v.Action {
		fail(e.at[action.String()], "verdict", action.String(), verdict)
	}
	if e.Rule != nil && *e.Rule != v.Rule {
		want := "rule " + *e.Rule
		if *e.Rule == "" {
			want = "no rule"
		}
		fail(e.at["rule"], "rule", want, verdict)
	}
	if e.Success != nil && *e.Success != v.Success {
		word := map[bool]string{true: "the work is done", false: "the work is not reported as done"}
		fail(e.at["success"], "success", word[*e.Success], word[v.Success])
	}
	if at, given := e.at["measure"]; given {
		compareMeasure(v, e.Measure, func(what, want, got string) { fail(at, what, want, got) })
	}
	if action := e.Action; action != nil && *action == v.Action {
		texts(action.String(), e.Text, reason)
	}
	texts("reason", e.Reason, reason)
	texts("notice", e.Notice, strings.Join(slices.Concat(d.Notices, d.Notes), "\n"))
	texts("note", e.Note, notes(v))
	texts("log", e.Log, strings.Join(d.Log, "\n"))
	effects := func(key string, want []string, got []rules.Effect) {
		if want != nil && !slices.EqualFunc(want, got, sameEffect) {
			fail(e.at[key], key, orNothing(strings.Join(want, "\n")), orNothing(effectLines(got)))
		}
	}
	var all []rules.Effect
	for _, part := range v.Parts {
		all = append(all, part.Effects...)
	}
	all = slices.DeleteFunc(all, func(e rules.Effect) bool { return e.Kind == rules.RememberEffect })
	effects("effects", e.Effects, all)
	effects("finally", e.Finally, v.Finally)
	for _, name := range slices.Sorted(maps.Keys(e.Memory)) {
		want, got := e.Memory[name], b.remembered(v, name)
		if !reflect.DeepEqual(want, got) {
			fail(e.at["memory"], "memory "+name, jsonText(want), jsonText(got))
		}
	}
	read := map[string]bool{}
	for _, f := range v.Trace.Facts {
		read[f.Name] = true
	}
	for _, name := range e.Read {
		if !read[name] {
			fail(e.at["read"], "read", name+" is read", "it is left unread")
		}
	}
	for _, name := range e.Unread {
		if read[name] {
			fail(e.at["unread"], "unread", name+" is left unread", "it is read")
		}
	}
	if e.Files != nil {
		b.compareFiles(e.Files, func(what, want, got string) { fail(e.at["files"], what, want, got) })
	}
	return out
}

// untried reports whether no rule was tried, because the policy is not for the event or because of a fault.
func untried(v *rules.Verdict) bool { return v.Cause != "" && len(v.Trace.Steps) == 0 }

// skippedWords returns what to write in a test for a decision that tries no rule.
func skippedWords(d *loop.Decision) string {
	if d.Verdict.Trace.When != nil {
		return "not for this event"
	}
	return "does not decide " + d.Event.Name
}

// compareMeasure compares the numbers in the test.
func compareMeasure(v *rules.Verdict, want map[string]float64, fail func(what, want, got string)) {
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	switch {
	case v.Measure == nil && want != nil:
		fail("measure", "numbers", "nothing is measured")
	case v.Measure != nil && want == nil:
		fail("measure", "nothing is measured", number(v.Measure.Done)+" of "+number(v.Measure.Total))
	case v.Measure != nil:
		for name, got := range map[string]float64{"done": v.Measure.Done, "total": v.Measure.Total} {
			if expected, given := want[name]; given && expected != got {
				fail("measure "+name, number(expected), number(got))
			}
		}
	}
}

// remembered returns a value of memory after the verdict.
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

// compareFiles compares the files that changed to those that the test expects.
func (b *bench) compareFiles(expected map[string]content, fail func(what, want, got string)) {
	if !b.applied {
		fail("files", "", "no file can change: the fact whose file the rule changes is set under facts; set it under files")
		return
	}
	after, err := snapshot(b.project)
	if err != nil {
		fail("files", "", err.Error())
		return
	}
	before := map[string]string{}
	for name, src := range b.test.Given.Files {
		if !strings.HasPrefix(name, "~/") && !strings.HasSuffix(name, "/") {
			before[slashpath.Clean(name)] = src.Text
		}
	}
	paths := slices.Concat(slices.Collect(maps.Keys(expected)), slices.Collect(maps.Keys(before)), slices.Collect(maps.Keys(after)))
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		w, named := expected[path]
		old, was := before[path]
		got, exists := after[path]
		say := func(want, got string) { fail("file "+path, want, got) }
		switch {
		case named && !w.Gone && !exists:
			say("a file", "there is none")
		case named && w.Gone && exists:
			say("no such file", got)
		case named && w.Gone && !was:
			say("a file that is removed", "it never existed")
		case named && w.Whole && got != w.Text:
			say(w.Text, got)
		case named, !was && path == state.ArchiveDir+"/.gitignore": // no rule creates it
		case was && !exists:
			say("it stays as it is", "it is gone")
		case got != old:
			say("it stays as it is", got)
		}
		for _, p := range w.Parts {
			if exists && !p.Match(got) {
				say(strings.TrimSpace(p.Text), got)
			}
		}
	}
}

// hints returns given values that had no effect, the most common reason for a failure that is hard to understand.
func (b *bench) hints(d *loop.Decision) []string {
	var out []string
	for _, f := range d.Verdict.Trace.Facts {
		if _, given := b.world.literals[f.Name]; given && !b.world.asked[f.Name] {
			out = append(out, fmt.Sprintf("the value of %s is not used, since its path cannot be evaluated: %s", f.Name, f.Problem))
		}
	}
	return out
}
