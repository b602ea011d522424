package loop

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/ralph-sdk/ralph/next/rules"
)

// end returns what the person sees of the end of a loop beside the notices of the rules: each kind of end once a prompt. The ends that
// mean nothing without a continuation before are silent without one.
func (c *counts) end(v rules.Verdict, continued bool) string {
	kind, line := string(v.Outcome), ""
	switch v.Outcome {
	case rules.Done:
		if continued && len(v.Notices) == 0 {
			line = "done" + after(": ", v.Reason)
		}
	case rules.Idle:
		if continued {
			line = "no rule decides, so the agent may stop"
		}
	case rules.Limit:
		line = "the agent may stop" + after(": ", v.Reason)
	case rules.Failed:
		line = "the agent may stop: " + cmp.Or(v.Reason, fmt.Sprint(v.Err))
		kind += fmt.Sprintf(" %.8x", sha256.Sum256([]byte(line)))
	}
	if line == "" || !c.show(kind) {
		return ""
	}
	return line
}

// show reports whether the person has not seen an end in this prompt.
func (c *counts) show(kind string) bool {
	if slices.Contains(c.Shown, kind) {
		return false
	}
	c.Shown = append(c.Shown, kind)
	return true
}

func after(sep, s string) string {
	if s == "" {
		return ""
	}
	return sep + s
}
