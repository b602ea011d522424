package examples_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
				if (d.Verdict.Cause != "") != test.off {
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
