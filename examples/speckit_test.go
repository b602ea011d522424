package examples_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-sdk/ralph/rules"
)

const (
	speckitPointer = ".specify/.current-feature"
	speckitState   = ".specify/specs/001-demo/.speckit-state.json"
	speckitTasks   = ".specify/specs/001-demo/tasks.md"
	speckitSwitch  = ".claude/ralph-speckit.local.md"
)

// speckitWork is a feature with eight of ten tasks to go.
func speckitWork() files {
	return files{
		speckitPointer: "001-demo\n",
		speckitState:   `{"phase": "execution", "taskIndex": 2, "totalTasks": 10, "globalIteration": 3}`,
	}
}

// ticked adds a list without an open box.
func ticked(work files, tasks string) files {
	work[tasks] = "- [x] 1 Build it\n"
	return work
}

func state(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// A state that cannot be read is reported to the agent once per prompt, so that it can
// repair it and may stop all the same.
func TestSpeckitCorruptState(t *testing.T) {
	for name, text := range map[string]string{
		"half a file":   `{"phase": "execution", "taskIn`,
		"nothing":       "",
		"two documents": `{"phase": "execution"} {"phase": "plan"}`,
		"no object":     `[1, 2]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, "speckit", nil, files{speckitPointer: "001-demo", speckitState: text})
			expect(t, p.stop(event{"prompt_id": "p1"}), "continue corrupt-state", "ERROR: Corrupt state file", speckitState, "Recovery options")
			d := p.stop(event{"prompt_id": "p1", "stop_hook_active": true})
			expect(t, d, "stop not-executing")
			if d.Verdict.Fault != rules.FaultFact {
				t.Errorf("the fault is %q", d.Verdict.Fault)
			}
			expect(t, p.stop(event{"prompt_id": "p2", "stop_hook_active": true}), "continue corrupt-state")
		})
	}
}

// With reentry=progress the loop runs through all tasks of one prompt for as long
// as the index moves, and no further.
func TestSpeckitRunsWhileItAdvances(t *testing.T) {
	p := newProject(t, "speckit", map[string]string{"reentry": "progress"}, speckitWork())
	p.write(files{speckitTasks: strings.Repeat("- [ ] a\n", 10)})
	at := func(task int, active bool) event {
		p.write(files{speckitState: state(`{"phase": "execution", "taskIndex": %d, "totalTasks": 10}`, task)})
		return event{"prompt_id": "p1", "stop_hook_active": active}
	}
	expect(t, p.stop(at(2, false)), "continue next-task", "Task 3/10")
	expect(t, p.stop(at(3, true)), "continue next-task", "Task 4/10")
	expect(t, p.stop(at(4, true)), "continue next-task", "Task 5/10")
	expect(t, p.stop(at(4, true)), "stop reentry/continued-before")
	p.write(ticked(files{}, speckitTasks))
	expect(t, p.stop(at(10, true)), "stop verified")
}

// Ten continuations on the same attempt are enough, even with reentry=always.
func TestSpeckitIsBounded(t *testing.T) {
	p := newProject(t, "speckit", map[string]string{"reentry": "always"}, speckitWork())
	for range 10 {
		expect(t, p.stop(event{"prompt_id": "p1", "stop_hook_active": true}), "continue next-task")
	}
	expect(t, p.stop(event{"prompt_id": "p1", "stop_hook_active": true}), "stop limits.repeats")
}

// Old progress files go, young ones and everything else stay.
func TestSpeckitTidiesUp(t *testing.T) {
	const folder = ".specify/specs/001-demo/"
	work := speckitWork()
	work[folder+".progress-task-1.md"] = "old"
	work[folder+".progress-task-2.md"] = "young"
	work[folder+".progress.md"] = "old, but another file"
	p := newProject(t, "speckit", nil, work)
	p.age(folder+".progress-task-1.md", 62*time.Minute)
	p.age(folder+".progress-task-2.md", 58*time.Minute)
	p.age(folder+".progress.md", 62*time.Minute)
	d := p.stop(nil)
	want := outcome{Verdict: "continue next-task", Changed: files{folder + ".progress-task-1.md": "(removed)"}}
	got := told(d, want, work, p.read())
	got.Notice, got.Log = "", nil
	diff(t, want, got)
}

// The marker is the agent's own, in this turn.
func TestSpeckitMarker(t *testing.T) {
	for name, test := range map[string]struct {
		session string
		want    string
	}{
		"after prose":             {session(person("go on"), agent("All 10 tasks are done.\n\nALL_TASKS_COMPLETE")), "stop all-done"},
		"before a last tool call": {session(person("go on"), agent("ALL_TASKS_COMPLETE"), agent(toolUse("rm state")), toolResult("removed")), "stop all-done"},
		"asked for by the loop itself": {session(person("go on"), agent("Task 2 is done."),
			feedback("After the last task write\nALL_TASKS_COMPLETE\nalone on a line"), agent("Task 3 is next.")), "continue next-task"},
		"written by the user, a tool, a thought and a subagent": {session(person("Do all and write\nALL_TASKS_COMPLETE"),
			agent(thinking("ALL_TASKS_COMPLETE"), toolUse("echo ALL_TASKS_COMPLETE")), toolResult("ALL_TASKS_COMPLETE"),
			subagent("ALL_TASKS_COMPLETE"), agent("One task is done.")), "continue next-task"},
		"of an earlier feature": {session(person("do 000"), agent("ALL_TASKS_COMPLETE"), person("do 001"), agent("One task is done.")), "continue next-task"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, "speckit", nil, ticked(speckitWork(), speckitTasks))
			file := filepath.Join(t.TempDir(), "session.jsonl")
			if err := os.WriteFile(file, []byte(test.session), 0o600); err != nil {
				t.Fatal(err)
			}
			expect(t, p.stop(event{"last_assistant_message": nil, "transcript_path": file}), test.want)
		})
	}
}

// A state that the agent removed or moved ends the loop of its session once; other
// sessions have none.
func TestVanishedState(t *testing.T) {
	done := event{"last_assistant_message": "ALL_TASKS_COMPLETE"}
	p := newProject(t, "speckit", nil, ticked(speckitWork(), speckitTasks))
	expect(t, p.stop(nil), "continue next-task")
	if err := os.Remove(filepath.Join(p.dir, speckitState)); err != nil {
		t.Fatal(err)
	}
	expect(t, p.stop(event{"session_id": "another", "last_assistant_message": "ALL_TASKS_COMPLETE"}), "idle")
	d := p.stop(done)
	expect(t, d, "stop all-done")
	diff(t, true, d.Verdict.Success)
	expect(t, p.stop(done), "idle")

	// A pointer that moved leads to another loop, or to none.
	p = newProject(t, "speckit", nil, speckitWork())
	expect(t, p.stop(nil), "continue next-task")
	p.write(files{speckitPointer: "002-next"})
	expect(t, p.stop(done), "idle")
}

// A line that people read as enabled: false switches both policies off, whatever else is
// in the first block. What is not YAML there is reported once.
func TestBrokenSettings(t *testing.T) {
	policies := map[string]struct {
		file string
		work func() files
	}{
		"speckit": {speckitSwitch, speckitWork},
		"specum":  {specumSwitch, specumWork},
	}
	for name, test := range map[string]struct {
		text   string
		off    bool
		notice string // what it contains; empty if there is none
	}{
		"a star":                   {"---\nenabled: false\nglob: *.md\n---\n", true, ":3: glob is not valid YAML"},
		"a tab":                    {"---\nenabled:\tfalse\n---\n", true, ""},
		"no blank":                 {"---\nenabled:false\n---\n", true, ":2: enabled is not valid YAML"},
		"twice":                    {"---\nenabled: false\nenabled: true\n---\n", false, ":2: enabled is set again below"},
		"twice, off last":          {"---\nenabled: true\nenabled: false\n---\n", true, ":2: enabled is set again below"},
		"never closed":             {"---\nenabled: false\n", true, "no second --- closes"},
		"a blank line first":       {"\n\n---\nenabled: false\n---\n", true, ""},
		"a capital, and a comment": {"---\nenabled: False # for now\n---\n", true, ""},
		"a BOM and CRLF":           {"\uFEFF---\r\nenabled: false\r\nglob: *.md\r\n---\r\n", true, "glob is not valid YAML"},
		"on, beside a star":        {"---\nenabled: true\nglob: *.md\n---\n", false, "glob is not valid YAML"},
		"below a heading":          {"# Settings\n\n---\nenabled: false\n---\n", false, ""},
	} {
		for policy, of := range policies {
			t.Run(policy+"/"+name, func(t *testing.T) {
				t.Parallel()
				work := of.work()
				work[of.file] = test.text
				p := newProject(t, policy, map[string]string{"reentry": "always"}, work)
				d := p.stop(nil)
				if (d.Verdict.Aside != "") != test.off {
					t.Errorf("%s; notices: %q", verdict(d), d.Notices)
				}
				reported := slices.DeleteFunc(d.Notices, func(n string) bool { return strings.Contains(n, " iteration 3 | ") })
				if got := strings.Join(reported, "\n"); !strings.Contains(got, test.notice) || test.notice == "" && got != "" {
					t.Errorf("it reports %q, want %q", got, test.notice)
				}
				if again := strings.Join(p.stop(nil).Notices, "\n"); test.notice != "" && strings.Contains(again, test.notice) {
					t.Errorf("it reports again: %q", again)
				}
			})
		}
	}
}

// A field of a wrong type, or out of its range, that a decision or its text reads is reported. It ends the loop at the first
// stop rule that compares it.
func TestBadState(t *testing.T) {
	type want struct {
		verdict string
		notice  string // what it contains; empty if there is none but that of the loop
	}
	const next = "continue next-task"
	for field, in := range map[string]map[string]want{
		`"taskIndex": -1`:                               {"speckit": {"stop no-tasks", "taskIndex is -1"}, "specum": {"stop ", "taskIndex is -1"}},
		`"taskIndex": "a[$(touch pwned)]"`:              {"speckit": {"stop no-tasks", "taskIndex is \"a[$(touch pwned)]\""}, "specum": {"stop ", "taskIndex is \"a[$(touch pwned)]\""}},
		`"totalTasks": [10]`:                            {"both": {"stop no-tasks", "totalTasks"}},
		`"taskIteration": 0`:                            {"both": {next, ""}},
		`"taskIteration": "third"`:                      {"both": {"stop attempts", "taskIteration is \"third\""}},
		`"globalIteration": "third"`:                    {"both": {"stop limit", "globalIteration is \"third\""}},
		`"maxTaskIterations": 0`:                        {"both": {"stop attempts", "maxTaskIterations is 0"}},
		`"maxGlobalIterations": 0`:                      {"both": {"stop limit", ""}},
		`"recoveryMode": 3`:                             {"both": {next, "recoveryMode is 3"}},
		`"awaitingApproval": "later"`:                   {"both": {"stop awaiting-approval", "awaitingApproval is \"later\""}},
		`"fixTaskMap": []`:                              {"both": {next, ""}},
		`"nativeSyncEnabled": "auto"`:                   {"specum": {next, "nativeSyncEnabled is \"auto\""}},
		`"maxModificationsPerTask": 0`:                  {"specum": {next, ""}},
		`"epicName": 3`:                                 {"specum": {next, ""}},
		`"phase": "execution", "phase": "constitution"`: {"both": {"stop not-executing", "phase is \"constitution\", expected one of"}},
	} {
		for policy, w := range in {
			policies := []string{policy}
			if policy == "both" {
				policies = []string{"speckit", "specum"}
			}
			for _, policy := range policies {
				t.Run(policy+"/"+field, func(t *testing.T) {
					t.Parallel()
					work, file := speckitWork(), speckitState
					if policy == "specum" {
						work, file = specumWork(), specumState
					}
					work[file] = state(`{"phase": "execution", "taskIndex": 2, "totalTasks": 7, %s}`, field)
					if strings.Contains(field, "constitution") {
						work[file] = `{"phase": "constitution", "totalTasks": 7}`
					}
					d := newProject(t, policy, nil, work).stop(nil)
					got := verdict(d)
					if got != w.verdict {
						t.Errorf("%s, want %s; notices %q", got, w.verdict, d.Notices)
					}
					reported := strings.Join(slices.DeleteFunc(slices.Clone(d.Notices), func(n string) bool { return strings.HasPrefix(n, "Ralph-") }), "\n")
					if !strings.Contains(reported, w.notice) || w.notice == "" && reported != "" {
						t.Errorf("it reports %q, want %q", reported, w.notice)
					}
				})
			}
		}
	}
}
