package main

import "testing"

// Common policies, without their first line.
const (
	twice = `
limits: {continuations: 2}
rules:
  - {name: wait, when: 'prompt == "wait"', stop: it waits}
  - {name: go, continue: go on}
`
	list = `
facts: {todo: {json: todo.json, schema: {properties: {left: {type: integer}, note: {type: string}}}}}
limits: {continuations: 5}
`
)

// A prompt begins with another ID of the host; else with a flag that is false; else after a stop that a rule made.
func TestPrompts(t *testing.T) {
	playAll(t, []decisionCase{
		{name: "the ID of the prompt", policy: twice, script: `
			{"prompt_id": "a"} -> continued by go: go on
			{"prompt_id": "a"} -> continued by go: go on
			{"prompt_id": "a"} -> limit by limits.continuations ! policy: the agent may stop: this prompt was continued 2 times
			{"prompt_id": "b"} -> continued by go: go on`},
		{name: "the ID counts, whatever the flag is", policy: twice, script: `
			{"prompt_id": "a", "stop_hook_active": false} -> continued by go: go on
			{"prompt_id": "a", "stop_hook_active": false} -> continued by go: go on
			{"prompt_id": "a", "stop_hook_active": false} -> limit by limits.continuations ! policy: the agent may stop: this prompt was continued 2 times
			{"prompt_id": "b", "stop_hook_active": true} -> continued by go: go on`},
		{name: "the flag of Claude Code", policy: twice, script: `
			{"hook_event_name": "Stop", "stop_hook_active": false} -> continued by go: go on
			{"hook_event_name": "Stop", "stop_hook_active": true} -> continued by go: go on
			{"hook_event_name": "Stop", "stop_hook_active": true} -> limit by limits.continuations ! policy: the agent may stop: this prompt was continued 2 times
			{"hook_event_name": "Stop", "stop_hook_active": false} -> continued by go: go on`},
		{name: "the flag in the portable form", policy: twice, script: `
			{"stop_hook_active": "false"} -> continued by go: go on
			{"stop_hook_active": true} -> continued by go: go on
			{"stop_hook_active": true} -> limit by limits.continuations ! policy: the agent may stop: this prompt was continued 2 times
			{"stop_hook_active": false} -> continued by go: go on`},
		{name: "a stop that a rule made, where the host sends nothing about prompts", policy: twice, script: `
			{} -> continued by go: go on
			{} -> continued by go: go on
			{"prompt": "wait"} -> stopped by wait
			{} -> continued by go: go on
			{} -> continued by go: go on
			{} -> limit by limits.continuations ! policy: the agent may stop: this prompt was continued 2 times
			{} -> limit by limits.continuations`},
		{name: "a stop of a rule begins none where the host sends more", policy: twice, script: `
			{"prompt_id": "a"} -> continued by go: go on
			{"prompt_id": "a", "prompt": "wait"} -> stopped by wait
			{"prompt_id": "a"} -> continued by go: go on
			{"prompt_id": "a"} -> limit by limits.continuations ! policy: the agent may stop: this prompt was continued 2 times`},
		{name: "stop_hook_active without a flag says whether the prompt was continued", policy: `
rules: [{name: again, when: stop_hook_active, stop: once is enough}, {name: go, continue: go on}]`, script: `
			{} -> continued by go: go on
			{} -> stopped by again
			{} -> continued by go: go on`},
		{name: "the flag of the host is stop_hook_active", policy: `
rules: [{name: again, when: stop_hook_active, stop: once is enough}, {name: go, continue: go on}]`, script: `
			{"stop_hook_active": true} -> stopped by again
			{"stop_hook_active": false} -> continued by go: go on`},
		{name: "a prompt that is sent and its stops are one", policy: twice, script: `
			{"prompt_id": "a"} -> continued by go: go on
			{"hook_event_name": "UserPromptSubmit", "prompt_id": "b", "prompt": "p"}
			{"prompt_id": "b"} -> continued by go: go on
			{"prompt_id": "b"} -> continued by go: go on
			{"prompt_id": "b"} -> limit by limits.continuations ! policy: the agent may stop: this prompt was continued 2 times`},
		{name: "a subagent has counts of its own, its flag begins no prompt, and the total is shared", policy: `
events: [Stop, SubagentStop]
limits: {continuations: 2, total: 4}
rules: [{name: go, continue: go on}]`, script: `
			{"hook_event_name": "SubagentStop", "agent_id": "x", "stop_hook_active": false} -> continued by go: go on
			{"hook_event_name": "Stop", "agent_id": "x", "stop_hook_active": false} -> continued by go: go on
			{"hook_event_name": "SubagentStop", "agent_id": "x", "stop_hook_active": false} -> limit by limits.continuations ! policy: the agent may stop: this prompt was continued 2 times
			{"hook_event_name": "SubagentStop", "agent_id": "y"} -> continued by go: go on
			{"hook_event_name": "Stop", "stop_hook_active": false} -> continued by go: go on
			{"hook_event_name": "Stop", "stop_hook_active": true} -> limit by limits.total ! policy: the agent may stop: this session was continued 4 times`},
		{name: "a subagent needs the event", policy: twice, script: `
			{"hook_event_name": "SubagentStop", "agent_id": "x"}
			{"hook_event_name": "Stop", "agent_id": "x"}
			{"hook_event_name": "Notification"}`},
		{name: "a turn that failed is not continued", policy: twice, script: `
			{"hook_event_name": "Stop"} -> continued by go: go on
			{"hook_event_name": "StopFailure", "error": "rate_limit"} -> failed ! policy: the agent may stop: the turn failed: rate_limit
			{"hook_event_name": "Stop"} -> continued by go: go on`},
		{name: "without a session, the project is counted", policy: twice, script: `
			{"session_id": ""} -> continued by go: go on
			{"session_id": ""} -> continued by go: go on
			{"session_id": "t"} -> continued by go: go on
			{"session_id": ""} -> limit by limits.continuations ! policy: the agent may stop: this prompt was continued 2 times`},
	})
}

