package loop

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ralph-sdk/ralph/rules"
)

// start runs the program of an effect to its end. Errors go to the user and do not change the verdict.
func (d *Decision) start(ctx context.Context, c Call) error {
	l, g, rule, e := d.loop, d.gatherer, c.Rule, c.Effect
	if _, ok := l.extensions.effects[string(e.Kind)]; ok {
		c.Effect.Name = string(e.Kind)
		return l.carryOut(ctx, c)
	}
	program := e.Args[0]
	if g.root == nil {
		return fmt.Errorf("%s is not run: there is no project", program)
	}
	f := d.runs(rule, e.Fact)
	if f == nil {
		return fmt.Errorf("%s is not run: the policy does not name it", program)
	}
	done, err := process{argv: e.Args, dir: g.root.Dir(), timeout: timeoutOf(f), allowed: func() error { return g.untrusted(ctx, f, e.Args) }}.run(ctx)
	if errors.As(err, new(withheldError)) {
		return fmt.Errorf("%s is not run: %w", program, err)
	}
	if err != nil || done.code == 0 {
		return err
	}
	failed := fmt.Sprintf("%s ended with status %d", program, done.code)
	if said := strings.TrimSpace(done.stderr.String()); said != "" {
		failed += ": " + cutBytes(said, maxShown)
	}
	return errors.New(failed)
}

// runs returns a rule's program as a fact that needs approval.
func (d *Decision) runs(rule, name string) *rules.Fact {
	for _, r := range d.program.Rules() {
		if r.Name != rule {
			continue
		}
		for _, f := range r.Runs {
			if f.Name == name {
				return f
			}
		}
	}
	return nil
}
