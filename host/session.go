package host

import (
	"context"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// plainLines is how many lines from the end of a plain text file count as the agent's words.
const plainLines = 500

// DefaultMaxBytes is the default of [SessionOptions].MaxBytes.
const DefaultMaxBytes = 8 << 20

// DefaultSearchBytes is the default of [SessionOptions].SearchBytes.
const DefaultSearchBytes = 256 << 20

// SessionOptions configures [ReadSession]. The zero value is ready to use.
type SessionOptions struct {
	// Open opens the file. If nil, ReadSession opens it on disk and rejects anything but a regular file without waiting
	// for it.
	Open func(path string) (File, error)

	// MaxBytes bounds what is read of the file and kept; 0 means DefaultMaxBytes. A record that is not wholly within it
	// is seen only by the search.
	MaxBytes int64

	// SearchBytes bounds how much further back to search for the beginning of the current turn if it is not within
	// MaxBytes; 0 means DefaultSearchBytes, and a negative value disables the search. The search keeps up to MaxBytes
	// of the turn's words and uses of tools, and skips results of tools. It ends at a record larger than 8 MiB unless
	// the beginning of the record shows that neither the user nor the agent wrote it.
	SearchBytes int64

	// LastMessage is the agent's final message if the host sent it with the hook input. Last returns it.
	LastMessage string

	// Turn is the turn that the hook input names. If the file names turns too (Claude Code's does) and ends in another
	// one, the file lags behind, and nothing in it belongs to the current turn. "" has no effect, nor has any turn if
	// the file is a subagent's.
	Turn string

	// Subagent reports that the file is a subagent's own, in which every record has the mark that elsewhere separates a
	// subagent's records. Files called agent-*.jsonl are always read so.
	Subagent bool
}

// Turn is one contribution to the conversation.
type Turn struct {
	Role  string   // "user" for a human prompt or a continuation, "assistant" for one message of the agent
	Text  string   // the texts, joined by newlines; "" if the message only called tools
	Tools []string // the names of the tools that the message called, in order
}

// Session is what was read of a session file, in one pass from its end; later calls resume where reading stopped. It is
// safe for concurrent use.
type Session struct {
	options SessionOptions
	path    string

	mu      sync.Mutex
	size    int64 // of the file
	tail    *backwards
	entries []entry // the newest first
	records records
	seen    map[string]bool // messages that were rewritten, and whose newest form is among the entries

	turn latestTurn

	searched int64 // how much was read beyond the tail

	plain bool   // the file is plain text, not records
	text  string // the plain text
}

// latestTurn is what is known of the turn at the end of a session file.
type latestTurn struct {
	id     string // that the newest record names
	bound  int    // how many of the entries are of the turn
	found  bool   // the entry at bound begins it
	cut    bool   // a budget ended the search before that was known
	tokens int    // the size of the context
}

// ReadSession reads the current turn from the end of the file at path. The error is a [*ReadError]: the file is
// missing, is not a regular file or cannot be read, or ctx is done. An empty file, and one in which nothing is
// recognized, are sessions without words. A file without a single known record is plain text unless it begins like
// JSON.
//
// Turns and other methods may read further back, within ctx and the byte budget; they treat what they cannot read as
// missing.
func ReadSession(ctx context.Context, path string, o SessionOptions) (*Session, error) {
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	if o.SearchBytes == 0 {
		o.SearchBytes = DefaultSearchBytes
	}
	if base := filepath.Base(path); strings.HasPrefix(base, "agent-") && strings.HasSuffix(base, ".jsonl") {
		o.Subagent = true
	}
	s := &Session{options: o, path: path, seen: map[string]bool{}}
	file, size, err := open(path, o.Open)
	if err != nil {
		return nil, &ReadError{Path: path, Err: err}
	}
	defer file.Close()
	s.size, s.tail = size, newBackwards(file, size, o.MaxBytes, ctx.Err)
	if err := s.readTurn(); err != nil {
		return nil, &ReadError{Path: path, Err: err}
	}
	for _, e := range s.entries {
		if e.usage.tokens > 0 {
			s.turn.tokens = e.usage.tokens
			break
		}
	}
	return s, nil
}

// readTurn reads back to the record that begins the current turn.
func (s *Session) readTurn() error {
	structured, err := s.tail.beginsObject()
	if err != nil {
		return err
	}
	var lines []string      // of possible plain text, the last first
	var known, foreign bool // some record was known, some was not
	for first := true; structured || len(lines) < plainLines; first = false {
		line, _, ok, err := s.tail.line()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if first && len(line) == 0 {
			continue // after the last newline
		}
		e := s.records.read(line, s.options.Subagent)
		if e.kind != noRecord {
			structured, known = true, true
		} else {
			foreign = true
		}
		if !structured {
			text := strings.TrimPrefix(strings.TrimSuffix(string(line), "\r"), "\ufeff")
			lines = append(lines, strings.ToValidUTF8(text, "\ufffd"))
			continue
		}
		if s.take(e) {
			break
		}
	}
	s.turn.cut = !s.turn.found && s.tail.cut
	switch {
	case !structured:
		slices.Reverse(lines)
		s.plain, s.text = true, strings.Join(lines, "\n")
	case s.turn.cut && (known || !foreign): // otherwise it is not a session
		return s.readFar()
	}
	return nil
}

// take adds an entry before those of the current turn and reports whether it begins the turn.
func (s *Session) take(e entry) bool {
	s.add(e)
	if s.turn.id == "" {
		s.turn.id = e.turn
	}
	if e.kind == opening {
		s.turn.found = true
		return true
	}
	s.turn.bound = len(s.entries)
	return false
}

// add keeps an entry unless it is empty or the old form of a rewritten one.
func (s *Session) add(e entry) {
	if e.kind == noRecord || e.kind == noise && e.usage.tokens == 0 && e.failed == nil {
		return
	}
	if e.rewritten && e.id != "" {
		if s.seen[e.id] {
			return
		}
		s.seen[e.id] = true
	}
	s.entries = append(s.entries, e)
}

// current returns the entries of the current turn, the newest first.
func (s *Session) current() []entry {
	if s.lags() {
		return nil
	}
	return s.entries[:s.turn.bound]
}

// lags reports whether the file is known to end in a turn other than Options.Turn.
func (s *Session) lags() bool {
	return s.options.Turn != "" && s.turn.id != "" && s.turn.id != s.options.Turn && !s.options.Subagent
}

// Own returns the agent's words in the current turn, that is since the last human prompt or continuation, oldest first,
// one string a block. Of a plain text file it returns the last 500 lines, as one string. Blank texts are left out.
func (s *Session) Own() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.own()
}