func TestLimits(t *testing.T) {
	const notices = `
facts: {todo: {json: todo.json}}
limits: {continuations: 1}
rules:
  - {name: always, log: seen}
  - name: go
    continue: go on
    notice: it goes on
    log: it went on
    then: [set: todo.n = todo.n + 1]
`
	playAll(t, []decisionCase{
		{name: "repeats: continuations without progress", policy: `
facts: {todo: {json: todo.json}}
progress: todo.left
limits: {repeats: 2}
rules: [{name: go, continue: go on}]`, script: `
			write todo.json {"left": 3}
			{"prompt_id": "a"} -> continued by go: go on
			{"prompt_id": "a"} -> continued by go: go on
			write todo.json {"left": 2}
			{"prompt_id": "a"} -> continued by go: go on
			{"prompt_id": "a"} -> continued by go: go on
			{"prompt_id": "a"} -> limit by limits.repeats ! policy: the agent may stop: progress did not change in 2 continuations
			write todo.json {"left": 1}
			{"prompt_id": "a"} -> continued by go: go on
			{"prompt_id": "b"} -> continued by go: go on
			{"prompt_id": "b"} -> continued by go: go on
			{"prompt_id": "b"} -> limit by limits.repeats ! policy: the agent may stop: progress did not change in 2 continuations`},
		{name: "elapsed: since the first continuation of the prompt", policy: `
limits: {elapsed: 1h}
rules: [{name: go, continue: go on}]`, script: `
			{"prompt_id": "a"} -> continued by go: go on
			wait 59m
			{"prompt_id": "a"} -> continued by go: go on
			wait 1m
			{"prompt_id": "a"} -> limit by limits.elapsed ! policy: the agent may stop: this prompt has been continued for 1h0m0s
			{"prompt_id": "b"} -> continued by go: go on`},
		{name: "total: of the session, over its prompts", policy: `
limits: {total: 2}
rules: [{name: go, continue: go on}]`, script: `
			{"prompt_id": "a"} -> continued by go: go on
			{"prompt_id": "b"} -> continued by go: go on
			{"prompt_id": "c"} -> limit by limits.total ! policy: the agent may stop: this session was continued 2 times
			{"prompt_id": "c", "session_id": "t"} -> continued by go: go on`},
		{name: "a limit makes no effects and shows no text of the rule, and is shown once a prompt", policy: notices, script: `
			write todo.json {"n": 1}
			{"prompt_id": "a"} -> continued by go: go on ! it goes on # [policy] seen\n[policy] it went on
			{"prompt_id": "a"} -> limit by limits.continuations ! policy: the agent may stop: this prompt was continued 1 times # [policy] seen
			{"prompt_id": "a"} -> limit by limits.continuations # [policy] seen
			cat todo.json -> {"n": 2}
			{"prompt_id": "b"} -> continued by go: go on ! it goes on # [policy] seen\n[policy] it went on
			cat todo.json -> {"n": 3}`},
		{name: "at_most of a prompt", policy: `
rules:
  - {name: first, at_most: 2, continue: look again}
  - {name: rest, stop: looked}`, script: `
			{"prompt_id": "a"} -> continued by first: look again
			{"prompt_id": "a"} -> continued by first: look again
			{"prompt_id": "a"} -> stopped by rest
			{"prompt_id": "b"} -> continued by first: look again`},
		{name: "at_most of a session, within a time", policy: `
rules:
  - {name: first, at_most: {times: 2, within: 10m}, continue: look again}
  - {name: rest, stop: looked}`, script: `
			{"prompt_id": "a"} -> continued by first: look again
			wait 5m
			{"prompt_id": "b"} -> continued by first: look again
			{"prompt_id": "c"} -> stopped by rest
			wait 5m
			{"prompt_id": "c"} -> continued by first: look again
			{"prompt_id": "c"} -> stopped by rest`},
		{name: "at_most: the condition of a skipped rule is not read", policy: list + `
rules:
  - {name: first, when: todo.left > 0, at_most: 1, stop: once}
  - {name: go, continue: go on}`, script: `
			write todo.json {"left": 1}
			{"prompt_id": "a"} -> stopped by first
			write todo.json {"left":
			{"prompt_id": "a"} -> continued by go: go on`},
		{name: "a limit counts no at_most", policy: `
limits: {continuations: 1}
rules:
  - {name: first, when: 'prompt != "b"', continue: go on}
  - {name: once, at_most: 1, continue: once}`, script: `
			{"prompt_id": "a"} -> continued by first: go on
			{"prompt_id": "a", "prompt": "b"} -> limit by limits.continuations ! policy: the agent may stop: this prompt was continued 1 times
			{"prompt_id": "b", "prompt": "b"} -> continued by once: once`},
	})
}

