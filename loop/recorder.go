package loop

import (
	"context"
	"errors"
	"log/slog"
)

// Recorder receives the record of every decision, but not of one in which no rule was tried, unless a loop exists or there
// is a problem to report. A [Store] that is one, but not [LocalStore], receives it in a Write, and may receive it again when
// more is known of the decision. It must be safe for concurrent use and
// must not modify the record. An error is reported to the user and does not change the verdict. Its context ends within
// a second, but not with that of the decision; the answer waits no longer for a Recorder that ignores it.
type Recorder interface {
	Record(ctx context.Context, r *Record) error
}

// SlogRecorder returns a recorder that logs each decision: one message "decision" at level Info, or Error if the outcome
// is [Failed], with the fields of [Record] for who decided what, and why.
func SlogRecorder(logger *slog.Logger) Recorder { return slogRecorder{logger} }

type slogRecorder struct{ logger *slog.Logger }

func (s slogRecorder) Record(ctx context.Context, r *Record) error {
	if s.logger == nil {
		return errors.New("there is no logger")
	}
	level := slog.LevelInfo
	outcome, cause := r.Ended()
	if outcome == Failed {
		level = slog.LevelError
	}
	attrs := []slog.Attr{
		slog.String("id", r.ID), slog.String("policy", r.Policy), slog.String("event", r.Event),
		slog.String("action", r.Action.String()), slog.String("outcome", string(outcome)), slog.String("rule", r.Rule),
		slog.Int("streak", r.Streak.Continuations), slog.Int64("took_ns", int64(r.Took)),
	}
	for _, a := range []slog.Attr{
		slog.String("cause", string(cause)), slog.String("session", r.Session), slog.String("reason", cutBytes(r.Reason, maxText)),
	} {
		if a.Value.String() != "" {
			attrs = append(attrs, a)
		}
	}
	s.logger.LogAttrs(ctx, level, "decision", attrs...)
	return nil
}
