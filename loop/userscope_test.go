package loop_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/loop"
)

// What a project brings counts for a hook of all projects only where the user trusts the project.
func TestUserScope(t *testing.T) {
	const looped = `
ralph: 1
loop: {state: state}
facts: {state: {json: state.json}}
rules: [{name: again, continue: "${state.text}"}]
`
	const free = `
ralph: 1
facts:
  state: {json: state.json, schema: {properties: {text: {type: string}}}}
  own: {text: ~/own.txt}
rules:
  - name: again
    when: ok(state)
    continue: "${state.text}"
  - name: own
    when: ok(own)
    continue: "${own}"
`
	never := []func(string) error{func(string) error { return errors.New("ask me") }}
	for _, c := range []struct {
		name, policy string
		files        map[string]string
		home         string                    // what own.txt holds
		trusted      []func(root string) error // none: those of the list
		list         bool                      // the project is on the user's list
		want         string
	}{
		{"a loop", looped, map[string]string{"state.json": `{"text": "evil"}`}, "", never, false, "[ralph] state.json holds a loop, which is not continued: ask me"},
		{"no loop", looped, nil, "", never, false, ""},
		{"a file", free, map[string]string{"state.json": `{"text": "evil"}`}, "", never, false, "[ralph] the rule again needs your approval: state: state.json is not used: ask me"},
		{"no file", free, nil, "", never, false, ""},
		{"a file of the user's own", free, nil, "mine", never, false, "mine"},
		{"a trusted project", looped, map[string]string{"state.json": `{"text": "fine"}`}, "", []func(string) error{func(string) error { return nil }}, false, "fine"},
		{"one of the list", looped, map[string]string{"state.json": `{"text": "fine"}`}, "", nil, true, "fine"},
		{"none of the list", free, map[string]string{"state.json": `{"text": "evil"}`}, "", nil, false, "[ralph] the rule again needs your approval: state: state.json is not used: you have not trusted this project; run `ralph trust` to trust it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t, c.files)
			p.env["HOME"], p.env["USERPROFILE"] = t.TempDir(), ""
			if c.home != "" {
				if err := os.WriteFile(filepath.Join(p.env["HOME"], "own.txt"), []byte(c.home), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if c.list {
				if isNew, err := store.Open(p.store).Trust(p.dir, p.now); err != nil || !isNew {
					t.Fatal(isNew, err)
				}
			}
			l := p.loop(c.policy, loop.WithUserScope(c.trusted...))
			a := l.Hook(t.Context(), nil, []byte(`{"session_id": "s1", "hook_event_name": "Stop", "cwd": "`+filepath.ToSlash(p.dir)+`"}`))
			if got := string(a.Stdout); !strings.Contains(got, `"`+c.want+`"`) && (c.want != "" || got != "") || strings.Contains(got, "evil") {
				t.Errorf("it answers %s, want %q", got, c.want)
			}
		})
	}
}
