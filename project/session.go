package project

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/store"
)

// Session returns the ID of the session that given names: a whole ID, or a unique prefix among the project's sessions;
// "" is no session. With unknown, an ID that ralph does not know is returned unchanged.
func (p *Project) Session(ctx context.Context, given string, unknown bool) (string, error) {
	if given == "" {
		return "", nil
	}
	known, err := p.Sessions(ctx)
	if err != nil || slices.Contains(known, given) {
		return given, err
	}
	found := slices.DeleteFunc(slices.Clone(known), func(id string) bool { return !strings.HasPrefix(id, given) })
	list := func(ids []string) string {
		const most = 5
		if len(ids) > most {
			ids = append(slices.Clone(ids[:most]), "…")
		}
		return strings.Join(ids, ", ")
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", fmt.Errorf("the IDs of %d sessions begin with %q: %s; write a longer prefix after --session", len(found), given, list(found))
	case unknown:
		return given, nil
	case len(known) == 0:
		return "", fmt.Errorf("unknown session %q: ralph knows no session of this project yet; if an agent has stopped here, run `ralph doctor`", given)
	}
	return "", fmt.Errorf("unknown session %q; the sessions are, latest first: %s", given, list(known))
}

// Sessions returns the sessions of the project, latest first: those with decisions, running this command, owning a
// loop, paused, or with a hint. Without a project it returns those of the log.
func (p *Project) Sessions(ctx context.Context) (ids []string, err error) {
	seen := map[string]bool{}
	add := func(id string) {
		if id != "" && !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	within := p.roots()
	_, err = p.readLog(time.Time{}, func(line []byte) bool {
		var l struct{ Root, Session string }
		if i := bytes.Index(line, []byte(`,"action":`)); i > 0 { // the relevant part of a record is first; the rest is long
			line = append(bytes.Clone(line[:i]), '}')
		}
		if json.Unmarshal(line, &l) == nil && within(l.Root) {
			add(l.Session)
		}
		return false
	}, 0)
	if err != nil || p.dir == "" {
		return ids, err
	}
	add(p.env("CLAUDE_CODE_SESSION_ID"))
	pauses, _ := p.orders.Pauses(p.dir) // unreadable data is reported where it matters
	for _, o := range pauses {
		add(o.Session)
	}
	hints, _ := p.orders.Hints(p.dir)
	for _, h := range hints {
		add(h.Session)
	}
	loops, _ := p.Loops(ctx)
	for _, l := range loops {
		add(l.Owner)
	}
	return ids, nil
}

// Once reports whether something happens for the first time in a session, and remembers that. If it cannot be
// remembered, it is always the first time.
func (p *Project) Once(ctx context.Context, host, session, about string) bool {
	if p.own.Dir() == "" || session == "" {
		return true
	}
	key := store.MemoryKey{Root: "reported", Session: session, Rest: host + "\x00" + about}
	unlock, err := p.own.Lock(ctx, []string{store.MemoryLock(key)})
	if err != nil {
		return true
	}
	defer unlock()
	_, version, err := p.own.LoadMemory(key)
	if err == nil && version != "" {
		return false
	}
	_ = p.own.SaveMemory(key, []byte("{}"), version) // otherwise it is reported once more
	return true
}
