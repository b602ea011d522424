package project

import (
	"testing"
	"time"

	"github.com/ralph-sdk/ralph/loop"
)

// Each state wins over all that follow it: the signs of a row are those of all later rows, and its own.
func TestState(t *testing.T) {
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	s := signs{now: now}
	for _, row := range []struct {
		want State
		add  func()
	}{
		{StateReady, func() {}},
		{StateSilent, func() { s.heard = now.Add(-alive - time.Second) }},
		{StateRunning, func() { s.heard = now.Add(-alive) }},
		{StateLost, func() { s.lost = "run x was killed" }},
		{StateLost, func() { s.last = loop.Continued }},
		{StateFailed, func() { s.last = loop.Failed }},
		{StateEnded, func() { s.last = loop.Stopped }},
		{StateLimit, func() { s.last = loop.Limited }},
		{StateDone, func() { s.last = loop.Done }},
		{StateWaiting, func() { s.waiting = "it waits for CI" }},
		{StateInRun, func() { s.inRun = "run x" }},
		{StateNoHook, func() { s.noHook = "nothing asks it" }},
		{StateWaits, func() { s.waits = "approve it" }},
		{StatePaused, func() { s.paused = "it is paused" }},
		{StateStopped, func() { s.stopped = "it was stopped" }},
		{StateOff, func() { s.off = "all are off" }},
		{StateUnusable, func() { s.unusable = "line 3" }},
	} {
		row.add()
		if got, _ := s.state(); got != row.want {
			t.Errorf("%+v is %q, want %q", s, got, row.want)
		}
	}
}
