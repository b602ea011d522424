package rules

import (
	"slices"

	"github.com/ralph-sdk/ralph/internal/vocab"
)

// reads reports whether a condition reads such a symbol, also through lets.
func reads(root *cond, such func(*symbol) bool) (yes bool) {
	readBy(root, map[*symbol]bool{}, func(s *symbol) { yes = yes || such(s) })
	return yes
}

// woken reports whether a symbol is work of the host, after which it starts the agent again.
func (s *symbol) woken() bool {
	return s.kind == nameSymbol && (s.name == vocab.BackgroundTasks || s.name == vocab.SessionCrons)
}

// changes reports whether the value of a symbol may change while the agent does not work: a fact of anything but the
// conversation, the time, what exists, and work in the background.
func (s *symbol) changes() bool {
	switch s.kind {
	case factSymbol, askSymbol:
		return s.fact.Source.Name != "tasks" && !s.fact.Source.Value.Returns || s.ask == "age"
	case nameSymbol:
		return slices.Contains([]string{
			vocab.Now, vocab.Exists, vocab.IsDir, vocab.AnyFile, vocab.Which, vocab.LoopElapsed, vocab.LoopStep,
			vocab.SessionElapsed, vocab.RunElapsed, vocab.HookRaw,
		}, s.name) || s.woken()
	}
	return false
}

// woken reports whether only work of the host ends a wait.
func (c *cond) woken() bool {
	return reads(c, (*symbol).woken) && !reads(c, func(s *symbol) bool { return s.changes() && !s.woken() })
}
