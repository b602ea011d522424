package examples_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/rules"
)

const (
	specumPointer = "specs/.current-spec"
	specumState   = "specs/demo/.ralph-state.json"
	specumTasks   = "specs/demo/tasks.md"
	specumSwitch  = ".claude/ralph-specum.local.md"
	specumEpic    = "specs/_epics/big/.epic-state.json"
)

const specumList = `# Tasks

- [x] 1.1 Begin
  - **Do**: the first step

- [x] 1.2 Go on
- [ ] 1.3 Build the thing
  - **Do**: the third step

    with a paragraph of its own
- [ ] 1.4 [P] Paint it
  - red

- [ ] 1.5 [P] Describe it
- [ ] 1.6 See that it holds [VERIFY]

## Later

- [ ] 2.1 [P] Sell it
`

// specumWork is a spec with five of seven tasks to go.
func specumWork() files {
	return files{
		specumPointer: "demo\n",
		specumState:   `{"phase": "execution", "taskIndex": 2, "totalTasks": 7, "globalIteration": 3}`,
		specumTasks:   specumList,
	}
}

// A spec is carried through its tasks, and every state of it has one answer.
func TestSpecum(t *testing.T) {
	where := "[ralph-specum] Session stopped during spec: demo | Task: 3/7 | Attempt: 1"
	goesOn := outcome{
		Verdict: "continue next-task",
		Says:    []string{"Continue spec: demo (Task 3/7, Iter 3)", "Path: specs/demo", "- [ ] 1.3 Build the thing\n  - **Do**: the third step\n\n    with a paragraph of its own\n"},
		Notice:  "Ralph-specum iteration 3 | Task 3/7",
		Log:     []string{where},
	}
	quick := func(phase string) files {
		return files{specumState: `{"phase": "` + phase + `", "quickMode": true, "awaitingApproval": true}`}
	}
	quickGoesOn := func(phase string) outcome {
		return outcome{
			Verdict: "continue quick-mode",
			Says:    []string{"Spec demo runs in quick mode and its phase is " + phase, "do not ask the user any questions", specumState},
			Notice:  "Ralph-specum quick mode: continue " + phase + " phase",
		}
	}
	allDone := outcome{Verdict: "stop all-done", Log: []string{"[ralph-specum] ALL_TASKS_COMPLETE detected, demo is done"}}
	finished := `{"phase": "execution", "taskIndex": 7, "totalTasks": 7}`
	atEnd := "[ralph-specum] Session stopped during spec: demo | Task: 8/7 | Attempt: 1"
	check(t, "specum", specumWork(), []situation{
		{name: "work is left", want: goesOn},
		{name: "no spec", files: files{specumPointer: absent}, want: outcome{Verdict: "idle"}},
		{name: "no state", files: files{specumState: absent}, want: outcome{Verdict: "stop no-spec"}},
		{name: "another phase", files: files{specumState: `{"phase": "design", "taskIndex": 2, "totalTasks": 7}`}, want: outcome{Verdict: "stop not-executing"}},
		{name: "no phase", files: files{specumState: `{"taskIndex": 2, "totalTasks": 7}`}, want: outcome{Verdict: "stop not-executing", Says: []string{"the phase is not set"}}},
		{name: "switched off", files: files{specumSwitch: "---\nenabled: false\n---\n"}, want: outcome{Verdict: "stop switched-off"}},
		{name: "switched off for the plugin alone", files: files{specumSwitch: "---\nenabled: false\n---\n"}, set: map[string]string{"settings": "ignore"}, want: goesOn},
		{
			name:  "limit of iterations, in every phase",
			files: files{specumState: `{"phase": "design", "quickMode": true, "globalIteration": 7, "maxGlobalIterations": 7}`},
			want: outcome{
				Verdict: "stop limit",
				Notice: "Ralph-specum: demo reached its limit of 7 iterations. specs/demo/.progress.md says what failed: fix it and " +
					"run /ralph-specum:implement, or raise maxGlobalIterations in " + specumState + ". /ralph-specum:cancel ends the run.",
				Log: []string{"[ralph-specum] ERROR: Maximum global iterations (7) reached for demo"},
			},
		},
		{
			name: "a second stop of the prompt", event: event{"stop_hook_active": true},
			want: outcome{Verdict: "stop reentry/continued-before", Log: []string{where, "[ralph-specum] stop_hook_active=true, the agent may stop (reentry is once)"}},
		},

		// Quick mode asks no questions.
		{name: "quick mode, research", files: quick("research"), want: quickGoesOn("research")},
		{name: "quick mode, tasks", files: quick("tasks"), want: quickGoesOn("tasks")},
		{
			name:  "quick mode, no phase",
			files: files{specumState: `{"quickMode": true}`},
			want: outcome{
				Verdict: "continue quick-mode",
				Says:    []string{"runs in quick mode and has no phase yet: begin with research.", "1. Finish the research document"},
				Notice:  "Ralph-specum quick mode: continue research phase",
			},
		},
		{
			name: "quick mode, a second stop of the prompt", files: quick("design"), event: event{"stop_hook_active": true},
			want: outcome{Verdict: "stop reentry/continued-before", Log: []string{"[ralph-specum] stop_hook_active=true, the agent may stop (reentry is once)"}},
		},
		{
			name:  "quick mode, execution",
			files: files{specumState: `{"phase": "execution", "quickMode": true, "taskIndex": 2, "totalTasks": 7, "globalIteration": 3}`},
			want:  goesOn,
		},

		// A user who is to approve is not talked over.
		{
			name:  "approval is awaited",
			files: files{specumState: `{"phase": "execution", "taskIndex": 2, "totalTasks": 7, "awaitingApproval": true}`},
			want:  outcome{Verdict: "stop awaiting-approval", Log: []string{where, "[ralph-specum] awaitingApproval=true, the agent may stop and ask"}},
		},

		// The state and the list must agree before a spec counts as done.
		{
			name:  "complete by the state, open by the list",
			files: files{specumState: finished},
			want: outcome{
				Verdict: "continue unchecked-tasks",
				Says:    []string{"index 7 of 7", "5 unchecked items are left in specs/demo/tasks.md", "qa-engineer if the item is marked [VERIFY]", "Add no new tasks"},
				Notice:  "Ralph-specum: 5 unchecked tasks remain in tasks.md",
				Log:     []string{atEnd, "[ralph-specum] The state says complete, but tasks.md has 5 unchecked items"},
			},
		},
		{
			name:  "complete by both",
			files: files{specumState: finished, specumTasks: strings.ReplaceAll(specumList, "[ ]", "[X]")},
			want:  outcome{Verdict: "stop verified", Log: []string{atEnd, "[ralph-specum] All tasks verified complete for demo"}},
		},
		{
			name:  "complete by the state, no list",
			files: files{specumState: finished, specumTasks: absent},
			want:  outcome{Verdict: "stop verified", Log: []string{atEnd, "[ralph-specum] All tasks verified complete for demo"}},
		},
		{
			name:  "an open box in a code block is no task",
			files: files{specumState: finished, specumTasks: "- [x] done\n\n```\n- [ ] an example\n```\n"},
			want:  outcome{Verdict: "stop verified", Log: []string{atEnd, "[ralph-specum] All tasks verified complete for demo"}},
		},
		{
			name:  "no tasks",
			files: files{specumState: `{"phase": "execution"}`},
			want:  outcome{Verdict: "stop no-tasks", Log: []string{"[ralph-specum] Session stopped during spec: demo | Task: 1/0 | Attempt: 1"}},
		},

		// Done is what the agent itself says is done.
		{name: "said", event: event{"last_assistant_message": "## ALL_TASKS_COMPLETE"}, want: allDone},
		{
			name: "asked for by the loop itself",
			event: event{"transcript": session(
				person("/implement"), agent("Task 2 is done."), feedback("… write ALL_TASKS_COMPLETE\nALL_TASKS_COMPLETE"), agent("On to task 3."))},
			want: goesOn,
		},

		// The epic of a finished spec is brought up to date, and nothing else of it.
		{
			name: "a finished spec of an epic",
			files: files{
				"specs/.current-epic": "big",
				specumState:           `{"phase": "execution", "taskIndex": 7, "totalTasks": 7, "epicName": "big"}`,
				specumEpic:            "{\n  \"name\": \"big\", \"specs\": [\n    {\"name\": \"other\", \"status\": \"pending\"},\n    {\"name\": \"demo\",  \"status\": \"pending\", \"x\": 1.50}\n  ]\n}\n",
			},
			event: event{"last_assistant_message": "ALL_TASKS_COMPLETE"},
			want: outcome{
				Verdict: "stop all-done",
				Log:     []string{"[ralph-specum] Epic 'big' updated, spec 'demo' is completed", "[ralph-specum] ALL_TASKS_COMPLETE detected, demo is done"},
				Changed: files{specumEpic: "{\n  \"name\": \"big\", \"specs\": [\n    {\"name\": \"other\", \"status\": \"pending\"},\n    {\"name\": \"demo\",  \"status\": \"completed\", \"x\": 1.50}\n  ]\n}\n"},
			},
		},
		{
			name: "a finished spec of no epic, beside an epic",
			files: files{
				"specs/.current-epic": "big",
				specumState:           `{"phase": "execution", "taskIndex": 7, "totalTasks": 7}`,
				specumEpic:            `{"specs": [{"name": "demo", "status": "pending"}]}`,
			},
			event: event{"last_assistant_message": "ALL_TASKS_COMPLETE"},
			want:  allDone,
		},
		{
			name: "an epic that is not begun",
			files: files{
				specumState: `{"phase": "execution", "taskIndex": 7, "totalTasks": 7, "epicName": "big"}`,
				specumEpic:  `{"specs": [{"name": "demo", "status": "pending"}]}`,
			},
			event: event{"last_assistant_message": "ALL_TASKS_COMPLETE"},
			want:  allDone,
		},
		{
			name: "an epic out of the project",
			files: files{
				"specs/.current-epic":     "big",
				specumState:               `{"phase": "execution", "taskIndex": 7, "totalTasks": 7, "epicName": "../../victim"}`,
				"victim/.epic-state.json": `{"specs": [{"name": "demo", "status": "pending"}]}`,
			},
			event: event{"last_assistant_message": "ALL_TASKS_COMPLETE"},
			want:  outcome{Verdict: "stop all-done", Notice: "[ralph-specum] epic…", Log: allDone.Log},
		},
		{
			name: "an epic that cannot be read",
			files: files{
				"specs/.current-epic": "big",
				specumState:           `{"phase": "execution", "taskIndex": 7, "totalTasks": 7, "epicName": "big"}`,
				specumEpic:            `{"specs": [`,
			},
			event: event{"last_assistant_message": "ALL_TASKS_COMPLETE"},
			want:  outcome{Verdict: "stop all-done", Notice: "[ralph-specum] epic…", Log: allDone.Log},
		},

		// Pointers stay beneath the project.
		{
			name:  "a pointer out of the project",
			files: files{specumPointer: "./../lab"},
			want:  outcome{Verdict: "stop no-spec", Notice: "[ralph-specum] state…"},
		},
		{
			name: "a pointer that names a folder",
			files: files{
				specumPointer:                       "./docs/specs/demo",
				"docs/specs/demo/.ralph-state.json": `{"phase": "design"}`,
			},
			want: outcome{Verdict: "stop not-executing"},
		},
		{
			name:  "a name with a blank",
			files: files{specumPointer: "my demo", "specs/my demo/.ralph-state.json": `{"phase": "design"}`},
			want:  outcome{Verdict: "stop not-executing"},
		},
	})
}

