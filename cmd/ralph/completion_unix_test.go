//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Shells complete words with what ralph help completion prints. bash has the function that splits a line from the package
// bash-completion; the one here splits as simply as these lines need.
func TestShellsComplete(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and no goroutine meets another")
	}
	program := copyProgram(t)
	scripts := map[string]string{
		"bash": `
_get_comp_words_by_ref() { cur=${COMP_WORDS[COMP_CWORD]}; prev=${COMP_WORDS[COMP_CWORD-1]}; words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD; }
compopt() { :; }
source <(ralph help completion bash)
COMP_LINE=$LINE COMP_POINT=${#LINE} COMP_TYPE=9
read -ra COMP_WORDS <<<"$LINE"
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
__start_ralph
printf '%s\n' "${COMPREPLY[@]}"`,
		"fish": `ralph help completion fish | source; complete -C "$LINE"`,
		"zsh": `
autoload -U compinit; compinit -u -d "$HOME/dump"
source <(ralph help completion zsh)
compdef() { : }
_describe() { local name=$4; [[ $name == completions ]] || name=$2; print -l -- ${(P)name}; }
_arguments() { : }
words=(${(z)LINE}) CURRENT=${#words}
_ralph; exit 0`,
	}
	for shell, script := range scripts {
		t.Run(shell, func(t *testing.T) {
			if _, err := exec.LookPath(shell); err != nil {
				t.Skip(err)
			}
			dir := t.TempDir()
			if err := os.MkdirAll(filepath.Join(dir, ".ralph"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, ".ralph", "mine.yaml"), []byte("ralph: 1\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			for line, want := range map[string]string{
				"ralph inst":                         "install",
				"ralph install gem":                  "gemini",
				"ralph resume min":                   "mine",
				"ralph eval --policy spec":           "specum",
				"ralph help unbounded-c":             "unbounded-continue",
				"ralph install codex --scope us":     "user",
				"ralph start stravinsky --template ": "fix-tests",
			} {
				if strings.HasSuffix(line, " ") && shell != "fish" {
					line += "f"
				}
				cmd := exec.Command(shell, "-c", script)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), quickExit, "LINE="+line, "HOME="+dir, "RALPH_STATE_DIR="+filepath.Join(dir, "state"), "CLAUDE_PROJECT_DIR=",
					"PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"))
				out, err := cmd.CombinedOutput()
				found := false
				for got := range strings.Lines(string(out)) {
					word, _, _ := strings.Cut(strings.TrimSpace(got), "\t")
					word, _, _ = strings.Cut(word, ":")
					found = found || word == want
				}
				if err != nil || !found {
					t.Errorf("%q is completed to (%v)\n%swant %s among it", line, err, out, want)
				}
			}
		})
	}
}
