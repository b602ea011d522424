package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ralph-sdk/ralph/internal/store"
)

// A sessionID is the value of --session. It is never empty: an unset variable of a shell must not name all sessions.
type sessionID string

func (s *sessionID) String() string { return string(*s) }
func (s *sessionID) Type() string   { return "session" }

func (s *sessionID) Set(id string) error {
	if id == "" {
		return errors.New("it is empty")
	}
	*s = sessionID(id)
	return nil
}

// What a command does with a session that ralph knows nothing of.
const (
	mustBeKnown = "an unknown one is an error"
	mayBeNew    = "an unknown ID is used as it is"
)

// sessionVar declares --session.
func sessionVar(fl *pflag.FlagSet, session *string, usage, unknown string) {
	fl.Var((*sessionID)(session), "session", usage+": its `id`, or a beginning that no other session has, as ralph log prints it; "+unknown)
}

// findSession returns the ID of the session that --session names, among those of a project or, with root "", of all.
func (a *app) findSession(root, given, unknown string) (string, error) {
	if given == "" {
		return "", nil
	}
	known, err := a.knownSessions(root)
	if err != nil {
		return "", err
	}
	if slices.Contains(known, given) {
		return given, nil
	}
	var found []string
	for _, id := range known {
		if strings.HasPrefix(id, given) {
			found = append(found, id)
		}
	}
	const most = 5
	list := func(ids []string) string {
		if len(ids) > most {
			ids = append(slices.Clone(ids[:most]), "…")
		}
		return strings.Join(ids, ", ")
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", fmt.Errorf("the IDs of %d sessions begin with %q: %s; write more of it after --session", len(found), given, list(found))
	case unknown == mayBeNew:
		return given, nil
	case len(known) == 0:
		return "", fmt.Errorf("there is no session %q: ralph knows no session of this project yet", given)
	}
	return "", fmt.Errorf("there is no session %q; the sessions are, the latest first: %s", given, list(known))
}

// knownSessions lists the sessions of a project, the latest first: those that decisions were made for, that
// run this command, own a loop, are paused, or that a hint is for. With root "" they are those of the log.
func (a *app) knownSessions(root string) (ids []string, err error) {
	own, err := a.store()
	if err != nil {
		return nil, err
	}
	add := func(id string) {
		if id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if ids, err = loggedSessions(own, root); err != nil || root == "" {
		return ids, err
	}
	add(a.getenv("CLAUDE_CODE_SESSION_ID"))
	pauses, _ := own.Pauses(root) // what cannot be read is reported where it counts
	for _, p := range pauses {
		add(p.Session)
	}
	hints, _ := own.Hints(root)
	for _, h := range hints {
		add(h.Session)
	}
	p, err := a.loopsOf(context.Background(), root)
	if err != nil {
		return ids, nil
	}
	defer p.Close()
	loops, _ := p.Loops(context.Background())
	for _, l := range loops {
		add(l.Owner)
	}
	return ids, nil
}

// loggedSessions lists the sessions of the decision log.
func loggedSessions(own *store.Store, root string) (ids []string, err error) {
	within, seen := ofProject(own, root), map[string]bool{}
	_, err = own.ReadLog(func(line []byte) bool {
		var l struct{ Root, Session string }
		if i := bytes.Index(line, []byte(`,"action":`)); i > 0 { // what a record is about comes first; the rest is long
			line = append(bytes.Clone(line[:i]), '}')
		}
		if json.Unmarshal(line, &l) == nil && l.Session != "" && within(l.Root) && !seen[l.Session] {
			seen[l.Session] = true
			ids = append(ids, l.Session)
		}
		return false
	}, 0)
	return ids, err
}