// Of the task list the agent gets the task at the index, whole and alone, or a
// group of neighbours that are marked [P].
func TestSpecumTaskText(t *testing.T) {
	const several = "## Tasks to run in PARALLEL, all started in one message\n"
	for name, test := range map[string]struct {
		index int
		set   map[string]string
		list  string
		want  string
	}{
		"one task":                 {index: 2, want: "## Task\n- [ ] 1.3 Build the thing\n  - **Do**: the third step\n\n    with a paragraph of its own\n\n## Next"},
		"a group":                  {index: 3, want: several + "- [ ] 1.4 [P] Paint it\n  - red\n- [ ] 1.5 [P] Describe it\n\n## Next"},
		"a group cut short":        {index: 3, set: map[string]string{"group": "1"}, want: "## Task\n- [ ] 1.4 [P] Paint it\n  - red\n\n## Next"},
		"the end of a group":       {index: 4, want: "## Task\n- [ ] 1.5 [P] Describe it\n\n## Next"},
		"a mark further on":        {index: 5, want: "## Task\n- [ ] 1.6 See that it holds [VERIFY]\n\n## Next"},
		"the last, in a section":   {index: 6, want: "## Task\n- [ ] 2.1 [P] Sell it\n\n## Next"},
		"a capital X is a tick":    {index: 1, list: "- [X] first\n- [ ] second\n- [ ] third\n", want: "## Task\n- [ ] second\n\n## Next"},
		"stars are items too":      {index: 1, list: "* [x] first\n* [ ] second\n", want: "## Task\n* [ ] second\n\n## Next"},
		"a check is no neighbour":  {index: 0, list: "- [ ] 1 [P] a\n- [ ] 2 [P] [VERIFY] b\n- [ ] 3 [P] c\n", want: "## Task\n- [ ] 1 [P] a\n\n## Next"},
		"a check is alone":         {index: 1, list: "- [ ] 1 [P] a\n- [ ] 2 [P] [VERIFY] b\n- [ ] 3 [P] c\n", want: "## Task\n- [ ] 2 [P] [VERIFY] b\n\n## Next"},
		"a list that is too short": {index: 6, list: "- [ ] first\n", want: "## Task\n(not in the list: read specs/demo/tasks.md)\n\n## Next"},
		"no list":                  {index: 6, list: absent, want: "## Task\n(not in the list: read specs/demo/tasks.md)\n\n## Next"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			work := specumWork()
			work[specumState] = state(`{"phase": "execution", "taskIndex": %d, "totalTasks": 7}`, test.index)
			switch test.list {
			case absent:
				delete(work, specumTasks)
			case "":
			default:
				work[specumTasks] = test.list
			}
			p := newProject(t, "specum", test.set, work)
			expect(t, p.stop(nil), "continue next-task", test.want)
		})
	}
}

