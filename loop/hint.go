package loop

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/rules"
)

// hint adds the user's hints to an applied continuation. One process takes each hint, so the agent sees it once.
func (l *Loop) hint(ctx context.Context, d *Decision) {
	if !d.hinted || d.Verdict.Action != rules.Continue || d.Event.Name != host.Stop || ctx.Err() != nil {
		return
	}
	var texts []string
	fits := func(h store.Hint) bool { return h.Fits(d.Policy, d.Event.SessionID) }
	orders, err := l.orders(ctx)
	if err == nil {
		err = orders.ChangeHints(ctx, d.Root, func(all []store.Hint) []store.Hint {
			texts = nil
			return slices.DeleteFunc(all, func(h store.Hint) bool {
				if fits(h) {
					texts = append(texts, h.Text)
				}
				return fits(h)
			})
		})
	}
	if err != nil {
		d.problem(fmt.Sprintf("hints cannot be read: %s", err))
	} else if len(texts) > 0 {
		d.texts.hint = strings.Join(texts, "\n\n")
		d.adds("\n\n## Hint from the user\n\n" + d.texts.hint)
	}
}
