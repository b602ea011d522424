package examples_test

import (
	"path/filepath"
	"strings"
	"testing"
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

// A pointer may be an absolute path in the project.
func TestSpecumAbsolutePointer(t *testing.T) {
	p := newProject(t, "specum", nil, specumWork())
	p.write(files{specumPointer: filepath.ToSlash(p.dir) + "/specs/demo/"})
	expect(t, p.stop(nil), "continue next-task", "Path: specs/demo ")
}

// Nothing is written for a spec that belongs to no epic, and where the epic cannot be used.
func TestSpecumEpics(t *testing.T) {
	const epic = `{"specs": [{"name": "demo", "status": "pending"}]}`
	for name, test := range map[string]struct{ epicName, file, epic, notice string }{
		"a spec of no epic":       {epicName: "", file: specumEpic, epic: epic},
		"an epic out of its root": {epicName: "../../victim", file: "victim/.epic-state.json", epic: epic, notice: "leads out of its directory"},
		"a broken epic":           {epicName: "big", file: specumEpic, epic: `{"specs": [`, notice: "epic"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			work := ticked(specumWork(), specumTasks)
			work["specs/.current-epic"] = "big"
			work[specumState] = state(`{"phase": "execution", "taskIndex": 2, "totalTasks": 7, "epicName": "%s"}`, test.epicName)
			work[test.file] = test.epic
			p := newProject(t, "specum", nil, work)
			d := p.stop(event{"last_assistant_message": "ALL_TASKS_COMPLETE"})
			expect(t, d, "stop all-done")
			diff(t, test.epic, p.read()[test.file])
			if got := strings.Join(d.Notices, "\n"); !strings.Contains(got, test.notice) || test.notice == "" && got != "" {
				t.Errorf("it reports %q, want %q", got, test.notice)
			}
		})
	}
}