// What done needs.
func TestDone(t *testing.T) {
	const waits = `
facts: {todo: {json: todo.json, schema: {properties: {left: {type: integer}}}}, log: {json: log.json}}
rules:
  - {name: open, when: todo.left > 0, continue: "${todo.left} left"}
  - {name: done, done: all is done, notice: well done, then: [set: log.ended = true]}
`
	log := map[string]string{"log.json": "{}\n"}
	playAll(t, []decisionCase{
		{name: "every rule above is known", policy: waits, more: log, script: `
			write todo.json {"left": 1}
			{} -> continued by open: 1 left
			write todo.json {"left": 0}
			{} -> done by done ! well done
			cat log.json -> {\n  "ended": true\n}\n`},
		{name: "a rule above reads what is missing", policy: waits, more: log, script: `
			{"prompt_id": "a"} -> stopped by done ! done is not certain: rule open is unknown: todo (todo.json)…no such file or directory
			{"prompt_id": "a"} -> stopped by done
			{"prompt_id": "b"} -> stopped by done ! done is not certain: rule open is unknown: todo (todo.json)…no such file or directory
			cat log.json -> {}\n`},
		{name: "a rule above reads what is invalid", policy: waits, more: log, script: `
			write todo.json {"left": "many"}
			{} -> stopped by done ! done is not certain: rule open is unknown: todo: left must be a whole number, and is "many"
			cat log.json -> {}\n`},
		{name: "a rule above is skipped", policy: `
rules:
  - {name: first, at_most: 1, continue: look again}
  - {name: done, done: all is done}`, script: `
			{"prompt_id": "a"} -> continued by first: look again
			{"prompt_id": "a"} -> stopped by done ! done is not certain: rule first is unknown: it was applied as often as at_most says`},
		{name: "a file that was there in this prompt is not gone", policy: list + `
rules:
  - {name: open, when: ok(todo) and todo.left > 0, continue: "${todo.left} left"}
  - {name: done, done: all is done}`, script: `
			write todo.json {"left": 1}
			{"prompt_id": "a"} -> continued by open: 1 left
			rm todo.json
			{"prompt_id": "a"} -> stopped by done ! done is not certain: todo (todo.json) was there in this prompt, and is gone
			{"prompt_id": "b"} -> done by done`},
		{name: "but if the rule asks missing", policy: list + `
rules:
  - {name: open, when: ok(todo) and todo.left > 0, continue: "${todo.left} left"}
  - {name: done, when: missing(todo), done: all is done}`, script: `
			write todo.json {"left": 1}
			{"prompt_id": "a"} -> continued by open: 1 left
			rm todo.json
			{"prompt_id": "a"} -> done by done ! policy: done: all is done`},
		{name: "or an effect took it", policy: list + `
rules:
  - {name: wait, when: 'prompt == "wait"', stop: waits}
  - {name: take, when: ok(todo) and todo.left > 0, continue: the list is archived, then: [archive: todo]}
  - {name: done, when: not ok(todo), done: all is done}`, script: `
			write todo.json {"left": 1}
			{"prompt_id": "a"} -> continued by take: the list is archived
			cat todo.json -> none
			{"prompt_id": "a"} -> done by done ! policy: done: all is done`},
		{name: "no file of a glob is left out", policy: `
facts: {items: {glob: "items/*.json", parse: json}}
rules:
  - {name: open, when: 'any(items, .value.open)', continue: go on}
  - {name: done, done: all is done}`, script: `
			write items/a.json {"open": true}
			write items/b.json {
			{"prompt_id": "a"} -> continued by open: go on
			write items/a.json {"open": false}
			{"prompt_id": "a"} -> stopped by done ! done is not certain: items leaves files out: items/b.json: …
			rm items/b.json
			{"prompt_id": "a"} -> done by done ! policy: done: all is done`},
	})
}

