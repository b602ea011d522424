package host

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/ralph-sdk/ralph/internal/jsontext"
)

// maxTasks bounds the tasks of a list; the older ones are kept.
const maxTasks = 2000

// Task is an entry of the agent's task list.
type Task struct {
	ID          string // unique in the list; todos, which have none, are numbered from "1"
	Subject     string
	Description string
	Status      string // such as pending, in_progress, completed
	ActiveForm  string // the subject while it is being done
	Owner       string
	Blocks      []string // IDs
	BlockedBy   []string // IDs
}

// Tasks returns the agent's task list from the session file, including what precedes the current turn: the last
// TodoWrite, or what TaskCreate and TaskUpdate made of the list since a TaskList. ok is false if the file has no list
// within the byte budget. A list may be incomplete if tasks were created before the part that is read.
func (s *Session) Tasks(ctx context.Context) ([]Task, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var steps []taskStep // the newest first
	for e := range s.back(ctx.Err) {
		step, ok := e.taskStep()
		if !ok {
			continue
		}
		if steps = append(steps, step); step.whole || len(steps) == maxTasks {
			break
		}
	}
	var list []Task
	for _, step := range slices.Backward(steps) {
		list = step.apply(list)
	}
	return list, len(steps) > 0
}

// taskStep is the effect of one record on the list.
type taskStep struct {
	whole bool // tasks is the complete list
	tasks []Task
	// otherwise one task is created, or the task with its ID changes where fields are not empty
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

// taskStep returns how an entry changes the list. The results of all tools hold the list, except for TodoWrite, whose
// input is the list.
func (e entry) taskStep() (step taskStep, ok bool) {
	if e.changed.There() {
		return resultStep(e.changed)
	}
	for _, p := range e.parts {
		if p.kind == used && p.text == "TodoWrite" {
			step, ok = todoStep(p.value.Field("todos"))
		}
	}
	return step, ok
}

func resultStep(v jsontext.Value) (taskStep, bool) {
	f := readFields(v, nil)
	task, tasks, todos := f.get("task"), f.get("tasks"), f.get("newTodos")
	id, to := f.text("taskId"), f.get("statusChange").Field("to").Text()
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
		// Lists of subagents and background work are called tasks too.
		return step, len(step.tasks) > 0 || string(tasks) == "[]"
	case task.There():
		t := readTask(task)
		made := t.Status == ""
		if made {
			t.Status = "pending"
		}
		return taskStep{made: true, tasks: []Task{t}}, t.ID != "" && t.Subject != "" && made
	case id != "" && to != "" && f.is("success"):
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
	f := readFields(v, nil)
	return Task{
		ID: f.text("id"), Subject: cmp.Or(f.text("subject"), f.text("content"), f.text("title")), Description: f.text("description"),
		Status: f.text("status"), ActiveForm: f.text("activeForm"), Owner: f.text("owner"),
		Blocks: textsOf(f.get("blocks")), BlockedBy: textsOf(f.get("blockedBy")),
	}
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
