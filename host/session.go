package host

import (
	"context"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// PlainLines is how many lines from the end of a plain text file are taken for the agent's own words.
const PlainLines = 500

// DefaultMaxBytes is how much of a file is read at most where [SessionOptions].MaxBytes is 0.
const DefaultMaxBytes = 8 << 20

// DefaultSearchBytes is how much of a file is searched at most where [SessionOptions].SearchBytes is 0.
const DefaultSearchBytes = 256 << 20

// SessionOptions say how to read. The zero SessionOptions are ready for use.
type SessionOptions struct {
	// Open opens the file; nil opens it on disk, refusing whatever is no regular file without waiting for it.
	Open func(path string) (File, error)

	// MaxBytes bounds what is read of the file and kept; 0 means DefaultMaxBytes. A record that does not lie within it
	// whole is not seen, but by the search.
	MaxBytes int64

	// SearchBytes bounds how much further back the beginning of the current turn is searched where it is not within
	// MaxBytes; 0 means DefaultSearchBytes, and less than 0 that it is not. The search keeps the words and the tools of
	// the turn, MaxBytes of them, and skips what tools gave back. It ends at a record that does not fit into 8 MiB
	// unless its beginning shows that neither the user nor the agent speaks in it.
	SearchBytes int64

	// LastMessage is the agent's final text where the host sent it with the hook input. It is what Last answers.
	LastMessage string

	// Turn is the turn that the host named in the hook input. Where the file names a turn too (Claude Code's does) and
	// it is another one, the file lags behind: then nothing in it belongs to the current turn. "" makes no difference,
	// nor does any turn where the file is a subagent's.
	Turn string

	// Subagent says that the file is a subagent's own, in which every record bears the mark by which a subagent's
	// records are kept apart elsewhere. Files with the name agent-*.jsonl are read so in any case.
	Subagent bool
}

// Turn is one contribution to the conversation.
type Turn struct {
	Role  string   // "user" for a human prompt or a continuation, "assistant" for one message of the agent
	Text  string   // its texts, joined by newlines; "" where a message only called tools
	Tools []string // the names of the tools that the message called, in order
}

// Session is what was read of a session file, in one pass from its end: what is asked for later continues where the reading
// stopped. It is safe for concurrent use.
type Session struct {
	options SessionOptions
	path    string

	mu      sync.Mutex
	size    int64 // of the file
	tail    *backwards
	entries []entry // the newest first
	records records
	seen    map[string]bool // the messages that were written again, and whose newest form is among the entries

	bound int  // how many of the entries are of the current turn
	found bool // whether the entry at bound begins it
	cut   bool // whether a budget was spent before that was known

	searched int64 // how much was read beyond the tail

	plain  bool   // no session of records but text
	text   string // that text
	turn   string // the turn that the newest record names
	tokens int
}

// ReadSession reads the current turn from the end of the file at path. The error is a [*ReadError]: the file is absent, is no
// regular file, cannot be read, or ctx was done. An empty file, and one in which nothing is understood, are sessions
// without a word. A file without a single known record is plain text unless it begins like JSON.
//
// Later calls of Turns may read on; they stay within ctx and the byte budget, and take what they cannot read for absent.
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
		if e.tokens > 0 {
			s.tokens = e.tokens
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
	var lines []string      // of what may be plain text, the last first
	var known, foreign bool // whether a record was understood, and one was not
	for first := true; structured || len(lines) < PlainLines; first = false {
		line, _, ok, err := s.tail.line()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if first && len(line) == 0 {
			continue // behind the last newline
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
	s.cut = !s.found && s.tail.cut
	switch {
	case !structured:
		slices.Reverse(lines)
		s.plain, s.text = true, strings.Join(lines, "\n")
	case s.cut && (known || !foreign): // else it is no session
		return s.readFar()
	}
	return nil
}

// take adds the entry before those of the current turn and reports whether it begins the turn.
func (s *Session) take(e entry) bool {
	s.add(e)
	if s.turn == "" {
		s.turn = e.turn
	}
	if e.kind == opening {
		s.found = true
		return true
	}
	s.bound = len(s.entries)
	return false
}

// add keeps an entry unless it says nothing, or is an old form of one that was written again.
func (s *Session) add(e entry) {
	if e.kind == noRecord || e.kind == noise && e.tokens == 0 && e.failed == nil {
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

// current are the entries of the current turn, the newest first.
func (s *Session) current() []entry {
	if s.lags() {
		return nil
	}
	return s.entries[:s.bound]
}

// lags reports whether the file is known to end in another turn than the one that was asked about.
func (s *Session) lags() bool {
	return s.options.Turn != "" && s.turn != "" && s.turn != s.options.Turn && !s.options.Subagent
}

// Own lists the agent's own words in the current turn, that is since the last human prompt or continuation, oldest
// first, one text a block. Of a plain text file they are its last 500 lines, as one text. Texts that are blank are left
// out.
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

// words lists the texts of a kind of parts in a kind of entries of the current turn, oldest first.
func (s *Session) words(of recordKind, kind partKind) (texts []string) {
	for _, e := range slices.Backward(s.current()) {
		if e.kind == of {
			texts = append(texts, e.words(kind)...)
		}
	}
	return texts
}

// Prompt returns the user's latest prompt, which may be before the current turn: "" where it is not found within the byte
// budget, and for hosts that write continuations as prompts. It reads on in the file, within ctx.
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

// Tools lists the names of the tools that the agent called in the current turn, in order, repeated calls too.
func (s *Session) Tools() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.words(assistant, used)
}

// Tokens is the size of the context with the agent's last reply in this turn: what was sent, from the cache or not, and
// what came back. 0 means that the file does not say.
func (s *Session) Tokens() int { return s.tokens }

// Last is the agent's final text in the current turn: Options.LastMessage where the host sent one, else the last of
// Own; "" if the agent has said nothing yet.
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

// Cut reports whether the reading ended before the beginning of the current turn was found: a budget was spent, or there
// is a record that is too large to see who speaks in it. All that was read still belongs to the turn.
func (s *Session) Cut() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cut
}

// Bytes is how much of the file has been read.
func (s *Session) Bytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tail.read + s.searched
}

// Turns lists the last n turns of the conversation, also those before the current one, oldest first. A turn is a human
// prompt, a continuation, or one message of the agent, whose blocks may lie in several records; messages with neither
// text nor tools, and all that is no turn of the conversation, are left out. Of a plain text file there is one turn, the
// agent's. It may read on in the file, within the byte budget; what is not there gives fewer turns.
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
	id, begun := "", 0 // the message of the latest entry, and how many turns there are
	for e := range s.back(s.tail.cancelled) {
		if !e.speaks() {
			continue
		}
		if e.kind != assistant || e.id == "" || e.id != id {
			if begun++; begun > n+1 { // the oldest one may lack records of its own message
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

// back lists the entries from the last to the first, and reads on where they end, within the byte budget, until cancelled
// reports an error. What cannot be read ends it, and so does a file that shrank.
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

// assemble makes turns of entries that stand newest first.
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