// Specs can lie in several folders, named in any legal YAML; the first folder that
// exists decides.
func TestSpecumFolders(t *testing.T) {
	for name, test := range map[string]struct{ dirs, want string }{
		"none":                     {"[]", "specs/demo"},
		"a flow list":              {`["./nope", "./pkg/specs/"]`, "pkg/specs/demo"},
		"single quotes":            {"['pkg/specs']", "pkg/specs/demo"},
		"one text":                 {"./pkg/specs", "pkg/specs/demo"},
		"a block list":             {"\n  - ./nope\n  - ./pkg/specs", "pkg/specs/demo"},
		"a comment":                {`["./pkg/specs"] # here`, "pkg/specs/demo"},
		"out of the project":       {`["../elsewhere", "/tmp"]`, "specs/demo"},
		"none of them is a folder": {`["./nope"]`, "specs/demo"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			work := specumWork()
			work[specumSwitch] = "---\nenabled: true\nspecs_dirs: " + test.dirs + "\n---\n"
			for _, f := range []string{specumPointer, specumState} {
				work["pkg/"+f] = work[f]
			}
			p := newProject(t, "specum", nil, work)
			expect(t, p.stop(nil), "continue next-task", "Path: "+test.want+" ")
		})
	}
}

// Boxes that stay open are asked about three times for each prompt of the user, also while they
// become fewer.
func TestSpecumAsksForOpenBoxes(t *testing.T) {
	work := specumWork()
	work[specumState] = `{"phase": "execution", "taskIndex": 7, "totalTasks": 7}`
	p := newProject(t, "specum", nil, work)
	active := event{"prompt_id": "p1", "stop_hook_active": true}
	for range 2 {
		expect(t, p.stop(active), "continue unchecked-tasks", "5 unchecked items")
	}
	p.write(files{specumTasks: strings.Replace(specumList, "[ ]", "[x]", 1)})
	expect(t, p.stop(active), "continue unchecked-tasks", "4 unchecked items")
	expect(t, p.stop(active), "stop still-unchecked")
	expect(t, p.stop(active), "stop still-unchecked")
	expect(t, p.stop(event{"prompt_id": "p2", "stop_hook_active": false}), "continue unchecked-tasks")
}

