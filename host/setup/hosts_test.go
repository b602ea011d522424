package setup

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/hookfile"
	"github.com/ralph-sdk/ralph/internal/shellwords"
)

// What install writes is a line that the shells of the system read alike.
func TestAgentCommand(t *testing.T) {
	for name, c := range map[string]struct {
		goos, host string
		words      []string
		added      string // by a user, to a line for a shell
		listed     []string
		want       []string
	}{
		"a name": {goos: "linux", words: []string{"ralph", "eval"},
			want: []string{guard + "ralph eval"}},
		"a path": {goos: "darwin", words: []string{"/opt/my ralph/ralph", "eval", "--set", "x=$y"},
			want: []string{guard + "'/opt/my ralph/ralph' eval --set 'x=$y'"}},
		"added to a line": {goos: "linux", words: []string{"ralph", "eval"}, added: `--project "$PWD" 2>>log`,
			want: []string{guard + `ralph eval --project "$PWD" 2>>log`}},
		"added to a list": {goos: "linux", words: []string{"ralph", "eval"}, listed: []string{"--project", "${CLAUDE_PROJECT_DIR}/a $b", "--set", "x=$y"},
			want: []string{guard + `ralph eval --project "${CLAUDE_PROJECT_DIR}/a \$b" --set 'x=$y'`}},
		"status 2 is an answer": {goos: "linux", words: []string{"ralph", "eval"}, added: "--answer exit-code",
			want: []string{"ralph eval --answer exit-code"}},
		"the last answer counts": {goos: "linux", words: []string{"ralph", "eval"}, added: "--answer exit-code --answer=json",
			want: []string{guard + "ralph eval --answer exit-code --answer=json"}},
		"Windows": {goos: "windows", words: []string{`C:\bin\ralph.exe`, "eval"},
			want: []string{"C:/bin/ralph.exe eval"}},
		"Windows, quotes": {goos: "windows", words: []string{`C:\my bin\ralph.exe`, "eval"},
			want: []string{"C:/my bin/ralph.exe", "eval"}},
		"Windows, added to a list": {goos: "windows", words: []string{`C:\my bin\ralph.exe`, "eval"}, listed: []string{"--deadline", "9s"},
			want: []string{"C:/my bin/ralph.exe", "eval", "--deadline", "9s"}},
		"Windows, cmd.exe and PowerShell": {goos: "windows", host: host.Codex, words: []string{`C:\my bin\ralph.exe`, "eval", "--set", `x=C:\y`},
			want: []string{`C:\my" "bin\ralph.exe eval --set x=C:\y`}},
	} {
		t.Run(name, func(t *testing.T) {
			g := Host{Host: &host.Host{Settings: hookfile.Settings{Form: hookfile.Form{List: c.host != host.Codex}}}}
			added := shellwords.Split(c.added)
			for _, word := range c.listed {
				added = append(added, shellwords.Word{Text: word, Raw: quoteListed(c.goos, word)})
			}
			line, args := g.command(c.goos, c.words, added, c.added == "")
			if diff := cmp.Diff(c.want, append([]string{line}, args...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
