package temporal

import (
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/rules"
)

func TestPortable(t *testing.T) {
	dir := t.TempDir()
	sh(t, dir, `git init -q .; printf 'ignored\nbuild/\n*.local.md\n' >.gitignore; git add .; git commit -qm first`)
	for fact, refused := range map[string]bool{
		"text: TODO.md": false, "text: ignored": true, "text: docs/ignored": true,
		"text: .claude/x.local.md": true, `glob: "build/*.xml"`: true, `glob: "*.xml"`: false,
		`glob: "src/**/*.go"`: false, "text: ~/notes.md": true, "exec: [sh, -c, cat ignored]": false,
	} {
		p, diags := rules.LoadBytes(t.Context(), "p", []byte("ralph: 1\nfacts:\n  f: {"+fact+"}\nrules: [{name: r, when: ok(f), continue: go on}]\n"), rules.Config{})
		if err := diags.Err(); err != nil {
			t.Fatal(fact, err)
		}
		if err := portable(t.Context(), dir, p); (err != nil) != refused {
			t.Errorf("%s: %v", fact, err)
		} else if err != nil && !strings.Contains(err.Error(), "git ignores") {
			t.Error(err)
		}
	}
}