func (s *Session) own() []string {
	if s.plain {
		if strings.TrimSpace(s.text) == "" {
			return nil
		}
		return []string{s.text}
	}
	return s.words(assistant, said)
}

// words returns the texts of a kind of part in a kind of entry of the current turn, oldest first.
func (s *Session) words(of recordKind, kind partKind) (texts []string) {
	for _, e := range slices.Backward(s.current()) {
		if e.kind == of {
			texts = append(texts, e.words(kind)...)
		}
	}
	return texts
}

// Prompt returns the user's latest prompt, which may precede the current turn. It returns "" if the prompt is not
// within the byte budget, or if the host writes continuations as prompts. It may read further back in the file, within
// ctx.
func (s *Session) Prompt(ctx context.Context) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for e := range s.back(ctx.Err) {
		if e.prompt {
			return strings.Join(e.words(said), "\n")
		}
	}
	return ""
}

// Tools returns the names of the tools that the agent called in the current turn, in order, including repeated calls.
func (s *Session) Tools() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.words(assistant, used)
}

// Tokens returns the size of the context with the agent's last reply in this turn: input, cached or not, and output. 0
// means that the file does not have it.
func (s *Session) Tokens() int { return s.turn.tokens }

// Last returns the agent's final message in the current turn: Options.LastMessage if set, otherwise the last of Own; ""
// if there is none.
func (s *Session) Last() string {
	if strings.TrimSpace(s.options.LastMessage) != "" {
		return s.options.LastMessage
	}
	own := s.Own()
	if len(own) == 0 {
		return ""
	}
	return own[len(own)-1]
}

// Cut reports whether reading ended before the beginning of the current turn was found, because a budget was spent or a
// record was too large to see who wrote it. All that was read still belongs to the turn.
func (s *Session) Cut() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turn.cut
}

// Bytes returns how much of the file has been read.
func (s *Session) Bytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tail.read + s.searched
}

// Turns returns the last n turns of the conversation, oldest first, including those before the current one. A turn is a
// human prompt, a continuation, or one message of the agent, whose blocks may be in several records; messages with
// neither text nor tools are left out. A plain text file has one turn, the agent's. Turns may read further back in the
// file, within the byte budget; it returns fewer turns if there are no more.
func (s *Session) Turns(n int) []Turn {
	if n <= 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.plain {
		own := s.own()
		if own == nil {
			return nil
		}
		return []Turn{{Role: "assistant", Text: own[0]}}
	}
	id, begun := "", 0 // the latest entry's message, and the number of turns
	for e := range s.back(s.tail.cancelled) {
		if !e.speaks() {
			continue
		}
		if e.kind != assistant || e.id == "" || e.id != id {
			if begun++; begun > n+1 { // the oldest turn may lack records of its message
				break
			}
		}
		id = ""
		if e.kind == assistant {
			id = e.id
		}
	}
	turns := assemble(s.entries)
	return turns[max(0, len(turns)-n):]
}

// back yields the entries from the last to the first, and reads further back when they end, within the byte budget,
// until cancelled returns an error. A read error or a file that shrank ends it.
func (s *Session) back(cancelled func() error) iter.Seq[entry] {
	return func(yield func(entry) bool) {
		reads := false
		for i := 0; ; i++ {
			for i == len(s.entries) {
				if !reads {
					file, size, err := open(s.path, s.options.Open)
					if err != nil {
						return
					}
					defer file.Close()
					if s.plain || size < s.size {
						return
					}
					s.tail.r, s.tail.cancelled, reads = file, cancelled, true
				}
				line, _, ok, err := s.tail.line()
				if err != nil || !ok {
					return
				}
				s.add(s.records.read(line, s.options.Subagent))
			}
			if !yield(s.entries[i]) {
				return
			}
		}
	}
}

// assemble returns the turns of entries, which must be newest first.
func assemble(entries []entry) []Turn {
	var turns []Turn
	id := ""
	for _, e := range slices.Backward(entries) {
		text := strings.Join(e.words(said), "\n")
		switch {
		case !e.speaks():
		case e.kind != assistant:
			turns, id = append(turns, Turn{Role: "user", Text: text}), ""
		case e.id != "" && e.id == id:
			last := &turns[len(turns)-1]
			if last.Text != "" && text != "" {
				last.Text += "\n"
			}
			last.Text += text
			last.Tools = append(last.Tools, e.words(used)...)
		default:
			turns, id = append(turns, Turn{Role: "assistant", Text: text, Tools: e.words(used)}), e.id
		}
	}
	return turns
}
