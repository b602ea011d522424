package rules

import "testing"

// TestEngine fails if an upgrade of expr changes what engine.go relies on.
func TestEngine(t *testing.T) {
	e := newEngine()
	c := &compiler{engine: e, symbols: map[string]*symbol{}}
	c.symbol("n", constant, typeOf(0))
	c.symbol("s", constant, typeOf(""))
	for _, x := range []struct {
		src  string
		n, s any
		want any // of the last operand
	}{
		{`n == 2`, 2.0, "", true}, // another Go type than the schema says
		{`n in [1, 2]`, 2.0, "", true},
		{`s == "a"`, 0, nil, false},
		{`[1, 2, 3][n] == 3`, 2.0, "", true},
		{`n > 1 and ((n + 1)) * 2 == 6`, 2, "", true}, // within brackets
		{`not (s == "x") && (n > 3 || (n < (1)))`, 2, "", false},
		{`s matches "^a+$"`, 0, "aaa", true},
		{`let x = n; x > 1`, 2, "", true},
		{`any([n], # == 2)`, 2, "", true},
		{`len(1..n) == 2`, 2, "", true},
		{`"a" + s == "ab"`, 0, "b", true},
		{`(s | upper()) == "A"`, 0, "a", true},
	} {
		tree, err := e.parse(x.src)
		if err == nil {
			err = e.check(tree)
		}
		if err != nil {
			t.Errorf("%s: %s", x.src, err)
			continue
		}
		_, leaves := split(&tree.Node)
		p, err := e.compile(*leaves[len(leaves)-1].slot, tree.Source)
		if err != nil {
			t.Errorf("%s: %s", x.src, err)
			continue
		}
		run := &evaluation{env: map[string]any{"n": x.n, "s": x.s}}
		if r := run.run(&operand{program: p}); r.why != nil || r.value != x.want {
			t.Errorf("%s is %v, %v, want %v", x.src, r.value, r.why, x.want)
		}
	}
}
