package host

import (
	"bytes"
	"context"
	"slices"
	"strconv"
)

// maxTasks bounds how many tasks a list holds; the older ones count.
const maxTasks = 2000

// Task is an entry of the agent's task list.
type Task struct {
	ID          string // unique in the list; todos, which have none, are counted from "1"
	Subject     string
	Description string
	Status      string // such as pending, in_progress, completed
	ActiveForm  string // the subject while it is being done
	Owner       string
	Blocks      []string // ids
	BlockedBy   []string // ids
}

// Tasks gives the task list as the session file has it, also before the current turn: what the agent wrote with
// TodoWrite last, or what it made with TaskCreate and changed with TaskUpdate since a TaskList. It reports false if the
// file has no list within the byte budget. A list may be incomplete where tasks were made before what is read. The
// file is searched once.
func (s *Session) Tasks(ctx context.Context) ([]Task, bool) {
	s.taskMu.Lock()
	defer s.taskMu.Unlock()
	if !s.tasksRead {
		s.tasks, s.tasksFound = s.findTasks(ctx)
		s.tasksRead = true
	}
	return slices.Clone(s.tasks), s.tasksFound
}

func (s *Session) findTasks(ctx context.Context) ([]Task, bool) {
	var steps []taskStep // the newest first
	for line := range s.lines(ctx.Err) {
		step, ok := parseTaskStep(line, s.options.Subagent)
		if !ok {
			continue
		}
		if steps = append(steps, step); step.whole || len(steps) == maxTasks {
			break
		}
	}
	if len(steps) == 0 {
		return nil, false
	}
	var list []Task
	for _, step := range slices.Backward(steps) {
		list = step.apply(list)
	}
	return list, true
}

// taskStep is what one record does to the list.
type taskStep struct {
	whole bool // tasks are all that there are
	tasks []Task
	// otherwise: one task is made, or the task with its id changes where the fields are not empty
	made bool
}

func (s taskStep) apply(list []Task) []Task {
	if s.whole {
		return s.tasks
	}
	for _, t := range s.tasks {
		i := slices.IndexFunc(list, func(old Task) bool { return old.ID == t.ID })
		switch {
		case i < 0 && (s.made || t.Subject != ""):
			list = append(list, t)
		case i < 0:
			// made before what was read: there is nothing to say about it but its state
			list = append(list, Task{ID: t.ID, Subject: "task " + t.ID, Status: t.Status})
		case t.Status != "":
			list[i].Status = t.Status
		}
	}
	return list
}

// parseTaskStep reads a record that changes the list. What a tool gave back holds all of it, but for TodoWrite, whose
// input is the list.
func parseTaskStep(line []byte, subagent bool) (taskStep, bool) {
	if !bytes.Contains(line, []byte(`"toolUseResult"`)) && !bytes.Contains(line, []byte(`"TodoWrite"`)) {
		return taskStep{}, false
	}
	var r record
	c := value(clean(line)).members()
	for c.next() {
		r.set(c.key, c.value)
	}
	if !c.whole || r.sidechain && !subagent {
		return taskStep{}, false
	}
	if r.toolUseResult.there() {
		return resultStep(r.toolUseResult)
	}
	if r.typ != "assistant" && r.role != "assistant" {
		return taskStep{}, false
	}
	var todos value
	for b := member(r.message, "content").elements(); b.next(); {
		if member(b.value, "name").text() == "TodoWrite" {
			todos = member(member(b.value, "input"), "todos")
		}
	}
	return todoStep(todos)
}

func resultStep(v value) (taskStep, bool) {
	var id, to, success string
	var task, tasks, todos value
	for c := v.members(); c.next(); {
		switch string(c.key) {
		case "newTodos":
			todos = c.value
		case "tasks":
			tasks = c.value
		case "task":
			task = c.value
		case "taskId":
			id = c.value.text()
		case "statusChange":
			to = member(c.value, "to").text()
		case "success":
			success = string(c.value)
		}
	}
	switch {
	case todos.there():
		return todoStep(todos)
	case tasks.there():
		step := taskStep{whole: true, tasks: []Task{}}
		for c := tasks.elements(); c.next() && len(step.tasks) < maxTasks; {
			if t := readTask(c.value); t.ID != "" && t.Status != "" {
				step.tasks = append(step.tasks, t)
			}
		}
		// Subagents and background work stand in lists named tasks too.
		return step, len(step.tasks) > 0 || string(tasks) == "[]"
	case task.there():
		t := readTask(task)
		made := t.Status == ""
		if made {
			t.Status = "pending"
		}
		return taskStep{made: true, tasks: []Task{t}}, t.ID != "" && t.Subject != "" && made
	case id != "" && to != "" && success == "true":
		return taskStep{tasks: []Task{{ID: id, Status: to}}}, true
	}
	return taskStep{}, false
}

func todoStep(todos value) (taskStep, bool) {
	c := todos.elements()
	step := taskStep{whole: true, tasks: []Task{}}
	for c.next() && len(step.tasks) < maxTasks {
		t := readTask(c.value)
		t.ID = strconv.Itoa(len(step.tasks) + 1)
		step.tasks = append(step.tasks, t)
	}
	return step, c.whole
}

func readTask(v value) Task {
	var t Task
	for c := v.members(); c.next(); {
		switch string(c.key) {
		case "id":
			t.ID = c.value.text()
		case "subject", "content", "title":
			t.Subject = c.value.text()
		case "description":
			t.Description = c.value.text()
		case "status":
			t.Status = c.value.text()
		case "activeForm":
			t.ActiveForm = c.value.text()
		case "owner":
			t.Owner = c.value.text()
		case "blocks":
			t.Blocks = textsOf(c.value)
		case "blockedBy":
			t.BlockedBy = textsOf(c.value)
		}
	}
	return t
}

func textsOf(list value) []string {
	var out []string
	for c := list.elements(); c.next(); {
		if s, ok := c.value.decode(); ok {
			out = append(out, s)
		}
	}
	return out
}
