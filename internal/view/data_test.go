package view_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/project"
	"github.com/ralph-sdk/ralph/internal/view"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
)

// hostile texts, as policies, agents and directories can be named.
var hostile = []string{
	"<script>alert(1)</script>", "</script><script>alert(1)</script>", "</style><img src=x onerror=alert(1)>", "<!--<script>", "javascript:alert(1)",
	`"><img src=x onerror=alert(1)>`, "{data}{script}${x}", "\u202eabc\u2066", "a\x00b\x1b[31m", "__proto__", strings.Repeat("x", 4<<10),
}

var began = time.Date(2026, 11, 27, 22, 0, 0, 0, time.UTC)

// decision returns the n-th decision of a project that has one each minute.
func decision(n int) loop.Record {
	done := n % 31
	r := loop.Record{
		Time: began.Add(time.Duration(n) * time.Minute), Session: fmt.Sprintf("3f2a9c1e-77b0-4d1b-9a52-%012d", n/40), Project: "/home/you/greeter", Policy: "speckit", Event: "Stop",
		Outcome: rules.Continued, Rule: "next-task", Reason: fmt.Sprintf("Continue feature: 001-greeting (task %d of 30, iteration %d).\nRead specs/001-greeting/tasks.md and do the next task that is open; add 1 to taskIndex in state.json when its tests pass.", done+1, n),
		Rules: []rules.RuleTrace{
			{Name: "yield", Truth: "false", Line: 9, Operands: []rules.OperandTrace{{Text: "busy", Truth: "false", Values: map[string]any{"busy": false}}, {Text: "your_turn", Truth: "false", Values: map[string]any{"your_turn": false}}}},
			{Name: "problem", Truth: "unknown", Line: 10, Operands: []rules.OperandTrace{{Text: "tests.failed > 0", Truth: "unknown", Why: "tests is missing: build/report.xml does not exist"}}},
			{Name: "next-task", Truth: "true", Line: 14, Operands: []rules.OperandTrace{{Text: `state.phase == "execution"`, Truth: "true", Values: map[string]any{"state.phase": "a text of 9 characters"}},
				{Text: "state.taskIndex < state.totalTasks", Truth: "true", Values: map[string]any{"state.taskIndex": done, "state.totalTasks": 30}}}},
		},
		Facts:    []rules.FactTrace{{Name: "state", Status: "ok", Path: "specs/001-greeting/.speckit-state.json"}, {Name: "tests", Status: "missing", Path: "build/report.xml"}},
		Counts:   rules.Memory{Continuations: n % 40, Repeats: n % 2},
		Progress: fmt.Appendf(nil, `{"done":%d,"total":30}`, done), Took: 2823084,
	}
	switch {
	case n%40 == 39:
		r.Outcome, r.Rule, r.Reason = rules.Done, "done", "every task of 001-greeting is done"
		r.Progress = []byte(`{"done":30,"total":30}`)
	case n%17 == 16:
		r.Outcome, r.Rule, r.Reason = rules.Stopped, "yield", "the agent waits"
	case n%53 == 52:
		r.Outcome, r.Rule, r.Reason = rules.Limit, "limits.repeats", "no progress in 10 continuations (limits.repeats)"
	}
	return r
}

// states returns what a project has in its situations.
func states() map[string]view.Data {
	page := func(n int) view.Data {
		d := view.Data{Project: "/home/you/greeter", Time: began.Add(4 * time.Hour)}
		for i := range n {
			d.Decisions = append(d.Decisions, decision(n-1-i))
		}
		return d
	}
	all := map[string]view.Data{"none": page(0), "one": page(1), "many": page(200), "hostile": page(0)}
	many := all["many"]
	running := run.State{
		Plan:      run.Plan{ID: "20261127-220000-4711", Name: "specs", Args: []string{"claude", "-p", "--permission-mode", "acceptEdits", "Do the next task of specs/001-greeting."}, Limits: run.Limits{Max: 40}, Started: began},
		Iteration: 12, At: began.Add(201 * time.Minute), Spent: run.Spent{Tokens: 1_482_310, Cost: 4.5},
		Last: &run.Iteration{Outcome: run.OK, Denied: []string{"Bash(git push)"}},
	}
	ended := running
	ended.Plan.ID, ended.Plan.Name, ended.Iteration, ended.Last = "20261126-220000-4000", "until", 40, nil
	ended.End = &run.End{Outcome: rules.Limit, Rule: "--max", Reason: "40 of 40 iterations were started"}
	many.Runs = []run.State{running, ended}
	of := decision(12)
	of.Session, of.Policy, of.Time = "run:"+running.Plan.ID, "specs", running.At
	many.Decisions = append([]loop.Record{of}, many.Decisions[:199]...)
	many.Policies = []project.Status{
		{Policy: "specs", State: project.Running, Run: &running},
		{Policy: "speckit", State: project.Ready, Host: "claude-code", Settings: "/home/you/greeter/.claude/settings.json", Bound: "It continues a prompt at most 100 times (limits.continuations), and at most 10 times without progress (limits.repeats)."},
		{Policy: "tests", State: project.Unusable, Host: "codex", Problems: []project.Problem{{What: "it needs your approval: it runs go", Fix: "ralph trust tests"}}},
		{Policy: "review", State: project.NoHook, Problems: []project.Problem{{What: "no hook uses it", Fix: "ralph install claude-code --policy review"}}},
	}
	all["many"] = many
	bad := all["hostile"]
	for i, s := range hostile {
		bad.Project, bad.Problem = bad.Project+"/"+s, bad.Problem+s+"\n"
		bad.Policies = append(bad.Policies, project.Status{Policy: s, State: s, Host: s, Settings: s, Bound: s, Problems: []project.Problem{{What: s, Fix: s}}})
		bad.Runs = append(bad.Runs, run.State{Plan: run.Plan{ID: s, Name: s, Args: []string{s}}, Last: &run.Iteration{Problem: s, Denied: []string{s}}, End: &run.End{Outcome: rules.Outcome(s), Reason: s}})
		bad.Decisions = append(bad.Decisions, loop.Record{
			Time: began.Add(time.Duration(i)), Session: s, Scope: s, Policy: s, Event: s, Outcome: rules.Outcome(s), Rule: s, Reason: s, Notice: s + s,
			Rules:    []rules.RuleTrace{{Name: s, Truth: s, Operands: []rules.OperandTrace{{Text: s, Truth: s, Why: s}, {Text: s, Truth: s, Values: map[string]any{s: s}}}}},
			Facts:    []rules.FactTrace{{Name: s, Status: s, Path: s, Problem: s}},
			Progress: []byte(`{"done":-1,"total":1e300}`),
		})
	}
	all["hostile"] = bad
	return all
}
