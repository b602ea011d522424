package loop

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
	"github.com/ralph-sdk/ralph/state"
)

// maxTasks is how many tasks of a list are read.
const maxTasks = 1000

// gatherTasks reads the task list of the session, or the one that the policy names. A list that does not exist is
// missing, an empty one is empty: where the host has no task tools, no tasks means nothing. A session whose ID cannot be
// the name of a directory, such as that of a run, has its tasks in the session file.
func gatherTasks(ctx context.Context, q Query) rules.Value {
	name, own := q.Options["list"], false
	if name == "" {
		name, own = q.Env("CLAUDE_CODE_TASK_LIST_ID"), true
	}
	if name != "" && !isName(name) {
		return missing(fmt.Sprintf("%q cannot be the name of a task list", cutBytes(name, 60)))
	}
	if name = cmp.Or(name, q.Event.SessionID); name == "" {
		return absent("there is no task list: the event names no session")
	}
	if dir := claudeDir(q.Env); dir != "" && isName(name) {
		folder := filepath.Join(dir, "tasks", name)
		if info, err := os.Stat(folder); err == nil && info.IsDir() {
			return taskFiles(ctx, q, folder, name)
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return missing("the task list " + name + " cannot be read")
		}
	}
	if !own {
		return absent("there is no task list " + name)
	}
	session, err := q.Session(ctx)
	switch {
	case err != nil:
		return missing("the session's task list cannot be read: " + err.Error())
	case session != nil:
		if list, ok := session.Tasks(ctx); ok {
			return rules.Value{V: listOf(list, ofSession)}
		}
	}
	return absent("the session has no task list")
}

// taskFiles reads the directory of a list, which has one file per task.
func taskFiles(ctx context.Context, q Query, folder, name string) rules.Value {
	cannot := func(err error) rules.Value {
		return missing(fmt.Sprintf("the task list %s cannot be read: %s", name, err))
	}
	root, err := state.OpenRoot(folder)
	if err != nil {
		return cannot(err)
	}
	defer root.Close()
	root.SetBudget(q.budget)
	found, more, err := state.ReadAll(ctx, root, state.File{Path: "*.json", Format: state.JSON, Timeout: q.Fact.Timeout}, maxTasks,
		func(doc state.Doc) element { return elementOf(&schema.Schema{}, state.JSON, doc) })
	if err != nil {
		return cannot(err)
	}
	var bad badFiles
	list := make([]map[string]any, 0, len(found))
	for _, e := range found {
		task, _ := e.value.(map[string]any)
		if e.problem == "" {
			e.problem = completeTask(task)
		}
		if e.problem != "" {
			bad.add(e.path, e.problem)
			continue
		}
		list = append(list, task)
	}
	if more > 0 {
		bad.lines = append(bad.lines, fmt.Sprintf("%d more tasks than the %d that are read", more, maxTasks))
	}
	slices.SortStableFunc(list, byNumber)
	return rules.Value{V: listOf(list, asAny), Problem: bad.String(), Path: name}
}

// byNumber compares tasks as the host counts them: 2 before 10.
func byNumber(a, b map[string]any) int {
	x, errX := strconv.Atoi(a["id"].(string))
	y, errY := strconv.Atoi(b["id"].(string))
	if errX != nil || errY != nil {
		return 0 // in the order of file names
	}
	return x - y
}

// completeTask sets the fields that rules may read, in their types, and returns what makes that impossible. Other
// fields stay.
func completeTask(task map[string]any) (problem string) {
	if s, _ := task["subject"].(string); s == "" {
		if title, ok := task["title"].(string); ok { // some writers use this key
			task["subject"] = title
		}
	}
	for _, name := range []string{"id", "subject", "description", "status", "activeForm", "owner"} {
		text, ok := plainText(task[name])
		if !ok {
			return name + " is not a string"
		}
		task[name] = text
	}
	for _, name := range []string{"blocks", "blockedBy"} {
		list, ok := task[name].([]any)
		if !ok && task[name] != nil {
			return name + " is not an array"
		}
		ids := make([]any, len(list))
		for i, v := range list {
			if ids[i], ok = plainText(v); !ok {
				return name + " is not an array of strings"
			}
		}
		task[name] = ids
	}
	return ""
}

func plainText(v any) (string, bool) {
	switch v.(type) {
	case nil:
		return "", true
	case string, int, json.Number:
		return fmt.Sprint(v), true
	}
	return "", false
}

// ofSession returns a task of a session file.
func ofSession(t host.Task) any {
	return map[string]any{
		"id": t.ID, "subject": t.Subject, "description": t.Description, "status": t.Status, "activeForm": t.ActiveForm,
		"owner": t.Owner, "blocks": listOf(t.Blocks, asAny), "blockedBy": listOf(t.BlockedBy, asAny),
	}
}
