package project

import (
	"time"

	"github.com/ralph-sdk/ralph/loop"
)

// State is what keeps a policy from continuing an agent, or how it is doing, in one word.
type State string

// The states. The first that holds counts.
const (
	StateUnusable State = "unusable"       // the policy, the state of its loop, or its memory
	StateOff      State = "off"            // all loops are off, or the policy's on: is not true
	StateStopped  State = "stopped by you" // by ralph stop, until ralph start
	StatePaused   State = "paused"         // by ralph pause
	StateWaits    State = "waits for you"  // it needs an approval or trust, or asked a question
	StateNoHook   State = "no hook"        // no hook evaluates it, and no run
	StateInRun    State = "in a run"       // a run continues it; sessions may stop
	StateWaiting  State = "waiting"        // its last decision waits, while state and prompt are the same
	StateDone     State = "done"           // its last decision, while state and prompt are the same
	StateLimit    State = "at its limit"   // the same
	StateEnded    State = "stopped"        // the same
	StateFailed   State = "failed"         // the same
	StateLost     State = "lost"           // its run was killed
	StateRunning  State = "running"        // its session gave a sign of life in the last 15 minutes
	StateSilent   State = "not heard of"   // since its last sign of life
	StateReady    State = "ready"          // no session has been continued yet
)

// alive is how long a sign of life counts.
const alive = 15 * time.Minute

// signs are what the state of a policy is read from. A text says why; "" is that it does not hold.
type signs struct {
	unusable, off, stopped, paused, waits, noHook, inRun, waiting, lost string

	last  loop.Outcome // of the last decision, "" if the state or the prompt has changed since
	heard time.Time    // of the session: its last decision, or a later change of its file; zero if there is none
	now   time.Time
}

// state returns the first state that holds, and why.
func (s signs) state() (State, string) {
	for _, one := range []struct {
		state State
		why   string
	}{
		{StateUnusable, s.unusable}, {StateOff, s.off}, {StateStopped, s.stopped}, {StatePaused, s.paused}, {StateWaits, s.waits},
		{StateNoHook, s.noHook}, {StateInRun, s.inRun}, {StateWaiting, s.waiting},
	} {
		if one.why != "" {
			return one.state, one.why
		}
	}
	ended := map[loop.Outcome]State{loop.Done: StateDone, loop.Limited: StateLimit, loop.Stopped: StateEnded, loop.Asked: StateEnded, loop.Failed: StateFailed, loop.Lost: StateLost}
	switch state, ok := ended[s.last]; {
	case ok:
		return state, ""
	case s.lost != "":
		return StateLost, s.lost
	case s.heard.IsZero():
		return StateReady, ""
	case s.now.Sub(s.heard) <= alive:
		return StateRunning, ""
	}
	return StateSilent, ""
}