// A pointer is a name in the folder of the specs, or a path from the root of the project.
func TestSpecumPointers(t *testing.T) {
	for name, pointer := range map[string]func(dir string) string{
		"a name":                     func(string) string { return "demo" },
		"a slash behind":             func(string) string { return "demo/" },
		"slashes behind":             func(string) string { return "demo//\n" },
		"a path":                     func(string) string { return "./specs/demo" },
		"a path with a slash behind": func(string) string { return "./specs/demo/" },
		"below the project":          func(string) string { return "/specs/demo" },
		"an absolute path":           func(dir string) string { return filepath.ToSlash(dir) + "/specs/demo" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, "specum", nil, specumWork())
			p.write(files{
				specumPointer:         pointer(p.dir),
				"specs/.current-epic": "big",
				specumState:           `{"phase": "execution", "taskIndex": 2, "totalTasks": 7, "epicName": "big"}`,
				specumEpic:            `{"specs": [{"name": "demo", "status": "pending"}]}`,
			})
			expect(t, p.stop(nil), "continue next-task", "Continue spec: demo (", "Path: specs/demo ")
			expect(t, p.stop(event{"last_assistant_message": "ALL_TASKS_COMPLETE"}), "stop all-done")
			diff(t, `{"specs": [{"name": "demo", "status": "completed"}]}`, p.read()[specumEpic])
		})
	}
}

