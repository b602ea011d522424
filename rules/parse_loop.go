package rules

import (
	"github.com/ralph-sdk/ralph/internal/form"
	"github.com/ralph-sdk/ralph/internal/source"
)

// loopDecl is what a policy says of its loop.
type loopDecl struct {
	key   *source.Node
	state *source.Node
	name  *source.Node
	on    []*source.Node
	owner *source.Node
	start []source.Field // fact → value
}

// loop reads loop. It is nil if its state cannot be read, which is reported.
func (p *parser) loop(key, n *source.Node) *loopDecl {
	l := &loopDecl{key: key}
	ok := p.fields(n, "loop", form.LoopKeys(), func(k, v *source.Node) {
		switch k.Value {
		case "state":
			l.state = p.scalar(v, k.Value)
		case "name":
			l.name = p.scalar(v, k.Value)
		case "on":
			l.on = p.oneOrMore(v, k.Value)
		case "owner":
			l.owner = p.scalar(v, k.Value)
		case "start":
			p.named(v, k.Value, func(key, value *source.Node) {
				l.start = append(l.start, source.Field{Key: key, Value: value})
			})
		}
	})
	if ok && n.Get("state") == nil {
		p.errorf(key, "loop", "write for example loop: {state: todo}", "loop needs state, the fact that the loop is in")
	}
	if l.state == nil {
		return nil
	}
	return l
}
