package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
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
	if err != nil || w.failed.kind == noise || s.lags(w) || !strings.Contains(w.failed.text, strings.TrimSpace(s.message)) {
		return ""
	}
	return failure(w.failed.code, w.failed.text)
}

// complete reports whether a window ends with the agent's last message, as far as that is known.
func (s *session) complete(w *window) bool {
	n := len(w.turns)
	return !s.lags(w) && !w.open && (w.time == "" || w.time >= s.asked) && n > 0 && w.turns[n-1].Role == assistant && strings.Contains(w.turns[n-1].Text, strings.TrimSpace(s.message))
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
	case w.open: // the last words of this turn are not in the file yet
		at := &turns[len(turns)-1]
		at.Text = strings.TrimLeft(at.Text+"\n\n"+s.message, "\n")
	default: // the file ends with another final text, in an earlier turn
		turns = append(turns, loop.Turn{Role: user}, last)
	}
	return turns
}

// window returns a window with n whole turns, or the largest.
func (s *session) window(ctx context.Context, n int) (*window, error) {
	if s.read != nil && s.read.holds(n) {
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
		w := &window{whole: length == info.Size(), last: length == min(lastWindow, info.Size())}
		w.parse(b[:read], object, func(line []byte) (entry, bool) { return s.record(line, s.subagent) })
		if s.read = w; w.holds(n) {
			return w, nil
		}
	}
}

// window is what the end of a session file holds.
type window struct {
	turns  []loop.Turn // the oldest first; its beginning may be missing
	prompt string      // the newest prompt's ID
	failed entry       // the failure with which the file ends
	time   string      // of the newest record, where records have one
	open   bool        // the agent had not finished when the file was written
	whole  bool        // it is the whole file
	last   bool        // there is no larger one
}

// holds reports whether the window has n whole turns, or all that can be had.
func (w *window) holds(n int) bool { return w.last || len(w.turns) > n }

// parse reads the lines of a window. A file that has no JSON object and begins with none is a text, and one turn of the agent.
func (w *window) parse(b []byte, object bool, read func(line []byte) (entry, bool)) {
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	if !w.whole {
		b = b[bytes.IndexByte(b, '\n')+1:] // the first line is torn
	}
	lines := bytes.Split(bytes.TrimRight(b, "\r\n"), []byte("\n"))
	p := parser{window: w, ended: map[string]bool{}, again: map[string]bool{}}
	for _, line := range slices.Backward(lines) {
		e, ok := read(line)
		object = object || ok
		p.add(e)
	}
	for _, s := range slices.Backward(p.sides) {
		slices.Reverse(s.texts)
		slices.Reverse(s.Tools)
		s.Text = strings.Join(s.texts, "\n\n")
		w.turns = append(w.turns, s.Turn)
	}
	if !object && len(bytes.TrimSpace(b)) > 0 {
		end := string(bytes.Join(lines[max(0, len(lines)-plainLines):], []byte("\n")))
		w.turns = []loop.Turn{{Role: assistant, Text: strings.ToValidUTF8(strings.ReplaceAll(end, "\r\n", "\n"), "\ufffd")}}
	}
}

// parser collects the turns of a window from the end.
type parser struct {
	*window
	sides []side          // the newest first
	ended map[string]bool // by the ID of a use, whether it succeeded
	again map[string]bool // IDs of records that are written again

	seen   bool // a record of the conversation
	tokens int  // of the side that is collected, by its newest record
}

// side is a turn with its pieces, the newest first.
type side struct {
	loop.Turn
	texts []string
}

func (p *parser) add(e entry) {
	p.time = max(p.time, e.time)
	if e.id != "" {
		if p.again[e.id] {
			return
		}
		p.again[e.id] = true
	}
	if p.prompt == "" {
		p.prompt = e.prompt
	}
	if !p.seen && e.kind != noise {
		p.seen, p.open = true, e.open || e.kind == result
		if e.kind == failed {
			p.failed = e
		}
	}
	maps.Copy(p.ended, e.ended)
	if p.tokens == 0 {
		p.tokens = e.tokens
	}
	if e.kind != user && e.kind != assistant || e.kind == assistant && e.text == "" && len(e.tools) == 0 {
		return
	}
	if len(p.sides) == 0 || p.sides[len(p.sides)-1].Role != e.kind {
		p.sides = append(p.sides, side{Turn: loop.Turn{Role: e.kind}})
	}
	t := &p.sides[len(p.sides)-1]
	if e.text != "" {
		t.texts = append(t.texts, e.text)
	}
	if t.Tokens = p.tokens; e.kind == user {
		t.Tokens, p.tokens = 0, 0
	}
	for _, u := range slices.Backward(e.tools) {
		u.Failed = !p.ended[u.id] || u.background
		t.Tools = append(t.Tools, u.Tool)
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