// A pointer that leads out of the project, or to no folder of it, is reported once a session.
func TestSpecumLostPointers(t *testing.T) {
	for _, pointer := range []string{"/elsewhere/demo", "C:/elsewhere/demo"} {
		t.Run(pointer, func(t *testing.T) {
			t.Parallel()
			work := specumWork()
			work[specumPointer] = pointer
			p := newProject(t, "specum", nil, work)
			d := p.stop(nil)
			expect(t, d, "stop no-spec")
			diff(t, []string{"Ralph-specum: " + specumPointer + " names " + pointer + ", and there is no such folder in this project"}, d.Notices)
			diff(t, 0, len(p.stop(nil).Notices))
		})
	}
}

// A number below the minimum of its schema, and a field of a wrong type that a rule or
// the prompt reads, stop the loop and are reported.
func TestSpecumBadState(t *testing.T) {
	for name, test := range map[string]struct{ field, notice string }{
		"a negative index":         {`"taskIndex": -1`, "Ralph-specum: a number in " + specumState + " is out of range: taskIndex is -1, write 0 or more."},
		"a negative total":         {`"totalTasks": -1`, "totalTasks is -1, write 0 or more"},
		"an attempt 0":             {`"taskIteration": 0`, "taskIteration is 0, write 1 or more"},
		"no attempt at all":        {`"maxTaskIterations": 0`, "maxTaskIterations is 0, write 1 or more"},
		"an iteration 0":           {`"globalIteration": 0`, "globalIteration is 0, write 1 or more"},
		"no iteration at all":      {`"maxGlobalIterations": 0`, "maxGlobalIterations is 0, write 1 or more"},
		"no fix task in recovery":  {`"recoveryMode": true, "maxFixTasksPerOriginal": 0`, "maxFixTasksPerOriginal is 0, write 1 or more"},
		"no modification":          {`"maxModificationsPerTask": 0`, "maxModificationsPerTask is 0, write 1 or more"},
		"an index too big":         {`"taskIndex": 1e20`, "taskIndex is too big"},
		"a total too big":          {`"totalTasks": 1e20`, "totalTasks is too big"},
		"attempts that are a word": {`"maxTaskIterations": "many"`, "rule bad-state: state/maxTaskIterations at " + specumState + ":1:"},
		"a mode that is a number":  {`"recoveryMode": 3`, "rule bad-state: state/recoveryMode"},
		"a sync that is a word":    {`"nativeSyncEnabled": "sometimes"`, "rule bad-state: state/nativeSyncEnabled"},
		"fix tasks in a list":      {`"recoveryMode": true, "fixTaskMap": [1]`, "rule bad-state: state/fixTaskMap"},
		"an approval that is text": {`"awaitingApproval": "later"`, "rule awaiting-approval: state/awaitingApproval"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			work := specumWork()
			work[specumState] = state(`{"phase": "execution", "taskIndex": 2, "totalTasks": 7, %s}`, test.field)
			d := newProject(t, "specum", nil, work).stop(nil)
			if d.Verdict.Action != rules.Stop || !strings.Contains(strings.Join(d.Notices, "\n"), test.notice) {
				t.Errorf("%s, and reports %q, want a notice with %q", verdict(d), d.Notices, test.notice)
			}
		})
	}
}

