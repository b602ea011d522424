package rules

import (
	"github.com/ralph-sdk/ralph/internal/form"
	"github.com/ralph-sdk/ralph/internal/source"
)

// loopDecl is the loop section of a policy.
type loopDecl struct {
	key   *source.Node
	state *source.Node
	name  *source.Node
	on    []*source.Node
	owner *source.Node
	start []source.Field // fact → value
}

// loop reads the loop section. It is nil if its state is invalid, which is reported.
func (p *parser) loop(key, n *source.Node) *loopDecl {
	l := &loopDecl{key: key}
	start := func(k, v *source.Node) {
		p.named(v, k.Value, func(key, value *source.Node) {
			l.start = append(l.start, source.Field{Key: key, Value: value})
		})
	}
	ok := p.object(n, "loop", form.LoopKeys(), targets{{"state", &l.state}, {"name", &l.name}, {"on", &l.on}, {"owner", &l.owner}, {"start", start}})
	if ok && n.Get("state") == nil {
		p.errorf(key, "loop", "write for example loop: {state: todo}", "loop needs state, the fact that holds the loop")
	}
	if l.state == nil {
		return nil
	}
	return l
}
