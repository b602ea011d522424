package loop

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-sdk/ralph/rules"
)

const (
	sessionKind    = "session"
	sessionVersion = 1
	maxRepeats     = 10 // a delivery gets the same answer so often
)

// errDamaged reports a document that cannot be what ralph wrote.
var errDamaged = errors.New("it is damaged")

// errNewer reports a document of a later version of ralph.
var errNewer = errors.New("a newer version of ralph wrote it")

// session is the document of a session.
type session struct {
	Version  int                `json:"version"`
	Total    int                `json:"total,omitempty"`    // continuations, by all policies
	Off      []string           `json:"off,omitempty"`      // what kept it from being decided, each recorded once
	Policies map[string]*counts `json:"policies,omitempty"` // by name; of a subagent NAME/AGENT

	written []byte
}

// counts are what is kept of a policy.
type counts struct {
	Memory   rules.Memory `json:"memory,omitzero"`
	PromptID string       `json:"prompt_id,omitempty"`
	Ended    bool         `json:"ended,omitempty"` // the last decision was a stop that a rule made
	Shown    []string     `json:"shown,omitempty"` // ends of this prompt that the person has seen
	Last     *delivery    `json:"last,omitempty"`
}

// delivery is an event that has an ID, and its answer.
type delivery struct {
	ID      string   `json:"id"`
	Answer  Decision `json:"answer"`
	Err     string   `json:"err,omitempty"`
	Repeats int      `json:"repeats,omitempty"`
}

// key returns the key of a document: @SCOPE/KIND/NAME, without the scope if there is none. A slash in a part is written %2F.
func (l *Loop) key(kind string, names ...string) string {
	key := kind
	for _, name := range names {
		key += "/" + url.PathEscape(name)
	}
	if l.scope == "" {
		return key
	}
	return "@" + url.PathEscape(l.scope) + "/" + key
}

// isSession reports whether a key is that of a session, in any scope.
func isSession(key string) bool {
	if strings.HasPrefix(key, "@") {
		_, key, _ = strings.Cut(key, "/")
	}
	return strings.HasPrefix(key, sessionKind+"/")
}

// sessionKey returns the key of an event's counts: of its session, else of the project.
func (l *Loop) sessionKey(ev Event) (string, error) {
	switch {
	case ev.Session != "":
		return l.key(sessionKind, ev.Session), nil
	case l.root != "":
		return l.key(sessionKind, "", l.root), nil
	case ev.Dir != "":
		return l.key(sessionKind, "", ev.Dir), nil
	}
	return "", misuse("the event names no session and no directory, so nothing can be counted: set Event.Session")
}

// sessions remembers decoded documents by key, since most are decided again in the process that wrote them. One counts only while the store
// has its bytes.
type sessions struct {
	mu  sync.Mutex
	all map[string]*session
}

const maxKept = 1000

// take returns the document of a key, and forgets it: its user changes it.
func (c *sessions) take(key string, b []byte) (*session, error) {
	c.mu.Lock()
	s := c.all[key]
	delete(c.all, key)
	c.mu.Unlock()
	if s != nil && len(b) > 0 && bytes.Equal(s.written, b) {
		return s, nil
	}
	return readSession(b)
}

func (c *sessions) keep(key string, s *session) {
	for _, counts := range s.Policies {
		switch counts.Memory.Progress.(type) {
		case nil, bool, int, float64, string:
		default:
			return // it is the program's own, which it may change
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil || len(c.all) >= maxKept {
		c.all = map[string]*session{}
	}
	c.all[key] = s
}

func readSession(b []byte) (*session, error) {
	if len(b) == 0 {
		return &session{Version: sessionVersion, Policies: map[string]*counts{}}, nil
	}
	s := &session{}
	if err := json.Unmarshal(b, s); err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	switch {
	case s.Version > sessionVersion:
		return nil, errNewer
	case s.Version < 1 || s.Total < 0:
		return nil, errDamaged
	case s.Policies == nil:
		s.Policies = map[string]*counts{}
	}
	for _, c := range s.Policies {
		if c == nil || c.Memory.Continuations < 0 || c.Memory.Repeats < 0 {
			return nil, errDamaged
		}
	}
	return s, nil
}

// bytes returns the document, nothing if there is nothing to keep.
func (s *session) bytes() (b []byte, err error) {
	maps.DeleteFunc(s.Policies, func(_ string, c *counts) bool { return reflect.ValueOf(*c).IsZero() })
	if len(s.Policies) == 0 && s.Total == 0 && len(s.Off) == 0 {
		return nil, nil
	}
	s.written, err = json.Marshal(s)
	return s.written, err
}

// of returns the counts of a name.
func (s *session) of(name string) *counts {
	if s.Policies[name] == nil {
		s.Policies[name] = &counts{}
	}
	return s.Policies[name]
}

// begin forgets what belongs to the prompt before, if the event is the first of another one.
func (c *counts) begin(ev Event) {
	fresh := ev.NewPrompt || ev.AfterStop && c.Ended
	if id := ev.PromptID; id != "" {
		if len(id) > 64 { // it may be the text of the prompt, which a memory does not hold
			id = fmt.Sprintf("%x", sha256.Sum256([]byte(id)))
		}
		fresh = fresh || id != c.PromptID
		c.PromptID = id
	}
	if fresh {
		c.newPrompt()
	}
}

func (c *counts) newPrompt() {
	c.Memory, c.Shown, c.Ended = c.Memory.NewPrompt(), nil, false
}

// repeated returns the answer of the last delivery, if this is the same.
func (c *counts) repeated(ev Event) (Decision, bool) {
	if ev.ID == "" || c.Last == nil || c.Last.ID != ev.ID || c.Last.Repeats >= maxRepeats && !ev.Run { // a run counts its own tries
		return Decision{}, false
	}
	c.Last.Repeats++
	d := c.Last.Answer
	d.Log = slices.Clone(d.Log)
	if c.Last.Err != "" {
		d.Err = errors.New(c.Last.Err)
	}
	return d, true
}

// keep remembers the answer to an event.
func (c *counts) keep(ev Event, d Decision) {
	if ev.Name != prompt {
		c.Ended = d.Outcome == rules.Stopped || d.Outcome == rules.Done
	}
	c.Last = nil
	if ev.ID == "" || errors.As(d.Err, new(*Fault)) { // another try may decide it
		return
	}
	c.Last = &delivery{ID: ev.ID, Answer: d}
	c.Last.Answer.Log = slices.Clone(d.Log)
	if d.Err != nil {
		c.Last.Err = d.Err.Error()
	}
}
