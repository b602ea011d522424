package host

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/state"
)

const (
	firstWindow = 64 << 10 // bytes of a session file that are read first; each further window is eight times as large
	lastWindow  = 16 << 20 // bytes that are read at most
	plainLines  = 500      // from the end of a text file that count

	lag  = 500 * time.Millisecond // for which a file may lag behind its hook
	poll = 20 * time.Millisecond
)

// session is a conversation in a session file. It is safe for concurrent use.
type session struct {
	record   func(line []byte, subagent bool) (entry, bool)
	path     string
	find     func() string // where the path is not known; asked once
	message  string        // the agent's last message, if the host sent it
	prompt   string        // the ID of the prompt, if the host sent it
	subagent bool          // the file is a subagent's own
	patience time.Duration // to wait for a file that lags
	asked    string        // the time of the hook, as the host writes it

	mu   sync.Mutex
	read *window // the largest one so far
}

// Turns returns the last n turns, the oldest first. A turn is what one side said until the other replied; a hook's reason to continue is
// the user's. The file may lag behind the hook: Turns waits a moment for the agent's last message, as the host sent it, since the tools
// before it are missing too. Without it in the file it is a turn after the file's, and without a regular file the only one: hosts can be
// told to write none. The error says why a file cannot be read, and wraps the cause.
func (s *session) Turns(ctx context.Context, n int) ([]loop.Turn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w, err := s.window(ctx, n)
	late := func() bool {
		return err == nil && !s.complete(w) || s.message == "" && errors.Is(err, fs.ErrNotExist) // Copilot CLI makes it then
	}
	for ; s.patience > 0 && late(); s.patience -= poll {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(poll):
		}
		s.read = nil
		w, err = s.window(ctx, n)
	}
	switch {
	case n <= 0:
		return nil, err
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrInvalid):
		w = &window{}
	case err != nil:
		return nil, err
	}
	turns := s.ended(w)
	return turns[max(0, len(turns)-n):], nil
}

// failed says why the turn at the end of the file failed, or "". A failure counts only while the agent said nothing after it.
func (s *session) failed() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	w, err := s.window(context.Background(), 0)
	if err != nil || w.end.kind != failed || s.lags(w) || !strings.Contains(w.end.text, strings.TrimSpace(s.message)) {
		return ""
	}
	return failure(w.end.code, w.end.text)
}

// complete reports whether a window ends with the agent's last message, as far as that is known.
func (s *session) complete(w *window) bool {
	n := len(w.turns)
	return !s.lags(w) && !w.open() && (w.time == "" || w.time >= s.asked) && n > 0 && w.turns[n-1].Role == assistant && strings.Contains(w.turns[n-1].Text, strings.TrimSpace(s.message))
}

// lags reports whether the file is known to end in another prompt than the hook's.
func (s *session) lags(w *window) bool {
	return s.prompt != "" && w.prompt != "" && s.prompt != w.prompt && !s.subagent
}

// ended returns the turns of a window with the agent's last message at their end.
func (s *session) ended(w *window) []loop.Turn {
	turns := slices.Clone(w.turns)
	last := loop.Turn{Role: assistant, Text: s.message}
	ends := len(turns) > 0 && turns[len(turns)-1].Role == assistant
	switch {
	case s.lags(w): // the prompt is not in the file yet
		if ends {
			turns = append(turns, loop.Turn{Role: user})
		}
		if s.message != "" {
			turns = append(turns, last)
		}
	case strings.TrimSpace(s.message) == "":
	case !ends:
		turns = append(turns, last)
	case strings.Contains(turns[len(turns)-1].Text, strings.TrimSpace(s.message)):
	case w.open(): // the last words of this turn are not in the file yet
		at := &turns[len(turns)-1]
		at.Text = strings.TrimLeft(at.Text+"\n\n"+s.message, "\n")
	default: // the file ends with another final text, in an earlier turn
		turns = append(turns, loop.Turn{Role: user}, last)
	}
	return turns
}

