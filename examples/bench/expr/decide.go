// Package expr decides by programs of expr, one after the other.
package expr

import (
	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"
)

var rules = []struct{ name, when, text string }{
	{"disabled", `not enabled`, `"it is disabled"`},
	{"phase", `phase != "execution"`, `"another phase"`},
	{"done", `task.index >= task.total`, `"every task is done"`},
	{"limit", `iteration >= limits.iterations`, `"the limit is reached"`},
	{"approval", `awaitingApproval`, `"a person approves"`},
	{"stuck", `task.index == 0 && iteration > 1`, `"nothing moves"`},
	{"continued", `stop_hook_active`, `"it was continued"`},
	{"next", `phase == "execution" && task.index < task.total`, `"Do task " + string(task.index + 1) + " of " + string(task.total) + "."`},
}

// env has the types of what the conditions read.
var env = map[string]any{
	"phase": "", "task": map[string]any{"index": 0, "total": 0}, "iteration": 0, "limits": map[string]any{"iterations": 0},
	"enabled": false, "awaitingApproval": false, "stop_hook_active": false,
}

// New returns the decision: the rule that holds, and its text.
func New() (func(state map[string]any) (rule, text string, err error), error) {
	whens, texts := make([]*vm.Program, len(rules)), make([]*vm.Program, len(rules))
	for i, r := range rules {
		var err error
		if whens[i], err = expr.Compile(r.when, expr.Env(env), expr.AsBool()); err != nil {
			return nil, err
		}
		if texts[i], err = expr.Compile(r.text, expr.Env(env)); err != nil {
			return nil, err
		}
	}
	return func(state map[string]any) (string, string, error) {
		vars := map[string]any{"stop_hook_active": false}
		for name, v := range state {
			vars[name] = v
		}
		var machine vm.VM
		for i, when := range whens {
			v, err := machine.Run(when, vars)
			if err != nil {
				return "", "", err
			}
			if v == true {
				text, err := machine.Run(texts[i], vars)
				s, _ := text.(string)
				return rules[i].name, s, err
			}
		}
		return "", "", nil
	}, nil
}
