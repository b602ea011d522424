package schema_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/schema"
)

func shipped(t testing.TB, name string) *schema.Schema {
	t.Helper()
	src, ok := schema.Shipped(name)
	if !ok {
		t.Fatalf("no schema %s ships", name)
	}
	return mustCompile(t, string(src))
}

// Every schema that ships is one and is typed in full. An empty state satisfies it.
func TestShippedSchemas(t *testing.T) {
	if diff := cmp.Diff([]string{"speckit-state", "specum-state", "stravinsky-loop"}, schema.ShippedNames()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	for _, name := range schema.ShippedNames() {
		t.Run(name, func(t *testing.T) {
			s := shipped(t, name)
			if len(s.Unknown()) > 0 || len(s.Widened()) > 0 {
				t.Errorf("unknown: %v, widened: %v", s.Unknown(), s.Widened())
			}
			if got := s.Check(mustParse(t, `{}`)); got.Unusable != nil || got.Warnings != nil {
				t.Errorf("an empty state: unusable %v, warnings %v", got.Unusable, got.Warnings)
			}
		})
	}
	for _, name := range []string{"", "policies", "../doc", "speckit-state.schema.json"} {
		if _, ok := schema.Shipped(name); ok {
			t.Errorf("%q ships", name)
		}
	}
}

// Fields that rules read exist, whatever the file lacks.
func TestShippedDefaults(t *testing.T) {
	loops := map[string]any{
		"phase": "", "taskIndex": 0, "totalTasks": 0, "taskIteration": 1, "maxTaskIterations": 5, "globalIteration": 1,
		"maxGlobalIterations": 100, "recoveryMode": false, "awaitingApproval": false, "maxFixTasksPerOriginal": 3,
		"fixTaskMap": map[string]any{}, "session_id": "",
	}
	with := func(more map[string]any) map[string]any {
		all := make(map[string]any)
		for _, m := range []map[string]any{loops, more} {
			for k, v := range m {
				all[k] = v
			}
		}
		return all
	}
	tests := []struct {
		name string
		want map[string]any
	}{
		{"speckit-state", loops},
		{"specum-state", with(map[string]any{
			"quickMode": false, "nativeSyncEnabled": true, "nativeTaskMap": map[string]any{}, "epicName": "", "maxModificationsPerTask": 3, "maxModificationDepth": 2,
			"modificationMap": map[string]any{}, "relatedSpecs": []any{}, "taskResults": map[string]any{},
		})},
		{"stravinsky-loop", map[string]any{
			"iteration_count": 1, "max_iterations": 10, "completion_promise": "", "active": true,
			"iteration_timeout": "", "total_timeout": "", "started_at": "", "milestones": []any{}, "session_id": "",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(any(tt.want), shipped(t, tt.name).Check(mustParse(t, `{}`)).Value); diff != "" {
				t.Errorf("empty state (-want +got):\n%s", diff)
			}
		})
	}
}

// Undeclared phases are reported, and rules use them.
func TestShippedPhase(t *testing.T) {
	got := shipped(t, "speckit-state").Check(mustParse(t, `{"phase": "planning", "featureId": "test-feature", "taskIndex": "2"}`))
	want := []string{
		`1:11: /phase: is "planning", expected one of "specify", "plan", "tasks" or "execution"`,
		`1:36: /featureId: is "test-feature", expected string that matches ^[0-9]{3}$`,
	}
	if diff := cmp.Diff(want, lines(got.Warnings)); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if got.Value.(map[string]any)["phase"] != "planning" || got.Unusable != nil {
		t.Errorf("phase %v, unusable %v", got.Value.(map[string]any)["phase"], got.Unusable)
	}
}
