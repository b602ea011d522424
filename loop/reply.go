package loop

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/loop/host"
)

// Reply joins the decisions on one event into what its host is to hear. Notices
// that several of them have are told once.
func Reply(ev host.Event, decisions []*Decision) host.Reply {
	r := host.Reply{Event: cmp.Or(ev.Name, host.Stop)}
	var reasons, notices, notes []string
	for _, d := range decisions {
		if d.Continue() {
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
		notes = append(notes, d.Notes...)
		r.Log = append(r.Log, d.Log...)
	}
	r.Reason = strings.Join(reasons, "\n\n")
	r.Notice = strings.Join(notices, "\n")
	r.Context = strings.Join(notes, "\n")
	return r
}

// Trouble is the reply when no policy could be asked: the agent may stop, and the
// person hears why. What is merely no event of a project (an empty input, one that
// names no usable directory) goes to the person alone and not to stderr, which
// some hosts show as an error of the hook.
func Trouble(event string, err error) host.Reply { return trouble("ralph", event, err) }

func trouble(prefix, event string, err error) host.Reply {
	message := strings.TrimSpace(err.Error())
	first, _, _ := strings.Cut(message, "\n")
	r := host.Reply{Event: event, Notice: "[" + prefix + "] " + first}
	var root *RootError
	var input *host.InputError
	if errors.As(err, &root) || errors.As(err, &input) && !input.Garbled {
		return r
	}
	for line := range strings.SplitSeq(message, "\n") {
		r.Log = append(r.Log, "["+prefix+"] "+line)
	}
	return r
}
