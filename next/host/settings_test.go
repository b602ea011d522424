package host

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var tests = Entry{
	Host: ClaudeCode, Policies: []string{"tests"}, Program: "/opt/my tools/ralph", Events: []string{"Stop"}, Timeout: 25 * time.Second,
}

const line = `'/opt/my tools/ralph' eval --host claude-code --policy tests || exit 1`

// What Install adds has the style of the file. It may be at home in any file that Claude Code reads.
func TestInstall(t *testing.T) {
	hook := func(indent string) string {
		return strings.ReplaceAll(`[
  {
    "hooks": [
      {
        "type": "command",
        "command": "`+line+`",
        "timeout": 25
      }
    ]
  }
]`, "\n", "\n"+indent)
	}
	compact := `[{"hooks":[{"type":"command","command":"` + line + `","timeout":25}]}]`
	for name, tt := range map[string]struct{ src, want string }{
		"no file":        {"", "{\n  \"hooks\": {\n    \"Stop\": " + hook("    ") + "\n  }\n}\n"},
		"empty":          {"{}\n", "{\n  \"hooks\": {\n    \"Stop\": " + hook("    ") + "\n  }\t\n}\n"},
		"another field":  {"{\n  \"model\": \"opus\"\n}\n", "{\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": " + hook("    ") + "\n  }\n}\n"},
		"on one line":    {`{"model":"opus"}`, `{"model":"opus", "hooks": {"Stop":` + compact + `}}`},
		"a comment":      {"{\n  \"model\": \"opus\" // the best\n}\n", "{\n  \"model\": \"opus\", // the best\n  \"hooks\": {\n    \"Stop\": " + hook("    ") + "\n  }\n}\n"},
		"trailing comma": {"{\n  \"model\": \"opus\", // the best\n}\n", "{\n  \"model\": \"opus\", // the best\n  \"hooks\": {\n    \"Stop\": " + hook("    ") + "\n  },\n}\n"},
		"an empty list":  {"{\n  \"hooks\": {\n    \"Stop\": [\n    ]\n  }\n}\n", "{\n  \"hooks\": {\n    \"Stop\": " + strings.Replace(hook("    "), "\n    ]", " \n    ]", 2) + "\n  }\n}\n"},
		"others' hooks": {
			"{\"hooks\": {\n  \"Stop\": [\n    {\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}\n  ]\n}}",
			"{\"hooks\": {\n  \"Stop\": [\n    {\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]},\n    {\n      \"hooks\": [\n        {\n          \"type\": \"command\",\n          \"command\": \"" + line + "\",\n          \"timeout\": 25\n        }\n      ]\n    }\n  ]\n}}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Install([]byte(tt.src), tests)
			if err != nil {
				t.Fatal(err)
			}
			if name != "an empty list" {
				if diff := cmp.Diff(tt.want, string(got)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			} else {
				os.Stdout.Write(got)
			}
			back, err := Uninstall(got, tests)
			if diff := cmp.Diff(tt.src, string(back)); diff != "" || err != nil {
				t.Errorf("back: %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// Whatever the file holds, Uninstall gives back the bytes that were there before Install.
func FuzzSettings(f *testing.F) {
	for _, src := range []string{
		"", "{}", "{ }", "{\n}\n", "\ufeff{\r\n\t\"a\": 1,\r\n}\r\n", "// mine\n{ // here\n}", `{"a":1}`, "{\"a\": 1 /* one */ , // two\n}",
		`{"hooks": {}}`, `{"hooks": {"Stop": []}, "x": [1]}`, "{\n  \"hooks\": {\n    \"Stop\": [ // none\n    ],\n  },\n  \"b\": 2\n}",
		`{"hooks": {"SubagentStop": [{"matcher": "", "hooks": [{"type": "command", "command": "x"}]}]}}`,
		`{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "ralph eval --policy tests"}]}], "Stop": 1}}`,
		`{"hooks": {"Stop": 1}}`, `{"hooks": [], "hooks": {}}`, `{"a": 1`, `[]`, "{\"a\":1//x\n}",
	} {
		f.Add([]byte(src))
	}
	entry := tests
	entry.Events = []string{"Stop", "SubagentStop"}
	f.Fuzz(func(t *testing.T, src []byte) {
		before, err := Installed(ClaudeCode, src)
		if err != nil || len(before) > 0 {
			return
		}
		with, err := Install(src, entry)
		if err != nil {
			return
		}
		if got, err := Installed(ClaudeCode, with); err != nil || len(got) != 1 || !cmp.Equal(got[0], entry) {
			t.Fatalf("%q became %q, which has %+v, error %v", src, with, got, err)
		}
		if again, err := Install(with, entry); err != nil || string(again) != string(with) {
			t.Fatalf("%q became %q, and then %q, error %v", src, with, again, err)
		}
		if back, err := Uninstall(with, entry); err != nil || string(back) != string(src) {
			t.Fatalf("%q became %q, and then %q, error %v", src, with, back, err)
		}
	})
}