// The prompt says what to do next, step by step, and follows the fields of the state.
func TestSpecumPrompt(t *testing.T) {
	for name, test := range map[string]struct {
		index       int
		field       string
		list        string
		says, lacks []string
	}{
		"a task": {
			index: 2, field: `, "taskIteration": 2, "maxTaskIterations": 4`,
			says: []string{
				"1. Read " + specumState + "; the task is above",
				"2. Give it to spec-executor, or to qa-engineer if it is marked [VERIFY]; do not do it yourself",
				"tick it in specs/demo/tasks.md and set taskIndex to 3, taskIteration to 1, and raise globalIteration",
				"this is attempt 2 of 4. Try again; after the last attempt report what failed and stop",
				"remove the state file and write ALL_TASKS_COMPLETE alone on a line",
				"TASK_MODIFICATION_REQUEST check it: at most 3 for a task, ids at most 2 levels",
				"Add no other new tasks",
			},
			lacks: []string{"fix task", ".progress-task-", "(?)"},
		},
		"a group": {
			index: 3,
			says: []string{
				"1. Read " + specumState + "; the tasks are above, no need to look them up",
				"2. Give each task to a spec-executor of its own, with a progress file of its own: specs/demo/.progress-task-N.md, where N is its index, 3 to 4; do not do it yourself",
				"merge their progress files into .progress.md, remove these files, and set taskIndex to 5, taskIteration to 1",
			},
			lacks: []string{"(?)"},
		},
		"a task that is not in the list": {
			index: 6, list: "- [ ] first\n",
			says:  []string{"(not in the list: read specs/demo/tasks.md)", "and find item 6, counted from 0, in specs/demo/tasks.md"},
			lacks: []string{"the task is above", "(?)"},
		},
		"the native tasks in step": {index: 2, says: []string{"NativeSync: true", "- Native tasks: if nativeTaskMap in the state is empty"}},
		"no native tasks":          {index: 2, field: `, "nativeSyncEnabled": false`, says: []string{"NativeSync: false", "## Besides\n- On TASK_MODIFICATION_REQUEST"}, lacks: []string{"ative tasks"}},
		"the first fix task": {
			index: 2, field: `, "recoveryMode": true`,
			says:  []string{"Recovery: true", "add fix task 1 of 3, `- [ ] ID.N [FIX ID] Fix: ERROR`", "fixTaskMap[ID] raise attempts"},
			lacks: []string{"Try again", "(?)"},
		},
		"the last fix task": {
			index: 2, field: `, "recoveryMode": true, "maxFixTasksPerOriginal": 2, "fixTaskMap": {"1.3": {"attempts": 1}, "1.2": {"attempts": 2}}`,
			says: []string{"add fix task 2 of 2,"},
		},
		"no fix task left": {
			index: 2, field: `, "recoveryMode": true, "fixTaskMap": {"1.3": {"attempts": 3}}`,
			says:  []string{"All 3 fix tasks of this task are used up: report what failed and stop"},
			lacks: []string{"Try again", "add fix task"},
		},
		"a fix task of a group": {
			index: 3, field: `, "recoveryMode": true, "fixTaskMap": {"1.4": {"attempts": 3}}`,
			says: []string{"below the failed task add a fix task (3 at most for each)"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			work := specumWork()
			work[specumState] = state(`{"phase": "execution", "taskIndex": %d, "totalTasks": 7%s}`, test.index, test.field)
			if test.list != "" {
				work[specumTasks] = test.list
			}
			d := newProject(t, "specum", nil, work).stop(nil)
			expect(t, d, "continue next-task", test.says...)
			expectNot(t, d, test.lacks...)
		})
	}
}
