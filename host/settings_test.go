package host

import (
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
		"no file":       {"", "{\n  \"hooks\": {\n    \"Stop\": " + hook("    ") + "\n  }\n}\n"},
		"empty":         {"{}\n", "{\n  \"hooks\": {\n    \"Stop\": " + hook("    ") + "\n  }\t\n}\n"},
		"another field": {"{\n  \"model\": \"opus\"\n}\n", "{\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": " + hook("    ") + "\n  }\n}\n"},
		"on one line":   {`{"model":"opus"}`, `{"model":"opus", "hooks": {"Stop":` + compact + `}}`},
		"an empty list": {"{\n  \"hooks\": {\n    \"Stop\": [\n    ]\n  }\n}\n", "{\n  \"hooks\": {\n    \"Stop\": " + strings.TrimSuffix(hook("    "), "\n    ]") + " \n    ]\n  }\n}\n"},
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
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			back, err := Uninstall(got, tests)
			if diff := cmp.Diff(tt.src, string(back)); diff != "" || err != nil {
				t.Errorf("back: %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// Settings that cannot be read, or that hosts read in a way of their own, are never touched.
func TestInstallRefuses(t *testing.T) {
	for src, want := range map[string]string{
		`{"hooks": {`:                  "the settings are not valid JSON: line 1, column 12:",
		"{\n  \"a\": 1\n  \"b\": 2\n}": "line 3, column 3: invalid character '\"'",
		" \n":                          "the settings are not valid JSON",
		"password-of-mine":             "the settings are not valid JSON: line 1, column 1: invalid literal; fix",
		`[]`:                           "the settings are no JSON object",
		"{\n  // mine\n}":              "a comment or a comma before a bracket",
		`{"a": [1,]}`:                  "a comment or a comma before a bracket",
		`{"hooks": []}`:                `"hooks" in the settings is no object`,
		`{"hooks": {}, "hooks": {}}`:   `"hooks" is twice in one object`,
		`{"hooks": {"Stop": {}}}`:      `"Stop" of "hooks" in the settings is no list`,
		`{"hooks": {"Stop": [], "\u0053top": []}}`:   `"Stop" is twice in one object`,
		`{"x": ` + strings.Repeat("[", 60_000) + "}": "the settings are too large",
	} {
		got, err := Install([]byte(src), tests)
		if err == nil || !strings.Contains(err.Error(), want) || got != nil {
			t.Errorf("%.40s became %.40s, error %v, want one with %s", src, got, err, want)
		}
	}
	other := tests
	other.Host = "cluade-code"
	if _, err := Install(nil, other); err == nil || !strings.Contains(err.Error(), `there is no host "cluade-code"; did you mean`) {
		t.Errorf("another host: %v", err)
	}
}

// An entry is known by its host, policies and project, however a person wrote its command.
func TestInstalled(t *testing.T) {
	one := func(e Entry) []Entry {
		e.Host, e.Events = ClaudeCode, []string{"Stop"}
		return []Entry{e}
	}
	for line, want := range map[string][]Entry{
		`ralph eval`: one(Entry{Program: "ralph"}),
		`"/opt/my tools/ralph" eval --host claude-code --policy tests || exit 1`: one(Entry{Program: "/opt/my tools/ralph", Policies: []string{"tests"}}),
		`ralph eval --policy=a --policy b --set n=1 --set "t=a b"`:               one(Entry{Program: "ralph", Policies: []string{"a", "b"}, Set: []string{"n=1", "t=a b"}}),
		`C:/bin/ralph.exe eval --project C:\work --answer exit-code`:             one(Entry{Program: "C:/bin/ralph.exe", Project: `C:\work`}),
		`'it'\''s/ralph' eval`:                         one(Entry{Program: "it's/ralph"}),
		`ralph eval --once --policy a --only-approved`: one(Entry{Program: "ralph", Policies: []string{"a"}, Once: true, OnlyApproved: true}),
		`ralph status`:                                 nil,
		`say "ralph eval"`:                             nil,
		`python ralph.py eval`:                         nil,
		`cd x && ralph eval`:                           nil,
		`my-ralph eval --policy x`:                     nil,
		``:                                             nil,
	} {
		src := `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": ` + string(quoted(line)) + `}]}, 7, {"hooks": 7}], "X": 7}}`
		got, err := Installed(ClaudeCode, []byte(src))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: error %v (-want +got):\n%s", line, err, diff)
		}
	}
}

func quoted(s string) []byte { return []byte(strings.TrimSpace(jsonLine(s))) }

// Entries of other policies, projects and programs stay when one is replaced or removed.
func TestReplace(t *testing.T) {
	src := []byte(`{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}, {"type": "command", "command": "ralph eval --policy tests"}]}]}}`)
	other := tests
	other.Project = "/home/ada/shop/"
	for _, e := range []Entry{other, tests} {
		var err error
		if src, err = Install(src, e); err != nil {
			t.Fatal(err)
		}
	}
	longer := tests
	longer.Timeout, longer.Events, longer.Set = time.Minute, []string{"SubagentStop"}, []string{"once=false"}
	longer.Once, longer.OnlyApproved = true, true
	src, err := Install(src, longer)
	if err != nil {
		t.Fatal(err)
	}
	other.Project = "/home/ada/shop"
	got, err := Installed(ClaudeCode, src)
	if err != nil || len(got) != 2 || !got[0].Is(other) || !cmp.Equal(got[1], longer) {
		t.Fatalf("%+v, error %v", got, err)
	}
	for _, e := range got {
		if src, err = Uninstall(src, e); err != nil {
			t.Fatal(err)
		}
	}
	if want := `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}}`; string(src) != want {
		t.Errorf("left: %s, want %s", src, want)
	}
}

func TestDisabled(t *testing.T) {
	h, _ := Lookup(ClaudeCode)
	for src, want := range map[string]string{`{"disableAllHooks": true}`: "disableAllHooks is true", `{"disableAllHooks": "true"}`: "", `{}`: "", `{`: "", ``: ""} {
		if got := h.Disabled([]byte(src)); got != want {
			t.Errorf("%s: %q, want %q", src, got, want)
		}
	}
}

// A command is read as the words of which it was made, on every system.
func TestCommand(t *testing.T) {
	words := func(program string, more ...string) []string { return append([]string{program, "eval"}, more...) }
	for name, tt := range map[string]struct {
		goos  string
		words []string
		line  string
		args  []string
	}{
		"plain":             {"linux", words("/usr/bin/ralph"), "/usr/bin/ralph eval || exit 1", nil},
		"quotes":            {"darwin", words("/a b/ralph", "--set", `x='$HOME' "\`), `'/a b/ralph' eval --set 'x='\''$HOME'\'' "\' || exit 1`, nil},
		"Windows":           {"windows", words(`C:\bin\ralph.exe`), "C:/bin/ralph.exe eval", nil},
		"Windows in a list": {"windows", words(`C:\my bin\ralph.exe`, "--set", "x=a b"), "C:/my bin/ralph.exe", []string{"eval", "--set", "x=a b"}},
	} {
		line, args, err := command(tt.goos, tt.words, true)
		if line != tt.line || !cmp.Equal(args, tt.args) || err != nil {
			t.Errorf("%s: %s %q, error %v, want %s %q", name, line, args, err, tt.line, tt.args)
		}
		if got := split(strings.TrimSuffix(line, guard)); tt.goos != "windows" && !cmp.Equal(got, tt.words) {
			t.Errorf("%s: %s is read as %q", name, line, got)
		}
	}
	if _, _, err := command("windows", words(`C:\my bin\ralph.exe`), false); err == nil {
		t.Error("a host of Windows without lists of arguments got a quoted line")
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
