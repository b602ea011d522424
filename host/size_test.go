package host_test

import (
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
)

// long is a session file that begins with as many copies of some records as make up its size, and counts what is read
// of it.
type long struct {
	earlier, last string
	size          int64
	read          *int64
}

func (f long) Stat() (fs.FileInfo, error) { return f, nil }
func (f long) Close() error               { return nil }
func (f long) Name() string               { return "session.jsonl" }
func (f long) Size() int64                { return f.size }
func (f long) Mode() fs.FileMode          { return 0o600 }
func (f long) ModTime() time.Time         { return time.Time{} }
func (f long) IsDir() bool                { return false }
func (f long) Sys() any                   { return nil }

func (f long) ReadAt(p []byte, off int64) (int, error) {
	*f.read += int64(len(p))
	border := f.size - int64(len(f.last))
	for n := 0; n < len(p); {
		at := off + int64(n)
		if at >= border {
			n += copy(p[n:], f.last[at-border:])
			continue
		}
		n += copy(p[n:][:min(int64(len(p)-n), border-at)], f.earlier[at%int64(len(f.earlier)):])
	}
	return len(p), nil
}

// The amount read depends on the turn and not on the file: as much of 200 MB as of 9 MB, whatever a policy reads. Only
// the tokens of the whole session need all of it.
func TestReadingDependsOnTheTurn(t *testing.T) {
	todo := `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"w","name":"TodoWrite","input":{"todos":[{"content":"a","status":"pending"}]}}]}}` + "\n"
	earlier := with(user("go"), m{"timestamp": "2026-11-20T09:12:47Z"}) + agent("EARLIER", tool("Bash")) + result(strings.Repeat("x", 1500))
	asks := map[string]func(s *host.Session) any{
		"the turn":     func(s *host.Session) any { return s.Own() },
		"turns":        func(s *host.Session) any { return len(s.Turns(100)) },
		"exchanges":    func(s *host.Session) any { return len(s.Conversation(t.Context(), 100, true)) },
		"actions":      func(s *host.Session) any { return len(s.Actions()) },
		"tasks":        func(s *host.Session) any { list, _ := s.Tasks(t.Context()); return len(list) },
		"the age":      func(s *host.Session) any { return s.Began(t.Context()) },
		"tokens, last": func(s *host.Session) any { return s.Tokens() },
	}
	for name, turn := range map[string]string{
		"short": user("go on") + todo + agent("DONE"),
		"long":  user("go on") + todo + agent("DONE") + strings.Repeat(result(strings.Repeat("x", 1<<20)), 10),
	} {
		for asked, ask := range asks {
			t.Run(name+"/"+asked, func(t *testing.T) {
				run := func(size int64) (answer any, read int64) {
					// Both files break off within a record at the same distance from their beginning and their end.
					size -= (size - int64(len(turn))) % int64(len(earlier))
					o := host.SessionOptions{Open: func(string) (host.File, error) { return long{earlier, turn, size, &read}, nil }}
					s, err := host.ReadSession(t.Context(), "session.jsonl", o)
					if err != nil {
						t.Fatal(err)
					}
					return ask(s), read
				}
				want, less := run(int64(len(turn)) + 9<<20)
				got, read := run(200 << 20)
				if diff := cmp.Diff(want, got); diff != "" || read != less {
					t.Errorf("%d bytes of 200 MB are read, and %d of 9 MB (-want +got)\n%s", read, less, diff)
				}
			})
		}
	}
}

// Whatever a policy reads, in any order, no byte is read twice, except for the head that shows what kind of file it is.
func TestReadingIsOnePass(t *testing.T) {
	data := strings.Repeat(user("go")+agent("step", tool("Bash"))+result(strings.Repeat("x", 1500)), 500) + user("go on") + agent("DONE")
	read := int64(0)
	o := host.SessionOptions{Open: func(string) (host.File, error) { return long{data, data, int64(len(data)), &read}, nil }}
	s, err := host.ReadSession(t.Context(), "session.jsonl", o)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s.Actions()
		s.Tasks(t.Context())
		if turns, talk := len(s.Turns(2000)), len(s.Conversation(t.Context(), 2000, true)); turns != 1002 || talk != 1002 {
			t.Errorf("%d turns and %d exchanges", turns, talk)
		}
	}
	if read > int64(len(data))+64 {
		t.Errorf("%d bytes of %d are read", read, len(data))
	}
}
