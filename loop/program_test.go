package loop_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// runPolicy runs a program with each continuation.
func runPolicy(run string) string {
	return "ralph: 1\nlimits: {repeats: 3}\nrules:\n  - name: on\n    when: not stop_hook_active\n    continue: go on\n    then:\n      - " + run + "\n"
}

// A program runs after the verdict was applied. It cannot change the verdict: its errors
// are reported.
func TestRun(t *testing.T) {
	needsShell(t)
	for _, c := range []struct {
		name, run string
		failures  []string
		files     map[string]string
	}{
		{"it runs in the project", `run: [sh, -c, 'echo "$0" > ran', "${session_id}"]`, nil, map[string]string{"ran": "s\n"}},
		{"one hole is one argument, and no shell reads it", `run: [sh, -c, 'printf %s "$1" > ran', x, "${env.WORDS}"]`, nil, map[string]string{"ran": "a b; $(id)"}},
		{"its output is dropped", `run: [echo, hello]`, nil, nil},
		{"it fails", `run: [sh, -c, "echo broken >&2; exit 3"]`, []string{"rule on: sh ended with status 3: broken"}, nil},
		{"it takes too long", `{run: [sh, -c, "sleep 60"], timeout: 50ms}`, []string{"rule on: sh did not end within 50ms"}, nil},
		{"there is none", `run: [no-such-program-anywhere]`, []string{"rule on: there is no program no-such-program-anywhere"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t, nil)
			p.env = map[string]string{"WORDS": "a b; $(id)"}
			d := p.run(p.loop(runPolicy(c.run), trusted()), p.stop())
			if got := said(d); got != "go on" {
				t.Errorf("it says %q", got)
			}
			if diff := cmp.Diff(c.failures, failures(d)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for name, want := range c.files {
				if got := p.read(name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
		})
	}
}

// A program that a rule starts runs at most once, also if it fails and its event comes again.
func TestRunsOnce(t *testing.T) {
	needsShell(t)
	p := newProject(t, nil)
	l, ev := p.loop(runPolicy(`run: [sh, -c, "echo it >> ran; exit 3"]`), trusted()), p.stop()
	ev.ID = "1"
	for range 2 {
		if d, err := l.Run(t.Context(), ev); err != nil || said(d) != "go on" {
			t.Errorf("it says %q, error %v", said(d), err)
		}
	}
	if left, err := l.Drain(t.Context()); left != 0 || err != nil {
		t.Errorf("%d effects are left, error %v", left, err)
	}
	if got := p.read("ran"); got != "it\n" {
		t.Errorf("it ran: %q", got)
	}
}

// What is not known is not run with a gap.
func TestRunWithUnknownArgument(t *testing.T) {
	p := newProject(t, nil)
	policy := strings.Replace(runPolicy(`run: [echo, "${gone.n}"]`), "limits:", "facts: {gone: {json: gone.json, schema: {properties: {n: {type: integer}}}}}\nlimits:", 1)
	d := p.run(p.loop(policy, trusted()), p.stop())
	if diff := cmp.Diff([]string{"[ralph] rule on: echo is not run: gone is missing: gone.json does not exist"}, d.Notices); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Nothing is run that no user approved, and a decision that is not applied runs nothing.
func TestRunNeedsApproval(t *testing.T) {
	needsShell(t)
	p := newProject(t, nil)
	policy := runPolicy(`run: [sh, -c, "echo x > ran"]`)
	var asked []string
	refusing := loop.WithTrust(func(f *rules.Fact, _ []rules.File) error {
		asked = append(asked, f.Name+": "+f.Source.Trust+": "+strings.Join(f.Args, " "))
		return errors.New("which is not approved")
	})
	d := p.run(p.loop(policy, refusing), p.stop())
	if diff := cmp.Diff([]string{"rule on: sh is not run: it runs a program, which is not approved"}, failures(d)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"run 1 of on: runs a program: sh -c echo x > ran"}, asked); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	p.loop(policy, trusted()).Preview(t.Context(), p.stop())
	if _, err := os.Stat(p.path("ran")); err == nil {
		t.Error("it ran")
	}
}

// Whether a program may start is asked last: what changes after it was found starts nothing else, and an approval that is
// missing is the reason even where there is no such program.
func TestApprovalIsAskedLast(t *testing.T) {
	needsShell(t)
	const policy = "ralph: 1\nfacts: {it: {exec: [tool]}}\nrules: [{name: r, when: ok(it), stop: '${it.stdout}'}]\n"
	p := newProject(t, nil)
	path := os.Getenv("PATH")
	for _, name := range []string{"found", "swapped"} {
		dir := p.path(name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "tool"), []byte("#!/bin/sh\necho "+name+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", p.path("found")+string(os.PathListSeparator)+path)
	d := p.run(p.loop(policy, loop.WithTrust(func(*rules.Fact, []rules.File) error {
		return os.Setenv("PATH", p.path("swapped")+string(os.PathListSeparator)+path)
	})), p.stop())
	if got := strings.TrimSpace(d.Verdict.Reason); got != "found" {
		t.Errorf("after the approval it starts %q", got)
	}
	t.Setenv("PATH", t.TempDir())
	d = p.run(p.loop(policy, loop.WithTrust(func(*rules.Fact, []rules.File) error { return errors.New("which is not approved") })), p.stop())
	if got := strings.Join(d.Notices, "\n"); !strings.Contains(got, "it runs a program, which is not approved") {
		t.Errorf("without the program it says %q", got)
	}
}

// A program that embeds ralph can take over what is run.
func TestRunOfTheProgram(t *testing.T) {
	p := newProject(t, nil)
	var got []rules.Effect
	taking := effect("run", func(_ context.Context, c loop.Call) error {
		got = append(got, c.Effect)
		return nil
	})
	p.run(p.loop(runPolicy(`run: [notify, "${session_id}"]`), taking), p.stop())
	want := []rules.Effect{{Kind: rules.RunEffect, Fact: "run 1 of on", Args: []string{"notify", "s"}, Name: "run"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The log has the program, and of private arguments their size.
func TestRunInTheLog(t *testing.T) {
	p := newProject(t, nil)
	p.env = map[string]string{"WORDS": "secret"}
	d := p.run(p.loop(runPolicy(`run: [nothing-of-that-name, "${env.WORDS}"]`), trusted()), p.stop())
	r := d.Record(false)
	if diff := cmp.Diff([]string{"nothing-of-that-name", "(6 bytes)"}, r.Effects[0].Args); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if r.Failures[0].Error == d.Failures[0].Error {
		t.Errorf("the log has what a program may have said: %s", r.Failures[0].Error)
	}
}
