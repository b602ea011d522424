package host

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
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
			src := []byte(tt.src)
			if tt.src == "" {
				src = nil
			}
			got, err := Install(src, tests)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			back, err := Uninstall(got, tests)
			if diff := gocmp.Diff(tt.src, string(back)); diff != "" || err != nil {
				t.Errorf("back: %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// testdata/settings.txt shows the entry of each host in new settings. In any other settings that the host reads, Uninstall returns the bytes
// back.
func TestForms(t *testing.T) {
	const golden = "testdata/settings.txt"
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, h := range hosts {
		if !h.Installable() {
			continue
		}
		e := Entry{Host: h.Name, Program: "ralph", Events: []string{stop, subagentStop, promptSubmit}, Timeout: 25 * time.Second}
		if h.Settings.TOML {
			manual, err := Manual(e)
			got += "-- " + h.Name + " --\n" + manual
			e.Events = h.hooked(e.Events)
			if entries, err2 := Installed(h.Name, []byte("a = 1\n[[hooks]]\ncommand = 'ls'\n"+manual)); len(entries) != 1 || !gocmp.Equal(entries[0].Events, e.Events) || err != nil || err2 != nil {
				t.Errorf("%s: %+v %v %v", h.Name, entries, err, err2)
			}
			if _, err := Install(nil, e); !errors.Is(err, errTOML) {
				t.Errorf("%s: error %v", h.Name, err)
			}
			continue
		}
		fresh, err := Install(nil, e)
		if err != nil {
			t.Fatalf("%s: %v", h.Name, err)
		}
		got += "-- " + h.Name + " --\n" + string(fresh)
		if left, err := Uninstall(fresh, e); left != nil || err != nil {
			t.Errorf("%s leaves %s, error %v", h.Name, left, err)
		}
		for _, src := range sources(h) {
			h.back(t, src, e)
		}
	}
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := gocmp.Diff(string(want), got); diff != "" {
		t.Errorf("-update accepts this (-want +got):\n%s", diff)
	}
}

// sources are settings of a host that a person wrote.
func sources(h *Host) []string {
	mine := strings.NewReplacer("COMMAND", `"mine"`, "TIMEOUT", "9", "EVENT", `"Stop"`).Replace(h.Settings.hook)
	if !h.Settings.flat && !h.Settings.listed {
		mine = `{"matcher": "", "hooks": [` + mine + `]}`
	}
	hooks := `{"` + h.theirs(stop) + `": [` + mine + `], "x": []}`
	if h.Settings.listed {
		hooks = "[" + mine + "]"
	}
	root := cmp.Or(h.Settings.root, "hooks")
	all := []string{
		"{}", "{ }\n", `{"version": 1}`, "{\n  \"version\": 1\n}\n", `{"version": 1, "` + root + `": ` + hooks + `}`,
		"{\n\t\"" + root + "\": " + hooks + ",\n\t\"version\": 1\n}\n", "\ufeff{\r\n  \"" + root + "\": " + hooks + "\r\n}\r\n",
	}
	if h.Settings.comments {
		all = append(all, "// mine\n{\n  /* a */ \"x\": [1,], // b\n  \""+root+"\": "+hooks+", // c\n  // d\n}\n")
	}
	return all
}

// back asserts that the host's settings with an entry have it at each event, and are as before without it.
func (h *Host) back(t *testing.T, src string, e Entry) {
	t.Helper()
	with, err := Install([]byte(src), e)
	if err != nil {
		t.Fatalf("%s: %v in %s", h.Name, err, src)
	}
	want := e
	want.Events = slices.Sorted(slices.Values(h.hooked(e.Events)))
	got, err := Installed(h.Name, with)
	if h.Name == "cursor" {
		want.Timeout = 0 // it has none
	}
	if diff := gocmp.Diff([]Entry{want}, got); diff != "" || err != nil {
		t.Errorf("%s: error %v (-want +got):\n%s\n%s", h.Name, err, diff, with)
	}
	if again, err := Install(with, e); string(again) != string(with) || err != nil {
		t.Errorf("%s: again it is %s, error %v", h.Name, again, err)
	}
	if left, err := Uninstall(with, e); string(left) != src || err != nil {
		t.Errorf("%s: %q became %q, error %v", h.Name, src, left, err)
	}
}

// Settings that cannot be read, or that hosts read in a way of their own, are never touched.
func TestInstallRefuses(t *testing.T) {
	for src, want := range map[string]string{
		`{"hooks": {`:                  "the settings are not valid JSON: line 1, column 12:",
		"{\n  \"a\": 1\n  \"b\": 2\n}": "line 3, column 3: invalid character '\"'",
		"":                             "the settings are empty, which Claude Code cannot read",
		" \n":                          "the settings are empty, which Claude Code cannot read",
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
		if diff := gocmp.Diff(want, got); diff != "" || err != nil {
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
	if err != nil || len(got) != 2 || !got[0].Is(other) || !gocmp.Equal(got[1], longer) {
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

func TestPeek(t *testing.T) {
	h, _ := Lookup("gemini") // which reads comments
	for src, want := range map[string]Peek{
		`{"disableAllHooks": true, "hooks": {}}`:                                               {DisableAllHooks: true, Hooks: []byte("{}")},
		"// x\n{\"disableAllHooks\": \"true\", \"enabledPlugins\": {\"a@b\": true, \"c\": 1}}": {EnabledPlugins: map[string]bool{"a@b": true, "c": false}},
		`{`: {},
		``:  {},
	} {
		if diff := gocmp.Diff(want, h.Peek([]byte(src))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", src, diff)
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
		if line != tt.line || !gocmp.Equal(args, tt.args) || err != nil {
			t.Errorf("%s: %s %q, error %v, want %s %q", name, line, args, err, tt.line, tt.args)
		}
		if got := split(strings.TrimSuffix(line, guard)); tt.goos != "windows" && !gocmp.Equal(got, tt.words) {
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
		if got, err := Installed(ClaudeCode, with); err != nil || len(got) != 1 || !gocmp.Equal(got[0], entry) {
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
