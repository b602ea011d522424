// Package examples holds the policies that ship with ralph, one file each, and the templates that ralph init and ralph until write.
//
// They are embedded, so `--policy speckit` works without any of them on disk. Each is readable by itself, has its tests beside it as
// NAME_test.yaml, and may change in any version: to keep one as it is, copy it with ralph init NAME.
//
// Begin with [Policy].
package examples

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed *.yaml
var files embed.FS

// names lists the templates of ralph init, then the shipped policies.
var names = [...]string{
	"basic", "tests",
	"speckit", "specum", "stravinsky", "ralph-wiggum", "system3", "double-shot-latte", "todo-reminder",
	"spec-kit", "openspec", "kiro",
}

// Names returns the names that [Policy] knows: the templates of ralph init, then the policies for plugins, then those for layouts.
func Names() []string { return append([]string(nil), names[:]...) }

// Policy returns the source of a policy by its name, and whether there is one.
func Policy(name string) ([]byte, bool) {
	for _, n := range names {
		if n == name {
			return read(name), true
		}
	}
	return nil, false
}

// Description returns the line that a policy says of itself, or "" for a name that [Policy] does not know.
func Description(name string) string {
	src, _ := Policy(name)
	for line := range strings.Lines(string(src)) {
		if text, ok := strings.CutPrefix(line, "description: "); ok {
			return strings.TrimSpace(text)
		}
	}
	return ""
}

// Files returns the policies and their tests, as NAME.yaml and NAME_test.yaml.
func Files() fs.FS { return files }

// Until returns the template of ralph until. Its placeholders are the words DIRECTORY, COMMAND, SHELL, FLAG, TIMEOUT and MAX, each of
// which is one YAML scalar and occurs once outside of comments.
func Until() []byte { return read("until") }

// Promise returns the policy of ralph run --promise. Its param promise is the text.
func Promise() []byte { return read("promise") }

func read(name string) []byte {
	src, err := files.ReadFile(name + ".yaml")
	if err != nil {
		panic(err) // the list and the files differ
	}
	return src
}
