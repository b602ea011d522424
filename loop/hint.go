package loop

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/rules"
)

// hint adds what the user wants the agent to know to a continuation that was applied.
// Each hint is taken by one process, so the agent sees it once.
func (l *Loop) hint(ctx context.Context, d *Decision) {
	if l.disk == nil || d.Verdict.Action != rules.Continue || d.Event.Name != host.Stop || ctx.Err() != nil {
		return
	}
	waiting, err := l.disk.Hints(d.Root)
	if err != nil {
		d.notice(fmt.Sprintf("hints cannot be read: %s", err))
		return
	}
	var texts []string
	for _, h := range waiting {
		if h.Fits(d.Policy, d.Event.SessionID) && l.disk.TakeHint(h) {
			texts = append(texts, h.Text)
		}
	}
	if len(texts) > 0 {
		d.Hint = strings.Join(texts, "\n\n")
		d.Verdict.Reason += "\n\n## Hint from the user\n\n" + d.Hint
	}
}
