package rules

// checkEarly reports conditions, measures of progress and facts that read what is known
// only when the rules have decided.
func (c *compiler) checkEarly() {
	seen := map[*symbol]bool{}
	var look func(root *cond)
	look = func(root *cond) {
		root.walk(func(o *operand) {
			for _, s := range o.syms {
				if s.name == "loop.continues" && s.kind == nameSymbol {
					c.report(o.snippet.scope.file, o.snippet.at(o.from), o.snippet.at(o.to), Error, "early-name", "read it under then, in a text or in finally",
						"loop.continues is known only when the rules have decided, and this is read before")
				}
				if s.kind == letSymbol && !seen[s] {
					seen[s] = true
					look(s.let.root)
				}
			}
		})
	}
	if c.table.find("loop.continues") == nil {
		return
	}
	for _, r := range c.program.rules {
		if r != nil {
			look(r.when)
		}
	}
	for _, p := range c.program.progress {
		look(p)
	}
	for _, f := range c.program.facts {
		for _, seg := range f.segments() {
			look(seg.hole)
		}
	}
}
