package run

import "github.com/ralph-sdk/ralph/run/step"

// The types of a run that its step and its drivers share.
type (
	Event   = step.Event
	Kind    = step.Kind
	Totals  = step.Totals
	End     = step.End
	Outcome = step.Outcome
	Limits  = step.Limits
	Denial  = step.Denial
)

// The kinds. All except AgentOutput are in run.jsonl.
const (
	RunStart       = step.RunStart
	RunResume      = step.RunResume
	IterationStart = step.IterationStart
	AgentOutput    = step.AgentOutput
	IterationEnd   = step.IterationEnd
	VerdictMade    = step.VerdictMade
	Waiting        = step.Waiting
	RunEnd         = step.RunEnd
)

// The ends. A run can be resumed after any end except Success.
const (
	Success     = step.Success
	Stopped     = step.Stopped
	Asked       = step.Asked
	Denied      = step.Denied
	StillWaits  = step.StillWaits
	AtLimit     = step.AtLimit
	NoProgress  = step.NoProgress
	NoReset     = step.NoReset
	NoAccess    = step.NoAccess
	TooManyFail = step.TooManyFail
	TooManyLost = step.TooManyLost
	Cancelled   = step.Cancelled
	Failed      = step.Failed
)

// The outcomes.
const (
	OK              = step.OK
	RateLimited     = step.RateLimited
	Auth            = step.Auth
	Billing         = step.Billing
	TurnLimit       = step.TurnLimit
	ContextOverflow = step.ContextOverflow
	OverBudget      = step.OverBudget
	Timeout         = step.Timeout
	Crashed         = step.Crashed
	Interrupted     = step.Interrupted
	Lost            = step.WasLost
)

// Defaults of [Limits] and of an iteration.
const (
	DefaultIterations = step.DefaultIterations
	DefaultElapsed    = step.DefaultElapsed
	DefaultIteration  = step.DefaultIteration
)
