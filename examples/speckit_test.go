package examples_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-sdk/ralph/rules"
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
	limit := func(max int) outcome {
		return outcome{
			Verdict: "stop limit",
			Notice: fmt.Sprintf("Ralph-speckit: 001-demo reached its limit of %d iterations. .specify/specs/001-demo/.progress.md says what failed: fix it and "+
				"run /speckit:implement, or raise maxGlobalIterations in %s. /speckit:cancel ends the run.", max, speckitState),
			Log: []string{fmt.Sprintf("[ralph-speckit] ERROR: Maximum global iterations (%d) reached for 001-demo", max)},
		}
	}
	allDone := outcome{
		Verdict: "stop all-done",
		Log:     []string{"[ralph-speckit] ALL_TASKS_COMPLETE detected, 001-demo is done"},
	}
	check(t, "speckit", speckitWork(), []situation{
		{name: "work is left", want: goesOn},

		// Where there is nothing to do, it says nothing.
		{name: "no feature", files: files{speckitPointer: absent}, want: outcome{Verdict: "idle"}},
		{name: "an empty pointer", files: files{speckitPointer: " \n"}, want: outcome{Verdict: "stop no-feature"}},
		{name: "a feature without state", files: files{speckitState: absent}, want: outcome{Verdict: "stop no-feature"}},
		{name: "another phase", files: files{speckitState: `{"phase": "plan", "taskIndex": 2, "totalTasks": 10}`}, want: outcome{Verdict: "stop not-executing"}},
		{name: "no phase", files: files{speckitState: `{"taskIndex": 2, "totalTasks": 10}`}, want: outcome{Verdict: "stop not-executing", Says: []string{"the phase is not set"}}},
		{name: "no task left", files: files{speckitState: `{"phase": "execution", "taskIndex": 10, "totalTasks": 10}`}, want: outcome{Verdict: "stop nothing-left"}},
		{name: "no tasks at all", files: files{speckitState: `{"phase": "execution"}`}, want: outcome{Verdict: "stop no-tasks"}},

		// The switch is YAML, however it is written.
		{name: "switched off", files: files{speckitSwitch: "---\nenabled: false\n---\n"}, want: outcome{Verdict: "stop switched-off"}},
		{name: "switched off, CRLF and comment", files: files{speckitSwitch: "---\r\nenabled: false # a holiday\r\n---\r\n"}, want: outcome{Verdict: "stop switched-off"}},
		{name: "switched off as a text", files: files{speckitSwitch: "---\nenabled: \"false\"\n---\n"}, want: outcome{Verdict: "stop switched-off"}},
		{name: "switched on", files: files{speckitSwitch: "---\nenabled: true\n---\n"}, want: goesOn},
		{name: "a body is no setting", files: files{speckitSwitch: "---\nenabled: true\n---\n\n---\nenabled: false\n---\n"}, want: goesOn},
		{name: "switched off for the plugin alone", files: files{speckitSwitch: "---\nenabled: false\n---\n"}, set: map[string]string{"settings": "ignore"}, want: goesOn},
		{name: "off before all else", files: files{speckitSwitch: "---\nenabled: false\n---\n", speckitState: "{"}, want: outcome{Verdict: "stop switched-off"}},

		// The bound that the state itself sets.
		{
			name:  "limit of iterations",
			files: files{speckitState: `{"phase": "execution", "taskIndex": 2, "totalTasks": 10, "globalIteration": 7, "maxGlobalIterations": 7}`},
			want:  limit(7),
		},
		{
			name:  "the first iteration counts when none is written",
			files: files{speckitState: `{"phase": "execution", "taskIndex": 2, "totalTasks": 10, "maxGlobalIterations": 1}`},
			want:  limit(1),
		},

		// A user who is to approve is not talked over.
		{
			name:  "approval is awaited",
			files: files{speckitState: `{"phase": "execution", "taskIndex": 2, "totalTasks": 10, "awaitingApproval": true}`},
			want:  outcome{Verdict: "stop awaiting-approval", Log: []string{where, "[ralph-speckit] awaitingApproval=true, the agent may stop and ask"}},
		},

		// Once per prompt, unless the user wants more.
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
			name: "written by the user, a tool, a thought and a subagent",
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
		{name: "a pointer with a slash behind", files: files{speckitPointer: "001-demo/"}, want: outcome{
			Verdict: goesOn.Verdict, Says: []string{"Task 3/10", speckitState}, Notice: goesOn.Notice,
			Log: []string{strings.Replace(where, "001-demo", "001-demo/", 1)},
		}},
		{
			name:  "a pointer out of the project",
			files: files{speckitPointer: "../../outside"},
			want:  outcome{Verdict: "stop no-feature", Notice: "[ralph-speckit] state…"},
		},
		{
			name:  "a command in the place of a number",
			files: files{speckitState: `{"phase": "execution", "taskIndex": "a[$(touch pwned)]", "totalTasks": 10}`},
			want: outcome{
				Verdict: "stop bad-state",
				Notice:  "[ralph-speckit] rule bad-state: state/taskIndex…",
			},
		},
	})
}

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
			expect(t, p.stop(event{"prompt_id": "p1", "stop_hook_active": true}), "stop reentry/continued-before")
			expect(t, p.stop(event{"prompt_id": "p2", "stop_hook_active": true}), "continue corrupt-state")
		})
	}
}