// An operand is unknown if what it reads is missing or invalid. Missing, the next rule is tried; invalid, a stop or done rule ends the trying.
func TestUnknown(t *testing.T) {
	playAll(t, []decisionCase{
		{name: "missing, in any rule", policy: list + `
rules:
  - {name: stop, when: todo.left == 0, stop: nothing left}
  - {name: done, when: todo.left == 1, done: almost}
  - {name: go, when: missing(todo), continue: "write ${path(todo)}: ${problem(todo)}"}`, script: `
			{} -> continued by go: write todo.json: no such file or directory`},
		{name: "invalid, in a stop rule", policy: list + `
rules:
  - {name: stop, when: todo.left == 0, stop: nothing left, notice: never}
  - {name: go, continue: go on}`, script: `
			write todo.json {"left":
			{"prompt_id": "a"} -> failed by stop ! policy: the agent may stop: rule stop (line 7): todo (todo.json)…line 1, column 8…
			{"prompt_id": "a"} -> failed by stop
			write todo.json {"left": 1}
			{"prompt_id": "a"} -> continued by go: go on`},
		{name: "invalid, in a done rule", policy: list + `
rules:
  - {name: done, when: todo.left == 0, done: nothing left, notice: never}
  - {name: go, continue: go on}`, script: `
			write todo.json {"left": "x"}
			{} -> failed by done ! policy: the agent may stop: rule done (line 7): todo: left must be a whole number, and is "x"`},
		{name: "invalid, in a continue rule", policy: list + `
rules:
  - {name: go, when: todo.left > 0, continue: go on}
  - {name: repair, when: invalid(todo), continue: "${problem(todo)}"}`, script: `
			write todo.json {"left":
			{} -> continued by repair: line 1, column 8…`},
		{name: "a field that is invalid is so by itself", policy: list + `
rules:
  - {name: stop, when: todo.note == "stop", stop: the list says stop}
  - {name: go, when: todo.left > 0, continue: go on}
  - {name: repair, when: ok(todo) and problem(todo) != "", continue: "${problem(todo)}"}`, script: `
			write todo.json {"left": "many", "note": "go"}
			{} -> continued by repair: left must be a whole number, and is "many"
			write todo.json {"left": "many", "note": "stop"}
			{} -> stopped by stop`},
		{name: "?? covers what is missing, never what is invalid", policy: list + `
rules: [{name: stop, when: "(todo?.left ?? 0) == 0", stop: nothing left}, {name: go, continue: go on}]`, script: `
			{} -> stopped by stop
			write todo.json {}
			{} -> stopped by stop
			write todo.json {"left": "many"}
			{} -> failed by stop ! policy: the agent may stop: rule stop (line 6): todo: left must be a whole number, and is "many"`},
		{name: "an operand that decides", policy: list + `
rules: [{name: stop, when: 'prompt == "x" and todo.left == 0', stop: a}, {name: or, when: 'prompt == "y" or todo.left == 0', stop: b}, {name: go, continue: go on}]`, script: `
			write todo.json {
			{"prompt": "y"} -> stopped by or
			{"prompt": "x"} -> failed by stop ! policy: the agent may stop: rule stop (line 6): todo (todo.json)…line 1, column 1…`},
	})
}

