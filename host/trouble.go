package host

import (
	"errors"
	"strings"
)

// Trouble is the reply when no policy could be asked, or one could not be followed:
// the agent may stop, and ralph reports why. prefix stands before each line, in
// brackets. An error that says that it is Quiet, because there is merely no event or no
// project, goes to the user alone and not to stderr, which some hosts show as an error
// of the hook.
func Trouble(prefix, event string, err error) Reply {
	message := strings.TrimSpace(err.Error())
	first, _, _ := strings.Cut(message, "\n")
	r := Reply{Event: event, Notice: "[" + prefix + "] " + first}
	var quiet interface{ Quiet() bool }
	if errors.As(err, &quiet) && quiet.Quiet() {
		return r
	}
	for line := range strings.SplitSeq(message, "\n") {
		r.Log = append(r.Log, "["+prefix+"] "+line)
	}
	return r
}