// A line that people read as enabled: false switches both policies off, whatever stands beside it
// in the first block. What is not YAML there is reported.
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
		"a star":                    {"---\nenabled: false\nglob: *.md\n---\n", true, ":3: glob is not valid YAML"},
		"a star before":             {"---\nglob: *.md\nenabled: false\n---\n", true, ":2: glob is not valid YAML"},
		"colons":                    {"---\ndescription: a: b: c\nenabled: false\n---\n", true, ":2: description is not valid YAML"},
		"a tab":                     {"---\nenabled:\tfalse\n---\n", true, ""},
		"a tab in front of a field": {"---\nnote:\n\t- a\nenabled: false\n---\n", true, ":2: note is not valid YAML"},
		"a tab in front":            {"---\n\tenabled: false\n---\n", true, ":2: enabled is not valid YAML, since a tab stands before it"},
		"no blank":                  {"---\nenabled:false\n---\n", true, ":2: enabled is not valid YAML, since no blank follows its colon"},
		"an open brace":             {"---\n{enabled: false\n---\n", true, "has front matter in which no line is a field"},
		"a list":                    {"---\n- enabled: false\n---\n", true, "has front matter in which no line is a field"},
		"twice":                     {"---\nenabled: false\nenabled: true\n---\n", true, ":3: there is a field enabled above"},
		"twice, on first":           {"---\nenabled: true\nenabled: false\n---\n", false, ":3: there is a field enabled above"},
		"never closed":              {"---\nenabled: false\n", true, "has front matter that line 1 opens and no second --- closes"},
		"never closed, with prose":  {"---\nenabled: false\n\nA note to the team.\n", true, "has front matter that line 1 opens and no second --- closes"},
		"a blank line first":        {"\n\n---\nenabled: false\n---\n", true, ""},
		"a BOM and CRLF":            {"\uFEFF---\r\nenabled: false\r\nglob: *.md\r\n---\r\n", true, "glob is not valid YAML"},
		"on, beside a star":         {"---\nenabled: true\nglob: *.md\n---\n", false, "glob is not valid YAML"},
		"in the body":               {"---\nglob: *.md\n---\n\n---\nenabled: false\n---\n", false, "glob is not valid YAML"},
		"below a heading":           {"# Settings\n\n---\nenabled: false\n---\n", false, ""},
	} {
		for policy, of := range policies {
			t.Run(policy+"/"+name, func(t *testing.T) {
				t.Parallel()
				work := of.work()
				work[of.file] = test.text
				p := newProject(t, policy, nil, work)
				d := p.stop(nil)
				if off := d.Verdict.Rule == "switched-off"; off != test.off {
					t.Errorf("%s; notices: %q", verdict(d), d.Notices)
				}
				reported := slices.DeleteFunc(d.Notices, func(n string) bool { return strings.Contains(n, " iteration 3 | ") })
				if got := strings.Join(reported, "\n"); !strings.Contains(got, test.notice) || test.notice == "" && got != "" {
					t.Errorf("it reports %q, want %q", got, test.notice)
				}
				if again := p.stop(nil).Notices; test.off && len(again) > 0 {
					t.Errorf("it reports again: %q", again)
				}
			})
		}
	}
}

