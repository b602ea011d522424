package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/rules"
)

// A hook that ralph eval answers and one that a Go program answers take the same road: the same events have the same answers,
// records and counts.
func TestOneRoad(t *testing.T) {
	const other = "ralph: 1\nrules: [{name: once, when: loop.continuations == 0, continue: also this}]\n"
	hangs := "ralph: 1\nfacts: {it: {hangs: x}}\nrules: [{name: go, when: ok(it), continue: on}]\n"
	for _, c := range []struct {
		name     string
		files    map[string]string
		policies []string
		before   []string // a command
		env      string
		deadline time.Duration
		stdin    []string // default: three stops
	}{
		{name: "a limit", files: map[string]string{".ralph/policy.yaml": "ralph: 1\nlimits: {continuations: 1}\nrules: [{name: go, continue: on}]\n"}},
		{name: "several policies", files: with(goOn(""), ".ralph/other.yaml", other), policies: []string{"policy", "other"}},
		{name: "a broken policy beside another", files: with(goOn(""), ".ralph/other.yaml", "broken: ["), policies: []string{"other", "policy"}},
		{name: "no such policy", files: goOn(""), policies: []string{"nosuch"}},
		{name: "late", files: with(goOn(""), ".ralph/other.yaml", hangs), policies: []string{"policy", "other"}, deadline: 300 * time.Millisecond, stdin: []string{""}},
		{name: "idle", files: map[string]string{".ralph/policy.yaml": "ralph: 1\nloop: {state: run}\nfacts: {run: {json: run.json}}\nrules: [{name: go, continue: on}]\n"}},
		{name: "paused", files: goOn(""), before: []string{"pause", "policy"}},
		{name: "off", files: with(goOn(""), ".ralph/off", ""), stdin: []string{"", "garbage"}},
		{name: "no event", files: goOn(""), stdin: []string{"garbage", " ", "null", `{"hook_event_name": "Stop"}`, `{"cwd": "/no/such/directory"}`}},
		{name: "the session of the variable", files: goOn(""), env: "s-9", stdin: []string{" ", "{}"}},
		{name: "another event", files: goOn(""), stdin: []string{`{"session_id": "s-1", "hook_event_name": "SessionEnd", "cwd": "DIR"}`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.deadline == 0 {
				c.deadline = 20 * time.Second
			}
			if c.stdin == nil {
				c.stdin = []string{"", "", ""}
			}
			h := newHook(t, c.files, "--deadline", c.deadline.String())
			for _, p := range c.policies {
				h.args = append(h.args, "--policy", p)
			}
			h.command, h.env = "bad-ralph", []string{"CLAUDE_SESSION_ID=" + c.env, "CLAUDE_PROJECT_DIR=" + map[bool]string{true: h.dir}[c.env != ""]}
			stores := []string{t.TempDir(), t.TempDir()}
			for _, h.store = range stores {
				if c.before != nil {
					before := h
					before.args = c.before
					if r := before.run(t); r.status != 0 {
						t.Fatal(r.stderr)
					}
				}
			}
			env := map[string]string{"RALPH_STATE_DIR": stores[1], "CLAUDE_SESSION_ID": c.env}
			if c.env != "" {
				env["CLAUDE_PROJECT_DIR"] = h.dir
			}
			getenv := func(name string) string { return env[name] }
			k := loop.Hook{Session: c.env, Loops: project.Hook{
				Config:   project.Config{Env: getenv, Options: []loop.Option{loop.WithSource(bad{"hangs", func() { select {} }})}},
				Policies: c.policies, Options: []loop.Option{loop.WithDeadline(c.deadline)},
			}.Loops}
			for _, stdin := range c.stdin {
				if stdin = strings.ReplaceAll(stdin, "DIR", h.dir); stdin == "" {
					stdin = h.event(nil)
				}
				h.store, h.stdin = stores[0], strings.NewReader(stdin)
				eval := h.run(t)
				to, r := k.Reply(t.Context(), []byte(stdin))
				program := to.Encode(r)
				if diff := cmp.Diff(unadvised(eval.stdout), unadvised(string(program.Stdout))); diff != "" {
					t.Errorf("the answer to %s (-eval +program):\n%s", stdin, diff)
				}
			}
			if diff := cmp.Diff(records(t, stores[0]), records(t, stores[1]),
				cmpopts.IgnoreTypes(time.Time{}, time.Duration(0), rules.Budget{}), cmpopts.IgnoreFields(loop.Head{}, "ID", "Notices", "Reason"), cmpopts.IgnoreFields(loop.Record{}, "Log"), cmpopts.IgnoreFields(rules.Limit{}, "At")); diff != "" {
				t.Errorf("records (-eval +program):\n%s", diff)
			}
			for _, policy := range []string{".ralph/policy.yaml", ".ralph/other.yaml"} {
				key := loop.Key{Root: h.dir, Policy: policy, Session: "s-1"}
				if diff := cmp.Diff(memory(t, stores[0], key), memory(t, stores[1], key), cmpopts.IgnoreTypes(time.Time{}), cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("the memory of %s (-eval +program):\n%s", policy, diff)
				}
			}
		})
	}
}

// unadvised returns an answer without the flag of the command that allows more time, which a program does not have.
func unadvised(stdout string) string {
	before, _, found := strings.Cut(stdout, "; install the hook again with --deadline")
	if found {
		return before + "\"}\n"
	}
	return stdout
}

// records returns the decisions in the log of a state directory.
func records(t *testing.T, store string) (all []loop.Record) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(store, "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			var r loop.Record
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(err)
			}
			all = append(all, r)
		}
	}
	return all
}

// memory returns what a state directory keeps of a loop.
func memory(t *testing.T, store string, key loop.Key) rules.Memory {
	t.Helper()
	entries, err := loop.LocalStore(store).Load(context.Background(), key)
	if err != nil {
		t.Fatal(err)
	}
	return entries[0].Memory
}
