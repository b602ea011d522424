package host_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
)

func toolGave(result string) string {
	return `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]},"toolUseResult":` + result + `}`
}

func TestTasks(t *testing.T) {
	created := func(id, subject string) string {
		return toolGave(`{"task":{"id":"` + id + `","subject":"` + subject + `","description":"d"}}`)
	}
	moved := func(id, to string) string {
		return toolGave(`{"success":true,"taskId":"` + id + `","updatedFields":["status"],"statusChange":{"from":"x","to":"` + to + `"}}`)
	}
	for _, c := range []struct {
		name  string
		lines []string
		want  []host.Task // nil: no list
	}{
		{"no list", []string{agentSays("hi"), toolGave(`{"stdout":"x"}`)}, nil},
		{"todos as they were written", []string{
			agentUses("t", "TodoWrite", `{"todos":[{"content":"old","status":"pending"}]}`),
			agentUses("t", "TodoWrite", `{"todos":[{"content":"a","status":"completed","activeForm":"doing a"},{"content":"b","status":"pending"}]}`),
			agentSays("hi"),
		}, []host.Task{{ID: "1", Subject: "a", Status: "completed", ActiveForm: "doing a"}, {ID: "2", Subject: "b", Status: "pending"}}},
		{"todos as they were taken over", []string{toolGave(`{"oldTodos":[],"newTodos":[{"content":"a","status":"pending"}]}`)},
			[]host.Task{{ID: "1", Subject: "a", Status: "pending"}}},
		{"an empty list is a list", []string{agentUses("t", "TodoWrite", `{"todos":[]}`)}, []host.Task{}},
		{"tasks that were made and moved", []string{created("1", "a"), created("2", "b"), moved("1", "in_progress"), moved("1", "completed")},
			[]host.Task{{ID: "1", Subject: "a", Description: "d", Status: "completed"}, {ID: "2", Subject: "b", Description: "d", Status: "pending"}}},
		{"a listing tells all", []string{
			created("1", "gone"),
			toolGave(`{"tasks":[{"id":"2","subject":"b","status":"pending","blockedBy":["3"]}]}`),
			moved("2", "in_progress"),
		}, []host.Task{{ID: "2", Subject: "b", Status: "in_progress", BlockedBy: []string{"3"}}}},
		{"a task from before the file", []string{moved("7", "in_progress")}, []host.Task{{ID: "7", Subject: "task 7", Status: "in_progress"}}},
		{"a change that failed", []string{created("1", "a"), toolGave(`{"success":false,"taskId":"1","statusChange":{"to":"completed"}}`)},
			[]host.Task{{ID: "1", Subject: "a", Description: "d", Status: "pending"}}},
		{"looking at a task makes none", []string{toolGave(`{"task":{"id":"1","subject":"a","status":"pending"}}`)}, nil},
		{"a subagent's list", []string{`{"type":"assistant","isSidechain":true,"message":{"role":"assistant","content":[{"type":"tool_use","name":"TodoWrite","input":{"todos":[]}}]}}`}, nil},
		{"only words about a list", []string{userSays(`"toolUseResult" {"newTodos":[]} "TodoWrite"`)}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := session(t, append([]string{userSays("go")}, c.lines...)...).Tasks(t.Context())
			if ok != (c.want != nil) {
				t.Fatalf("there is a list: %v, %v", ok, got)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
