package host_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
)

// Whatever a file contains, reading it ends; a prompt at the end ends the turn, and what the agent writes after it is
// found; what the user writes never counts as the agent's; and reading the file at once or in small budgets makes no
// difference to what belongs to the turn.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"", "\n", "plain\nDONE\n", "\ufeff" + agent("a"), user("go") + agent("a", thinking("x"), tool("Bash")) + result("ok"), feedback("go on"),
		`{"type":"assistant","message":{"content":"a`, `{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]}}`,
		`{"type":"gemini","id":"1","content":"a"}`, `{"type":"user.message","data":{"content":"a"}}`, `{"type":"attachment","attachment":{"type":"hook_additional_context","hookEvent":"Stop"}}`,
		"{\r\n", "[]\n{}\n", "\x00\xff\xfe",
	} {
		f.Add([]byte(s))
	}
	dir := f.TempDir()
	path := filepath.Join(dir, "session.jsonl")
	f.Fuzz(func(t *testing.T, data []byte) {
		write := func(more string) *host.Session {
			if err := os.WriteFile(path, append(data[:len(data):len(data)], more...), 0o600); err != nil {
				t.Fatal(err)
			}
			return read(t, path, host.SessionOptions{})
		}
		s := write("")
		own := s.Own()
		for _, text := range own {
			if strings.TrimSpace(text) == "" {
				t.Fatalf("blank text in %q", own)
			}
		}
		if words := host.Words(s, "the last"); len(words) == 0 || words[len(words)-1] != "the last" && !strings.Contains(string(data), "the last") {
			t.Fatalf("Words = %q", words)
		}
		for _, n := range []int{1, 1000} {
			for _, turn := range s.Turns(n) {
				if turn.Role != "user" && turn.Text == "" && len(turn.Tools) == 0 {
					t.Fatalf("an empty turn: %+v", turn)
				}
			}
		}

		s = write("\n" + user("THE-PROMPT") + agent("THE-ANSWER"))
		if diff := cmp.Diff([]string{"THE-ANSWER"}, s.Own()); diff != "" {
			t.Fatalf("behind a prompt (-want +got):\n%s", diff)
		}
		turns := s.Turns(2)
		if len(turns) != 2 || turns[0].Text != "THE-PROMPT" || turns[1].Text != "THE-ANSWER" {
			t.Fatalf("Turns(2) = %+v", turns)
		}
		small, err := host.ReadSession(t.Context(), path, host.SessionOptions{MaxBytes: int64(len(user("THE-PROMPT")+agent("THE-ANSWER"))) - 1})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"THE-ANSWER"}, small.Own()); diff != "" {
			t.Fatalf("with a small budget (-want +got):\n%s", diff)
		}
	})
}
