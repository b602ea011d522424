package transcript_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/loop/transcript"
)

// The files that a shell command names as those that it writes count as edited, if it passed.
func TestEditedByCommands(t *testing.T) {
	for _, c := range []struct {
		command string
		want    []string
	}{
		{`echo x > state.json`, []string{"state.json"}},
		{`echo x>state.json`, []string{"state.json"}},
		{`jq '.n += 1' state.json > tmp.json && mv tmp.json state.json`, []string{"tmp.json", "state.json"}},
		{`cat >> "a file.md" <<'EOF'`, []string{"a file.md"}},
		{`make 2>&1 | tee -a build.log`, []string{"build.log"}},
		{`go test ./... > /dev/null 2>errors.txt`, []string{"/dev/null", "errors.txt"}},
		{`sed -i 's/a/b/' main.go`, []string{"main.go"}},
		{`sed 's/a/b/' main.go`, nil},
		{`cp a.md b.md; rm -f c.md; touch d.md`, []string{"b.md", "c.md", "d.md"}},
		{`X=1 touch e.md`, []string{"e.md"}},
		{`echo "a > b"`, nil},
		{`echo x > $FILE`, nil},
		{`rm *.md`, nil},
		{`grep '>' main.go`, nil},
		{`echo "open`, nil},
		{`cat state.json`, nil},
	} {
		t.Run(c.command, func(t *testing.T) {
			s := session(t, userSays("go"), agentUses("1", "Bash", fmt.Sprintf(`{"command":%q}`, c.command)), toolSays("1", "ok", false))
			if diff := cmp.Diff(c.want, transcript.Edited(s.Actions(t.Context()))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	s := session(t, userSays("go"), agentUses("1", "Bash", `{"command":"echo x > a"}`), toolSays("1", "denied", true))
	if got := transcript.Edited(s.Actions(t.Context())); got != nil {
		t.Errorf("a command that failed edits %q", got)
	}
}
