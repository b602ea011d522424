package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// sessionFlag declares --session, for commands that can take one session alone.
func sessionFlag(fl *pflag.FlagSet, session *string, verb string) {
	fl.StringVar(session, "session", "", verb+" only the session whose `id` this is, or begins with this")
}

// fullSession is the id of the session that a user means: an id, or the beginning of just
// one of those that decisions were made in. An id that no decision has is taken as it is.
func fullSession(sessions []logged, given string) (string, error) {
	if given == "" {
		return "", nil
	}
	var found []string
	for _, s := range sessions {
		switch {
		case s.Session == given:
			return given, nil
		case strings.HasPrefix(s.Session, given) && !slices.Contains(found, s.Session):
			found = append(found, s.Session)
		}
	}
	switch len(found) {
	case 0:
		return given, nil
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("the ids of %d sessions begin with %q: %s", len(found), given, strings.Join(found, ", "))
}

// key is that of the memory of the loop that a decision is about.
func (l logged) key() loop.Key {
	return loop.Key{Root: l.Root, Policy: l.Policy, Host: l.Host, Session: l.Session, Agent: l.Agent}
}

// remembered is what ralph remembers of a loop: its own memory, and that of all loops of
// the policy in the project.
func remembered(ctx context.Context, own *store.Store, k loop.Key) (mine, shared loop.Entry, err error) {
	entries, err := loop.LocalStore(own.Dir()).Load(ctx, k, projectKey(k))
	if len(entries) == 2 {
		mine, shared = entries[0], entries[1]
	}
	return mine, shared, err
}

func projectKey(k loop.Key) loop.Key { return loop.Key{Root: k.Root, Policy: k.Policy, Project: true} }

// running reports whether a session's loop goes on: its streak does, and began after the
// user ended loops the last time.
func running(mine, shared rules.Memory) bool {
	return mine.Streak > 0 && mine.Latest.After(shared.Reset)
}

// endSession ends the loop of one session.
func endSession(ctx context.Context, own *store.Store, k loop.Key, now time.Time) error {
	return changeMemory(ctx, own, k, func(m rules.Memory) rules.Memory {
		return rules.Memory{Turn: m.Turn, Total: m.Total, Said: m.Said, Seen: m.Seen}
	})
}

// endSessions ends the loops of a policy in all sessions, also those that no decision is
// logged of, and forgets what they shared.
func endSessions(ctx context.Context, own *store.Store, root, policy string, now time.Time) error {
	return changeMemory(ctx, own, loop.Key{Root: root, Policy: policy, Project: true}, func(m rules.Memory) rules.Memory {
		return rules.Memory{Said: m.Said, Reset: now}
	})
}

// forgetShared forgets what the loops of a policy shared, and ends none.
func forgetShared(ctx context.Context, own *store.Store, k loop.Key) error {
	return changeMemory(ctx, own, projectKey(k), func(m rules.Memory) rules.Memory {
		return rules.Memory{Said: m.Said, Reset: m.Reset, Stopped: m.Stopped}
	})
}

// changeMemory replaces a memory, again if a hook changed it meanwhile.
func changeMemory(ctx context.Context, own *store.Store, k loop.Key, change func(rules.Memory) rules.Memory) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	memories := loop.LocalStore(own.Dir())
	for {
		entries, err := memories.Load(ctx, k)
		if len(entries) != 1 { // one that is damaged is replaced
			return err
		}
		e := entries[0]
		e.Memory = change(e.Memory)
		if err := memories.Save(ctx, e); !errors.Is(err, loop.ErrConflict) {
			return err
		}
	}
}
