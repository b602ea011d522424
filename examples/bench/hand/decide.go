// Package hand decides by Go code alone.
package hand

import "fmt"

// New returns the decision: the rule that holds, and its text.
func New() (func(state map[string]any) (rule, text string, err error), error) {
	return decide, nil
}

func decide(state map[string]any) (string, string, error) {
	task, ok1 := state["task"].(map[string]any)
	limits, ok2 := state["limits"].(map[string]any)
	phase, ok3 := state["phase"].(string)
	enabled, ok4 := state["enabled"].(bool)
	awaiting, ok5 := state["awaitingApproval"].(bool)
	iteration, ok6 := state["iteration"].(int)
	index, ok7 := task["index"].(int)
	total, ok8 := task["total"].(int)
	most, ok9 := limits["iterations"].(int)
	if !(ok1 && ok2 && ok3 && ok4 && ok5 && ok6 && ok7 && ok8 && ok9) {
		return "", "", fmt.Errorf("the state is not what it must be")
	}
	continued := false // stop_hook_active
	switch {
	case !enabled:
		return "disabled", "it is disabled", nil
	case phase != "execution":
		return "phase", "another phase", nil
	case index >= total:
		return "done", "every task is done", nil
	case iteration >= most:
		return "limit", "the limit is reached", nil
	case awaiting:
		return "approval", "a person approves", nil
	case index == 0 && iteration > 1:
		return "stuck", "nothing moves", nil
	case continued:
		return "continued", "it was continued", nil
	case phase == "execution" && index < total:
		return "next", fmt.Sprintf("Do task %d of %d.", index+1, total), nil
	}
	return "", "", nil
}
