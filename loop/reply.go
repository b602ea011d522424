package loop

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/rules"
)

// reply joins the decisions on one event into one reply. It reports equal notices once.
func reply(ev host.Event, decisions []*Decision) host.Reply {
	r := host.Reply{Event: cmp.Or(ev.Name, host.Stop)}
	var reasons, notices, notes []string
	for _, d := range decisions {
		if d == nil || d.Verdict == nil {
			continue
		}
		if d.Verdict.Action == rules.Continue {
			r.Continue = true
			reason := d.Verdict.Reason
			if len(decisions) > 1 {
				reason = "[" + d.Policy + "]\n" + reason
			}
			reasons = append(reasons, reason)
		}
		for _, n := range d.Notices {
			if !slices.Contains(notices, n) {
				notices = append(notices, n)
			}
		}
		for _, f := range d.Failures {
			notices = append(notices, "["+d.texts.prefix+"] "+f.String())
		}
		notes = append(notes, d.Notes...)
		r.Err = errors.Join(r.Err, d.Err)
		r.Log = append(r.Log, d.Log...)
	}
	r.Reason = strings.Join(reasons, "\n\n")
	r.Notice = strings.Join(notices, "\n")
	r.Context = strings.Join(notes, "\n")
	return r
}
