package ralph

decision := {"rule": "disabled", "text": "it is disabled"} if {
	not input.enabled
} else := {"rule": "phase", "text": "another phase"} if {
	input.phase != "execution"
} else := {"rule": "done", "text": "every task is done"} if {
	input.task.index >= input.task.total
} else := {"rule": "limit", "text": "the limit is reached"} if {
	input.iteration >= input.limits.iterations
} else := {"rule": "approval", "text": "a person approves"} if {
	input.awaitingApproval
} else := {"rule": "stuck", "text": "nothing moves"} if {
	input.task.index == 0
	input.iteration > 1
} else := {"rule": "continued", "text": "it was continued"} if {
	input.stop_hook_active
} else := {"rule": "next", "text": sprintf("Do task %d of %d.", [input.task.index + 1, input.task.total])} if {
	input.phase == "execution"
	input.task.index < input.task.total
}
