package loop

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"time"

	"github.com/ralph-sdk/ralph/rules"
)

const (
	sessionKind     = "session"
	documentVersion = 1
	maxRepeats      = 10 // a delivery gets the same answer so often
)

var (
	errDamaged = errors.New("it is damaged") // ralph did not write it
	errNewer   = errors.New("a newer version of ralph wrote it")
)

// document is what is kept of a session, or of a project.
type document struct {
	Version  int                  `json:"version"`
	Total    int                  `json:"total,omitempty"`    // continuations of the session, by all policies
	Off      []string             `json:"off,omitempty"`      // what kept it from being decided, each recorded once
	Policies map[string]*counts   `json:"policies,omitempty"` // by name; of a subagent NAME/AGENT
	Stops    map[string]time.Time `json:"stops,omitempty"`    // of the project, by a person: a policy, or "" for all, and when
	Runs     map[string]string    `json:"runs,omitempty"`     // by a run: the name that it holds, and its ID

	key   string
	bytes []byte // that the store has
}

// counts are what is kept of a policy in a session.
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

// load returns a document, which the caller does not change.
func (l *Loop) load(ctx context.Context, key string) (d *document, err error) {
	defer caught(&err)
	b, err := l.store.Load(cmp.Or(ctx, context.Background()), key)
	if err != nil || len(b) == 0 {
		return &document{}, l.fault(key, err)
	}
	if d, err = decode(b); err != nil { // the error of Update names the file
		err = cmp.Or(l.update(ctx, key, func(*document) error { return nil }), l.fault(key, err))
	}
	return d, err
}

// update changes a document, while no other change of it is made. The one that was changed last need not be decoded again while the store has
// its bytes: most sessions are decided again in the process that wrote them.
func (l *Loop) update(ctx context.Context, key string, change func(*document) error) (err error) {
	defer caught(&err)
	err = l.store.Update(cmp.Or(ctx, context.Background()), key, func(old []byte) ([]byte, error) {
		d, err := l.last.Swap(nil), error(nil)
		if d == nil || d.key != key || !bytes.Equal(d.bytes, old) {
			d, err = decode(old)
		}
		if err == nil {
			err = change(d)
		}
		if err != nil {
			return nil, err
		}
		var b []byte
		maps.DeleteFunc(d.Policies, func(_ string, c *counts) bool { return reflect.ValueOf(*c).IsZero() })
		if d.Total > 0 || len(d.Policies)+len(d.Off)+len(d.Stops)+len(d.Runs) > 0 {
			b, err = json.Marshal(d)
		}
		d.key, d.bytes = key, b
		l.last.Store(d)
		return b, err
	})
	return l.fault(key, err)
}

func decode(b []byte) (*document, error) {
	d := &document{Policies: map[string]*counts{}, Stops: map[string]time.Time{}, Runs: map[string]string{}}
	if len(b) == 0 {
		d.Version = documentVersion
		return d, nil
	}
	if err := json.Unmarshal(b, d); err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	switch {
	case d.Version > documentVersion:
		return nil, errNewer
	case d.Version < 1, d.Total < 0, d.Policies == nil, d.Stops == nil, d.Runs == nil:
		return nil, errDamaged
	}
	for _, c := range d.Policies {
		if c == nil || c.Memory.Continuations < 0 || c.Memory.Repeats < 0 {
			return nil, errDamaged
		}
	}
	return d, nil
}

// begin forgets what belongs to the prompt before, if the event is the first of another one. It returns what the policy remembers.
func (c *counts) begin(ev Event) rules.Memory {
	fresh := ev.NewPrompt || ev.AfterStop && c.Ended
	if id := ev.PromptID; id != "" {
		if len(id) > 64 { // it may be the text of the prompt, which a memory does not hold
			id = fmt.Sprintf("%x", sha256.Sum256([]byte(id)))
		}
		fresh = fresh || id != c.PromptID
		c.PromptID = id
	}
	if fresh {
		c.Memory, c.Shown, c.Ended = c.Memory.NewPrompt(), nil, false
	}
	return c.Memory
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
