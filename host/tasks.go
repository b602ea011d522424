package host

import (
	"bytes"
	"context"
	"slices"
	"strconv"

	"github.com/ralph-sdk/ralph/internal/jsontext"
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
	r, whole := readRecord(line)
	if !whole || r.sidechain && !subagent {
		return taskStep{}, false
	}
	if r.toolUseResult.There() {
		return resultStep(r.toolUseResult)
	}
	if r.typ != "assistant" && r.role != "assistant" {
		return taskStep{}, false
	}
	var todos jsontext.Value
	for b := r.message.Field("content").Elements(); b.Next(); {
		if b.Value.Field("name").Text() == "TodoWrite" {
			todos = b.Value.Field("input").Field("todos")
		}
	}
	return todoStep(todos)
}

func resultStep(v jsontext.Value) (taskStep, bool) {
	var id, to, success string
	var task, tasks, todos jsontext.Value
	for c := v.Members(); c.Next(); {
		switch string(c.Key) {
		case "newTodos":
			todos = c.Value
		case "tasks":
			tasks = c.Value
		case "task":
			task = c.Value
		case "taskId":
			id = c.Value.Text()
		case "statusChange":
			to = c.Value.Field("to").Text()
		case "success":
			success = string(c.Value)
		}
	}
	switch {
	case todos.There():
		return todoStep(todos)
	case tasks.There():
		step := taskStep{whole: true, tasks: []Task{}}
		for c := tasks.Elements(); c.Next() && len(step.tasks) < maxTasks; {
			if t := readTask(c.Value); t.ID != "" && t.Status != "" {
				step.tasks = append(step.tasks, t)
			}
		}
		// Subagents and background work stand in lists named tasks too.
		return step, len(step.tasks) > 0 || string(tasks) == "[]"
	case task.There():
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

func todoStep(todos jsontext.Value) (taskStep, bool) {
	c := todos.Elements()
	step := taskStep{whole: true, tasks: []Task{}}
	for c.Next() && len(step.tasks) < maxTasks {
		t := readTask(c.Value)
		t.ID = strconv.Itoa(len(step.tasks) + 1)
		step.tasks = append(step.tasks, t)
	}
	return step, c.Whole
}

func readTask(v jsontext.Value) Task {
	var t Task
	for c := v.Members(); c.Next(); {
		switch string(c.Key) {
		case "id":
			t.ID = c.Value.Text()
		case "subject", "content", "title":
			t.Subject = c.Value.Text()
		case "description":
			t.Description = c.Value.Text()
		case "status":
			t.Status = c.Value.Text()
		case "activeForm":
			t.ActiveForm = c.Value.Text()
		case "owner":
			t.Owner = c.Value.Text()
		case "blocks":
			t.Blocks = textsOf(c.Value)
		case "blockedBy":
			t.BlockedBy = textsOf(c.Value)
		}
	}
	return t
}

func textsOf(list jsontext.Value) []string {
	var out []string
	for c := list.Elements(); c.Next(); {
		if s, ok := c.Value.Decode(); ok {
			out = append(out, s)
		}
	}
	return out
}
