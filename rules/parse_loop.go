package rules

import (
	"github.com/ralph-sdk/ralph/internal/form"
	"github.com/ralph-sdk/ralph/internal/yamltree"
)

// loopDecl is the loop section of a policy.
type loopDecl struct {
	key   *yamltree.Node
	state *yamltree.Node
	name  *yamltree.Node
	on    []*yamltree.Node
	owner *yamltree.Node
	start []yamltree.Field // fact → value
}

// loop reads the loop section. It is nil if its state is invalid, which is reported.
func (p *parser) loop(key, n *yamltree.Node) *loopDecl {
	l := &loopDecl{key: key}
	start := func(k, v *yamltree.Node) {
		p.named(v, k.Value, func(key, value *yamltree.Node) {
			l.start = append(l.start, yamltree.Field{Key: key, Value: value})
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
