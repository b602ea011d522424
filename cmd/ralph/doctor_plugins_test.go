package main

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host/setup"
	"github.com/ralph-sdk/ralph/project"
)

// The hooks of the plugins read their switch byte by byte.
func TestHookReadsOff(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		want      bool
	}{
		{"as the plugins write it", "---\nenabled: false\n---\n", true},
		{"quotes, case and blanks", "---\nspecs_dirs: [a]\nenabled:  \"False\" \n---\nText.\n", true},
		{"never closed", "---\nenabled: false\n", true},
		{"a later block", "---\na: b\n---\ntext\n---\nenabled: false\n---\n", true},
		{"true", "---\nenabled: true\n---\n", false},
		{"the first line counts", "---\nenabled: true\nenabled: false\n---\n", false},
		{"below the block", "---\na: b\n---\nenabled: false\n", false},
		{"a comment", "---\nenabled: false # off\n---\n", false},
		{"line breaks with CR", "---\r\nenabled: false\r\n---\r\n", false},
		{"a byte order mark", "\ufeff---\nenabled: false\n---\n", false},
		{"a blank behind the dashes", "--- \nenabled: false\n---\n", false},
		{"indented", "---\n  enabled: false\n---\n", false},
		{"no file", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := setup.HookReadsOff(tt.src); got != tt.want {
				t.Errorf("HookReadsOff(%q) = %t", tt.src, got)
			}
		})
	}
}

// A command is known by the program that it runs, however that is written.
func TestOriginalOf(t *testing.T) {
	want := map[string]string{
		"python3 .claude/hooks/stop_hook.py":                       "stravinsky",
		`"$CLAUDE_PROJECT_DIR"/.claude/hooks/unified-stop-gate.sh`: "system3",
		"uv run .claude/hooks/todo_continuation.py":                "todo-reminder",
		"${CLAUDE_PLUGIN_ROOT}/hooks/stop-hook.sh":                 "ralph-wiggum",
		`bash 'C:\hooks\claude-judge-continuation.sh'; true`:       "double-shot-latte",
		"PATH=/x exec ./hooks/scripts/stop-watcher.sh":             "specum",
		"node scripts/persistent-mode.mjs":                         "",
		"say 'the stop hook is done'":                              "none",
		"./my_stop_hook.py":                                        "none",
		"":                                                         "none",
	}
	got := map[string]string{}
	for command := range want {
		got[command] = "none"
		if o, ok := setup.OriginalOf(command); ok {
			got[command] = o.Policy
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, o := range setup.Originals() {
		if o.Policy != "" && !slices.Contains(project.Shipped(), o.Policy) {
			t.Errorf("there is no policy %s", o.Policy)
		}
	}
}
