package examples_test

import (
	"os"
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

// Specs can be in several directories, named in any legal YAML; the first directory that exists decides.
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

// An index at the end does not end the loop while boxes are open: the loop continues while they become fewer.
func TestSpecumAsksForOpenBoxes(t *testing.T) {
	work := specumWork()
	work[specumState] = `{"phase": "execution", "taskIndex": 7, "totalTasks": 7}`
	p := newProject(t, "specum", map[string]string{"reentry": "progress"}, work)
	active := event{"prompt_id": "p1", "stop_hook_active": true}
	expect(t, p.stop(event{"prompt_id": "p1"}), "continue next-task", "unchecked boxes: 5", "1.3 Build the thing")
	p.write(files{specumTasks: strings.Replace(specumList, "[ ]", "[x]", 1)})
	expect(t, p.stop(active), "continue next-task", "unchecked boxes: 4", "1.4 [P] Paint it")
	expect(t, p.stop(active), "stop reentry/continued-before")
}

// A pointer is a name in the directory of the specs, or a path from the root of the project.
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
			p := newProject(t, "specum", nil, ticked(specumWork(), specumTasks))
			p.write(files{
				specumPointer:         pointer(p.dir),
				"specs/.current-epic": "big",
				specumState:           `{"phase": "execution", "taskIndex": 2, "totalTasks": 7, "epicName": "big"}`,
				specumEpic:            `{"specs": [{"name": "demo", "status": "pending"}]}`,
			})
			expect(t, p.stop(nil), "continue next-task", " specs/demo/tasks.md ", " specs/demo/.ralph-state.json,")
			expect(t, p.stop(event{"last_assistant_message": "ALL_TASKS_COMPLETE"}), "stop all-done")
			diff(t, `{"specs": [{"name": "demo", "status": "completed"}]}`, p.read()[specumEpic])
		})
	}
}

// The epic of a finished spec is brought up to date, and nothing else of it: also where the
// agent removed the state, and where the epic cannot be used.
func TestSpecumEpics(t *testing.T) {
	const before = "{\n  \"name\": \"big\", \"specs\": [\n    {\"name\": \"other\", \"status\": \"pending\"},\n    {\"name\": \"demo\",  \"status\": \"pending\", \"x\": 1.50}\n  ]\n}\n"
	after := strings.Replace(before, `"demo",  "status": "pending"`, `"demo",  "status": "completed"`, 1)
	for name, test := range map[string]struct {
		epicName, file, epic, want string
		remove                     bool
		notice                     string
	}{
		"the state is left":       {epicName: "big", file: specumEpic, epic: before, want: after},
		"the state is removed":    {epicName: "big", file: specumEpic, epic: before, want: after, remove: true},
		"a spec of no epic":       {epicName: "", file: specumEpic, epic: before, want: before},
		"an epic out of its root": {epicName: "../../victim", file: "victim/.epic-state.json", epic: before, want: before, notice: "leads out of its directory"},
		"a broken epic":           {epicName: "big", file: specumEpic, epic: `{"specs": [`, want: `{"specs": [`, notice: "epic"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			work := ticked(specumWork(), specumTasks)
			work["specs/.current-epic"] = "big"
			work[specumState] = state(`{"phase": "execution", "taskIndex": 2, "totalTasks": 7, "epicName": "%s"}`, test.epicName)
			work[test.file] = test.epic
			p := newProject(t, "specum", nil, work)
			expect(t, p.stop(nil), "continue next-task")
			if test.remove {
				if err := os.Remove(filepath.Join(p.dir, specumState)); err != nil {
					t.Fatal(err)
				}
			}
			d := p.stop(event{"last_assistant_message": "ALL_TASKS_COMPLETE"})
			expect(t, d, "stop all-done")
			diff(t, test.want, p.read()[test.file])
			if got := strings.Join(d.Notices, "\n"); !strings.Contains(got, test.notice) || test.notice == "" && got != "" {
				t.Errorf("it reports %q, want %q", got, test.notice)
			}
		})
	}
}

// Of the list count the items, not what code shows.
func TestSpecumOpenBoxInCode(t *testing.T) {
	work := specumWork()
	work[specumState] = `{"phase": "execution", "taskIndex": 1, "totalTasks": 1}`
	work[specumTasks] = "- [X] done\n\n```\n- [ ] an example\n```\n"
	expect(t, newProject(t, "specum", nil, work).stop(nil), "stop verified")
}
