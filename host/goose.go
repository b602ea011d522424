package host

import "github.com/ralph-sdk/ralph/internal/vocab"

// goose has Claude Code's events, but names them under "event". It starts hooks in the project, which only some of its
// inputs name. At a stop it takes any object other than a decision for a failure, and it reads no notes, so notices go
// to stderr, where its log is.
func goose() *Host {
	return &Host{
		Name: Goose,
		recognise: func(in object) bool {
			return in.text("event") != "" && in.text(vocab.SessionID) != "" && in.text(vocab.HookEventName) == ""
		},
		refine: func(in object, ev *Event) {
			if in.text(vocab.HookEventName) == "" {
				ev.Name = eventName(in.text("event"))
			}
			if ev.Cwd == "" {
				ev.Cwd = in.text("working_dir")
			}
			if ev.Cwd == "" {
				ev.Cwd = "."
			}
		},
		dialect: func(r Reply, b *body) Reply {
			if r.Continue {
				b.Decision, b.Reason = "block", r.Reason
			}
			return r
		},
	}
}
