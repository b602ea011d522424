package loop

import (
	"context"
	"strconv"

	"github.com/ralph-sdk/ralph/rules"
)

// noted stands between the rules and the world and keeps what the trace does not
// show and a replay needs: the answers of functions.
type noted struct {
	rules.Facts
	calls map[string]any
}

// maxCalls bounds how many answers are kept, and maxCall how long a question may
// be: a policy may ask about every word of a list.
const (
	maxCalls = 64
	maxCall  = 200
)

func (n *noted) Name(ctx context.Context, name string) any {
	switch ask := n.Facts.Name(ctx, name).(type) {
	case func(string) bool:
		return func(text string) bool {
			v := ask(text)
			n.call(name, text, v)
			return v
		}
	case func(string) string:
		return func(text string) string {
			v := ask(text)
			n.call(name, text, v)
			return v
		}
	default:
		return ask
	}
}

func (n *noted) call(name, text string, v any) {
	if len(text) > maxCall || len(n.calls) >= maxCalls {
		return
	}
	if n.calls == nil {
		n.calls = map[string]any{}
	}
	n.calls[name+"("+strconv.Quote(text)+")"] = v
}
