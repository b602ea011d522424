package loop

import (
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/loop/host"
	"github.com/ralph-sdk/ralph/rules"
)

// Recall gives what the loop remembers now of the session that a logged decision
// belongs to. It is the zero Memory if the session is forgotten, and the error is a
// [*store.Error] if it cannot be read.
func Recall(s *store.Store, r Record) (store.Memory, error) {
	ev := host.Event{Host: r.Host, SessionID: r.Session, AgentID: r.Agent}
	m, _, err := s.LoadMemory(memoryOf(ev, r.Root, r.Policy, &rules.Program{}).session.key)
	return m, err
}