// A number below the minimum of its schema, and a field of a wrong type that a rule or
// the prompt reads, stop the loop and are reported.
func TestSpeckitBadState(t *testing.T) {
	for name, test := range map[string]struct{ field, notice string }{
		"a negative index":            {`"taskIndex": -1`, "Ralph-speckit: a number in " + speckitState + " is out of range: taskIndex is -1. Write"},
		"a negative total":            {`"totalTasks": -1`, "totalTasks is -1. Write"},
		"a negative attempt":          {`"taskIteration": -1`, "taskIteration is -1. Write"},
		"no attempt at all":           {`"maxTaskIterations": 0`, "maxTaskIterations is 0. Write"},
		"a negative iteration":        {`"globalIteration": -1`, "globalIteration is -1. Write"},
		"no iteration at all":         {`"maxGlobalIterations": 0`, "maxGlobalIterations is 0. Write"},
		"no fix task in recovery":     {`"recoveryMode": true, "maxFixTasksPerOriginal": 0`, "maxFixTasksPerOriginal is 0. Write"},
		"attempts that are a word":    {`"maxTaskIterations": "many"`, "rule bad-state: state/maxTaskIterations at " + speckitState + ":1:"},
		"a total that is a list":      {`"totalTasks": [10]`, "rule bad-state: state/totalTasks"},
		"a mode that is a number":     {`"recoveryMode": 3`, "rule bad-state: state/recoveryMode"},
		"an approval that is a word":  {`"awaitingApproval": "later"`, "rule awaiting-approval: state/awaitingApproval"},
		"an iteration that is a text": {`"globalIteration": "third"`, "rule bad-state: state/globalIteration"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			work := speckitWork()
			work[speckitState] = state(`{"phase": "execution", "taskIndex": 2, "totalTasks": 10, %s}`, test.field)
			d := newProject(t, "speckit", nil, work).stop(nil)
			if d.Verdict.Action != rules.Stop || !strings.Contains(strings.Join(d.Notices, "\n"), test.notice) {
				t.Errorf("%s, and reports %q, want a notice with %q", verdict(d), d.Notices, test.notice)
			}
		})
	}
}

// The prompt says what to do next, step by step, and follows the fields of the state.
func TestSpeckitPrompt(t *testing.T) {
	for name, test := range map[string]struct {
		field       string
		says, lacks []string
	}{
		"a task": {
			field: `"taskIteration": 2, "maxTaskIterations": 4`,
			says: []string{
				"1. Read " + speckitState + " and find item 2, counted from 0, in .specify/specs/001-demo/tasks.md",
				"spec-executor, or to qa-engineer if it is marked [VERIFY]; do not do it yourself",
				"all four verification layers",
				"raise taskIndex and globalIteration, and set taskIteration to 1",
				"this is attempt 2/4. Try again. After the last attempt report what failed and stop",
				"see that every box is ticked, remove the state file and write ALL_TASKS_COMPLETE alone on a line",
				"Add no other items to tasks.md",
			},
			lacks: []string{"fix task", "(?)"},
		},
		"a group": {
			says: []string{
				"up to one without [P] or with [VERIFY]: all in one message, each with a progress file .specify/specs/001-demo/.progress-task-N.md",
				"merge the progress files into .progress.md, remove them, and raise taskIndex past the group",
			},
		},
		"recovery mode": {
			field: `"recoveryMode": true, "taskIteration": 2`,
			says:  []string{"Recovery: true", "this is attempt 2/5. Recovery mode: below the item add a fix task `- [ ] ID.N [FIX ID] Fix: ERROR`", "maxFixTasksPerOriginal: 3\n", "fixTaskMap[ID] raise attempts", "then the item again"},
			lacks: []string{"Try again", "(?)"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			work := speckitWork()
			if test.field != "" {
				work[speckitState] = state(`{"phase": "execution", "taskIndex": 2, "totalTasks": 10, %s}`, test.field)
			}
			d := newProject(t, "speckit", nil, work).stop(nil)
			expect(t, d, "continue next-task", test.says...)
			expectNot(t, d, test.lacks...)
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

// Another attempt at the same task is progress too: a retry does not end the loop.
func TestSpeckitRunsWhileItRetries(t *testing.T) {
	p := newProject(t, "speckit", map[string]string{"reentry": "progress"}, speckitWork())
	attempt := func(n int) event {
		p.write(files{speckitState: state(`{"phase": "execution", "taskIndex": 2, "totalTasks": 10, "taskIteration": %d}`, n)})
		return event{"prompt_id": "p1", "stop_hook_active": n > 1}
	}
	expect(t, p.stop(attempt(1)), "continue next-task", "attempt 1/5")
	expect(t, p.stop(attempt(2)), "continue next-task", "attempt 2/5")
	expect(t, p.stop(attempt(2)), "stop reentry/no-progress")
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
