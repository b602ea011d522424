package examples_test

import (
	"fmt"
	"testing"
	"time"
)

const (
	speckitPointer = ".specify/.current-feature"
	speckitState   = ".specify/specs/001-demo/.speckit-state.json"
	speckitSwitch  = ".claude/ralph-speckit.local.md"
)

// speckitWork is a feature with eight of ten tasks to go.
func speckitWork() files {
	return files{
		speckitPointer: "001-demo\n",
		speckitState:   `{"phase": "execution", "taskIndex": 2, "totalTasks": 10, "globalIteration": 3}`,
	}
}

func state(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// A feature is worked on task by task, and every state of it has one answer.
func TestSpeckit(t *testing.T) {
	where := "[ralph-speckit] Session stopped during feature: 001-demo | Task: 3/10 | Attempt: 1"
	goesOn := outcome{
		Verdict: "continue next-task",
		Says:    []string{"Continue feature: 001-demo (Task 3/10, Iter 3)", speckitState, "ALL_TASKS_COMPLETE alone on a line"},
		Notice:  "Ralph-speckit iteration 3 | Task 3/10",
		Log:     []string{where},
	}
	allDone := outcome{
		Verdict: "stop all-done",
		Log:     []string{"[ralph-speckit] ALL_TASKS_COMPLETE detected, 001-demo is done"},
	}
	check(t, "speckit", speckitWork(), []situation{
		{name: "work is left", want: goesOn},

		// Where nothing is to be done, nothing is said.
		{name: "no feature", files: files{speckitPointer: absent}, want: outcome{Verdict: "idle"}},
		{name: "an empty pointer", files: files{speckitPointer: " \n"}, want: outcome{Verdict: "stop no-feature"}},
		{name: "a feature without state", files: files{speckitState: absent}, want: outcome{Verdict: "stop no-feature"}},
		{name: "another phase", files: files{speckitState: `{"phase": "plan", "taskIndex": 2, "totalTasks": 10}`}, want: outcome{Verdict: "stop not-executing"}},
		{name: "no phase", files: files{speckitState: `{"taskIndex": 2, "totalTasks": 10}`}, want: outcome{Verdict: "stop not-executing"}},
		{name: "no task left", files: files{speckitState: `{"phase": "execution", "taskIndex": 10, "totalTasks": 10}`}, want: outcome{Verdict: "stop nothing-left"}},
		{name: "no tasks at all", files: files{speckitState: `{"phase": "execution"}`}, want: outcome{Verdict: "stop nothing-left"}},

		// The switch is YAML, however it is written.
		{name: "switched off", files: files{speckitSwitch: "---\nenabled: false\n---\n"}, want: outcome{Verdict: "stop switched-off"}},
		{name: "switched off, CRLF and comment", files: files{speckitSwitch: "---\r\nenabled: false # a holiday\r\n---\r\n"}, want: outcome{Verdict: "stop switched-off"}},
		{name: "switched off as a text", files: files{speckitSwitch: "---\nenabled: \"false\"\n---\n"}, want: outcome{Verdict: "stop switched-off"}},
		{name: "switched on", files: files{speckitSwitch: "---\nenabled: true\n---\n"}, want: goesOn},
		{name: "a body is no setting", files: files{speckitSwitch: "---\nenabled: true\n---\n\n---\nenabled: false\n---\n"}, want: goesOn},
		{name: "off before all else", files: files{speckitSwitch: "---\nenabled: false\n---\n", speckitState: "{"}, want: outcome{Verdict: "stop switched-off"}},

		// The bound that the state itself sets.
		{
			name:  "limit of iterations",
			files: files{speckitState: `{"phase": "execution", "taskIndex": 2, "totalTasks": 10, "globalIteration": 7, "maxGlobalIterations": 7}`},
			want: outcome{Verdict: "stop limit", Log: []string{
				"[ralph-speckit] ERROR: Maximum global iterations (7) reached for 001-demo. What went wrong is told in .specify/specs/001-demo/.progress.md",
				"[ralph-speckit] Recovery: raise maxGlobalIterations in " + speckitState + ", or run /speckit:cancel",
			}},
		},
		{
			name:  "the first iteration counts when none is written",
			files: files{speckitState: `{"phase": "execution", "taskIndex": 2, "totalTasks": 10, "maxGlobalIterations": 1}`},
			want: outcome{Verdict: "stop limit", Log: []string{
				"[ralph-speckit] ERROR: Maximum global iterations (1) reached for 001-demo. What went wrong is told in .specify/specs/001-demo/.progress.md",
				"[ralph-speckit] Recovery: raise maxGlobalIterations in " + speckitState + ", or run /speckit:cancel",
			}},
		},

		// Once a prompt, unless the person wants more.
		{
			name: "a second stop of the prompt", event: event{"stop_hook_active": true},
			want: outcome{Verdict: "stop reentry/continued-before", Log: []string{where, "[ralph-speckit] stop_hook_active=true, the agent may stop (reentry is once)"}},
		},
		{name: "a second stop with reentry", event: event{"stop_hook_active": true}, set: map[string]string{"reentry": "always"}, want: goesOn},

		// Waiting is not stopping: another stop follows.
		{
			name:  "a subagent still runs",
			event: event{"background_tasks": []any{event{"id": "b1", "type": "subagent", "status": "running"}}},
			want:  outcome{Verdict: "stop waiting/background"},
		},
		{
			name:  "a server runs for ever",
			event: event{"background_tasks": []any{event{"id": "b1", "type": "shell", "status": "running"}}},
			want:  goesOn,
		},
		{name: "a wake-up is set", event: event{"session_crons": []any{event{"id": "c1", "schedule": "*/5 * * * *"}}}, want: outcome{Verdict: "stop waiting/wake-up"}},

		// Done is what the agent itself says is done.
		{name: "said in the last message", event: event{"last_assistant_message": "All ten are done.\n\n**ALL_TASKS_COMPLETE**"}, want: allDone},
		{
			name: "said after prose, in a session file",
			event: event{"last_assistant_message": nil, "transcript": session(
				person("go on"), agent("All 10 tasks are done.\n\nALL_TASKS_COMPLETE"))},
			want: allDone,
		},
		{
			name: "said before a last tool call",
			event: event{"last_assistant_message": nil, "transcript": session(
				person("go on"), agent("ALL_TASKS_COMPLETE"), agent(toolUse("rm state")), toolResult("removed"))},
			want: allDone,
		},
		{name: "said, whatever the state is", files: files{speckitState: "{"}, event: event{"last_assistant_message": "ALL_TASKS_COMPLETE"}, want: allDone},
		{name: "spoken about", event: event{"last_assistant_message": "I shall write ALL_TASKS_COMPLETE at the end."}, want: goesOn},
		{name: "a longer word", event: event{"last_assistant_message": "NOT_ALL_TASKS_COMPLETE"}, want: goesOn},
		{
			name: "asked for by the loop itself",
			event: event{"transcript": session(
				person("go on"), agent("Task 2 is done."),
				feedback("After the last task write\nALL_TASKS_COMPLETE\nalone on a line"), agent("Task 3 is next."))},
			want: goesOn,
		},
		{
			name: "written by the person, a tool, a thought and a subagent",
			event: event{"transcript": session(
				person("Do all and write\nALL_TASKS_COMPLETE"),
				agent(thinking("ALL_TASKS_COMPLETE"), toolUse("echo ALL_TASKS_COMPLETE")), toolResult("ALL_TASKS_COMPLETE"),
				subagent("ALL_TASKS_COMPLETE"), agent("One task is done."))},
			want: goesOn,
		},
		{
			name: "said of an earlier feature",
			event: event{"transcript": session(
				person("do 000"), agent("ALL_TASKS_COMPLETE"), person("do 001"), agent("One task is done."))},
			want: goesOn,
		},

		// What the state holds can neither run nor reach anything.
		{name: "numbers as texts", files: files{speckitState: `{"phase": "execution", "taskIndex": "2", "totalTasks": 10.0, "globalIteration": 3}`}, want: goesOn},
		{
			name:  "a pointer out of the project",
			files: files{speckitPointer: "../../outside"},
			want:  outcome{Verdict: "stop no-feature", Notice: "[ralph-speckit] state…"},
		},
		{
			name:  "a command in the place of a number",
			files: files{speckitState: `{"phase": "execution", "taskIndex": "a[$(touch pwned)]", "totalTasks": 10}`},
			want: outcome{
				Verdict: "stop beyond-the-end",
				Notice:  "[ralph-speckit] rule beyond-the-end: state…",
			},
		},
	})
}

// A state that cannot be read is told to the agent once a prompt, so that it can
// mend it and yet is never held.
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
			expect(t, p.stop(event{"prompt_id": "p1", "stop_hook_active": true}), "stop reentry/continued-before")
			expect(t, p.stop(event{"prompt_id": "p2", "stop_hook_active": true}), "continue corrupt-state")
		})
	}
}

// With reentry=progress the loop runs through all tasks of one prompt for as long
// as the index moves, and no further.
func TestSpeckitRunsWhileItAdvances(t *testing.T) {
	p := newProject(t, "speckit", map[string]string{"reentry": "progress"}, speckitWork())
	at := func(task int, active bool) event {
		p.write(files{speckitState: state(`{"phase": "execution", "taskIndex": %d, "totalTasks": 10}`, task)})
		return event{"prompt_id": "p1", "stop_hook_active": active}
	}
	expect(t, p.stop(at(2, false)), "continue next-task", "Task 3/10")
	expect(t, p.stop(at(3, true)), "continue next-task", "Task 4/10")
	expect(t, p.stop(at(4, true)), "continue next-task", "Task 5/10")
	expect(t, p.stop(at(4, true)), "stop reentry/no-progress")
	expect(t, p.stop(at(10, true)), "stop nothing-left")
}

// Ten continuations on the same task are enough, even for those who want it always.
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