// window returns a window with n whole turns, or the largest.
func (s *session) window(ctx context.Context, n int) (*window, error) {
	if s.read != nil && s.read.holds >= n {
		return s.read, nil
	}
	if s.find != nil {
		s.path, s.find = s.find(), nil
	}
	f, info, err := state.OpenRegular(s.path)
	if err != nil {
		return nil, fmt.Errorf("session file: %w", err)
	}
	defer f.Close()
	head := make([]byte, 64)
	_, _ = f.ReadAt(head, 0) // a shorter file leaves zeros
	object := bytes.HasPrefix(bytes.TrimLeft(head, "\ufeff \t\r\n"), []byte("{"))
	for length := int64(firstWindow); ; length *= 8 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		length = min(length, lastWindow, info.Size())
		b := make([]byte, length)
		read, err := f.ReadAt(b, info.Size()-length)
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("session file: %w", err)
		}
		w := &window{whole: length == info.Size()}
		w.parse(b[:read], object, func(line []byte) (entry, bool) { return s.record(line, s.subagent) })
		if w.holds = len(w.turns) - 1; length == min(lastWindow, info.Size()) {
			w.holds = math.MaxInt
		}
		if s.read = w; w.holds >= n {
			return w, nil
		}
	}
}

// window is what the end of a session file holds.
type window struct {
	turns  []loop.Turn // the oldest first; its beginning may be missing
	prompt string      // the newest prompt's ID
	end    entry       // the last record of the conversation
	time   string      // of the newest record, where records have one
	whole  bool        // it is the whole file
	holds  int         // it has so many whole turns; math.MaxInt if there is no larger window
}

// open reports whether the agent had not finished when the file was written.
func (w *window) open() bool { return w.end.open || w.end.kind == result }

// parse reads the lines of a window. A file that has no JSON object and begins with none is a text, and one turn of the agent.
func (w *window) parse(b []byte, object bool, read func(line []byte) (entry, bool)) {
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	if !w.whole {
		b = b[bytes.IndexByte(b, '\n')+1:] // the first line is torn
	}
	lines := bytes.Split(bytes.TrimRight(b, "\r\n"), []byte("\n"))
	var entries []entry        // the newest first
	ended := map[string]bool{} // by the ID of a use, whether it succeeded
	again := map[string]bool{} // IDs of records that are written again
	for _, line := range slices.Backward(lines) {
		e, ok := read(line)
		object = object || ok
		if again[e.id] {
			continue
		}
		again[e.id] = e.id != ""
		maps.Copy(ended, e.ended)
		for i, u := range e.tools {
			e.tools[i].Failed = !ended[u.id] || u.background
		}
		entries = append(entries, e)
	}
	w.collect(entries)
	if !object && len(bytes.TrimSpace(b)) > 0 {
		end := string(bytes.Join(lines[max(0, len(lines)-plainLines):], []byte("\n")))
		w.turns = []loop.Turn{{Role: assistant, Text: strings.ToValidUTF8(strings.ReplaceAll(end, "\r\n", "\n"), "\ufffd")}}
	}
}

// collect makes turns of records, of which the newest is first.
func (w *window) collect(entries []entry) {
	var texts [][]string // of each turn
	for _, e := range slices.Backward(entries) {
		w.prompt, w.time = cmp.Or(e.prompt, w.prompt), max(w.time, e.time)
		if e.kind != noise {
			w.end = e
		}
		n := len(w.turns)
		if e.kind == user || e.kind == assistant && (e.text != "" || len(e.tools) > 0) {
			if n == 0 || w.turns[n-1].Role != e.kind {
				w.turns, texts, n = append(w.turns, loop.Turn{Role: e.kind}), append(texts, nil), n+1
			}
			if e.text != "" {
				texts[n-1] = append(texts[n-1], e.text)
			}
			for _, u := range e.tools {
				w.turns[n-1].Tools = append(w.turns[n-1].Tools, u.Tool)
			}
		}
		if n > 0 && w.turns[n-1].Role == assistant && e.tokens > 0 {
			w.turns[n-1].Tokens = e.tokens
		}
	}
	for i := range w.turns {
		w.turns[i].Text = strings.Join(texts[i], "\n\n")
	}
}

// sessionFile returns the file of a session by the pattern of such paths below a host's directory, or "".
func sessionFile(dir, pattern, id string) string {
	if dir == "" || pattern == "" || !isName(id) {
		return ""
	}
	found, _ := fs.Glob(os.DirFS(dir), strings.ReplaceAll(pattern, "SESSION", id))
	for _, name := range found {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// isName reports whether an ID can be the name of a file and leads nowhere else.
func isName(id string) bool {
	return id != "" && len(id) <= 200 && !strings.HasPrefix(id, ".") && !strings.ContainsAny(id, "/\\:\x00*?[")
}
