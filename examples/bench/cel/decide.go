// Package cel decides by programs of cel-go, one after the other.
package cel

import "cel.dev/cel-go/cel"

var rules = []struct{ name, when, text string }{
	{"disabled", `!enabled`, `"it is disabled"`},
	{"phase", `phase != "execution"`, `"another phase"`},
	{"done", `task.index >= task.total`, `"every task is done"`},
	{"limit", `iteration >= limits.iterations`, `"the limit is reached"`},
	{"approval", `awaitingApproval`, `"a person approves"`},
	{"stuck", `task.index == 0 && iteration > 1`, `"nothing moves"`},
	{"continued", `stop_hook_active`, `"it was continued"`},
	{"next", `phase == "execution" && task.index < task.total`, `"Do task " + string(task.index + 1) + " of " + string(task.total) + "."`},
}

// New returns the decision: the rule that holds, and its text.
func New() (func(state map[string]any) (rule, text string, err error), error) {
	ints := cel.MapType(cel.StringType, cel.IntType)
	env, err := cel.NewEnv(
		cel.Variable("phase", cel.StringType), cel.Variable("task", ints), cel.Variable("iteration", cel.IntType), cel.Variable("limits", ints),
		cel.Variable("enabled", cel.BoolType), cel.Variable("awaitingApproval", cel.BoolType), cel.Variable("stop_hook_active", cel.BoolType))
	if err != nil {
		return nil, err
	}
	whens, texts := make([]cel.Program, len(rules)), make([]cel.Program, len(rules))
	for i, r := range rules {
		if whens[i], err = Compile(env, r.when); err != nil {
			return nil, err
		}
		if texts[i], err = Compile(env, r.text); err != nil {
			return nil, err
		}
	}
	return func(state map[string]any) (string, string, error) {
		vars := map[string]any{"stop_hook_active": false}
		for name, v := range state {
			vars[name] = v
		}
		activation, err := cel.NewActivation(vars)
		if err != nil {
			return "", "", err
		}
		for i, when := range whens {
			v, _, err := when.Eval(activation)
			if err != nil {
				return "", "", err
			}
			if v.Value() == true {
				text, _, err := texts[i].Eval(activation)
				if err != nil {
					return "", "", err
				}
				s, _ := text.Value().(string)
				return rules[i].name, s, nil
			}
		}
		return "", "", nil
	}, nil
}

// Compile returns the program of an expression.
func Compile(env *cel.Env, src string) (cel.Program, error) {
	ast, issues := env.Compile(src)
	if issues.Err() != nil {
		return nil, issues.Err()
	}
	return env.Program(ast, cel.EvalOptions(cel.OptOptimize))
}