// Every end is shown once a prompt, after a continuation; a stop rule by its notice.
func TestEnds(t *testing.T) {
	playAll(t, []decisionCase{
		{name: "idle", policy: `
rules: [{name: go, when: 'prompt == "go"', continue: go on}]`, script: `
			{"prompt_id": "a"} -> idle
			{"prompt_id": "a", "prompt": "go"} -> continued by go: go on
			{"prompt_id": "a"} -> idle ! policy: no rule decides, so the agent may stop
			{"prompt_id": "a"} -> idle
			{"prompt_id": "b"} -> idle`},
		{name: "done", policy: `
rules: [{name: go, when: 'prompt == "go"', continue: go on}, {name: end, done: it is done}]`, script: `
			{"prompt_id": "a"} -> done by end
			{"prompt_id": "a", "prompt": "go"} -> continued by go: go on
			{"prompt_id": "a"} -> done by end ! policy: done: it is done
			{"prompt_id": "a"} -> done by end`},
		{name: "a stop rule", policy: `
rules: [{name: go, when: 'prompt == "go"', continue: go on}, {name: loud, when: 'prompt == "loud"', stop: it ends, notice: it ends here}, {name: quiet, stop: it ends}]`, script: `
			{"prompt_id": "a", "prompt": "go"} -> continued by go: go on
			{"prompt_id": "a"} -> stopped by quiet
			{"prompt_id": "a", "prompt": "loud"} -> stopped by loud ! it ends here`},
		{name: "a file that is gone, in a continue rule", policy: list + `
rules: [{name: go, when: todo.left > 0, continue: go on}]`, script: `
			write todo.json {"left": 1}
			{"prompt_id": "a"} -> continued by go: go on
			rm todo.json
			{"prompt_id": "a"} -> idle ! policy: no rule decides, so the agent may stop`},
	})
}

func TestPolicies(t *testing.T) {
	two := map[string]string{
		".ralph/a.yaml": "limits: {continuations: 1}\nfacts: {n: {json: a.json, default: {n: 0}}}\nrules: [{name: go, when: 'prompt != \"b\"', continue: do a, then: [set: n.n = n.n + 1]}]",
		".ralph/b.yaml": "limits: {continuations: 2}\nfacts: {n: {json: b.json, default: {n: 0}}}\nrules: [{name: go, continue: do b, notice: b goes, then: [set: n.n = n.n + 1]}]",
	}
	playAll(t, []decisionCase{
		{name: "two on one hook, each with its counts and effects", more: two, script: `
			hook --policy a --policy b
			{"prompt_id": "p"} -> continued by go; continued by go: do a\n\ndo b ! b goes
			cat a.json -> {\n  "n": 1\n}\n
			{"prompt_id": "p", "prompt": "b"} -> idle; continued by go: do b ! a: no rule decides, so the agent may stop\nb goes
			{"prompt_id": "p"} -> limit by limits.continuations; limit by limits.continuations ! a: the agent may stop: this prompt was continued 1 times\nb: the agent may stop: this prompt was continued 2 times
			cat b.json -> {\n  "n": 2\n}\n`},
	})
}

// Before the rules, and for a policy that has none.
func TestOff(t *testing.T) {
	playAll(t, []decisionCase{
		{name: "a policy that cannot be used is off too", policy: "rulez: []", script: `
			{} -> failed ! …
			ralph stop policy
			{} -> off
			write .ralph/off
			{} -> off
			{}`},
		{name: "a policy that cannot be used is shown once a prompt", policy: "rulez: []", script: `
			{"prompt_id": "p"} -> failed ! policy: the agent may stop: .ralph/policy.yaml:2:1: a policy has no key rulez…
			{"prompt_id": "p"} -> failed
			{"prompt_id": "q"} -> failed ! …
			ralph stop
			{"prompt_id": "r"} -> off`},
	})
}
