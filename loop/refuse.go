package loop

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/ralph-sdk/ralph/internal/text"
)

// Refuse is the decision of an event whose policy cannot be used, such as one that does not parse: the agent may stop. The person sees
// why once a prompt. The loop's own policy has only the name of that one, by which it is counted, recorded and stopped.
func (l *Loop) Refuse(ctx context.Context, ev Event, why error) Decision {
	began := time.Now()
	ctx, w, err := l.work(ctx, ev)
	if err != nil {
		return l.failed(err)
	}
	defer w.close()
	if off, err := w.off(ctx, w.ev.Run); err != nil {
		return w.unkept(err)
	} else if off != "" {
		return w.isOff(ctx, off)
	}
	d := made{Decision: l.failed(why)}
	notice := text.Clean("ralph: the policy " + d.Policy + " lets the agent stop: " + d.Reason)
	d.Notice = ""
	err = l.store.Update(ctx, w.key, func(old []byte) ([]byte, error) {
		s, err := readSession(old)
		if err != nil {
			return nil, err
		}
		c := s.of(d.Policy, ev)
		c.begin(ev)
		if c.show(fmt.Sprintf("refused %.8x", sha256.Sum256([]byte(notice)))) {
			d.Notice = notice
		}
		return s.bytes()
	})
	if err != nil {
		return w.unkept(err)
	}
	w.keepRecord(ctx, &d, began)
	return d.Decision
}
