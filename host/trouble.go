package host

import (
	"errors"
	"strings"
)

// Trouble returns the reply if no policy could be evaluated, or one could not be followed: the agent may stop, and
// ralph reports why. Each line begins with prefix in brackets. A Quiet error (no event or no project) is only a notice,
// because some hosts show stderr as an error of the hook.
func Trouble(prefix, event string, err error) Reply {
	message := strings.TrimSpace(err.Error())
	first, _, _ := strings.Cut(message, "\n")
	r := Reply{Event: event, Notice: "[" + prefix + "] " + first, Err: err}
	var quiet interface{ Quiet() bool }
	if errors.As(err, &quiet) && quiet.Quiet() {
		return r
	}
	for line := range strings.SplitSeq(message, "\n") {
		r.Log = append(r.Log, "["+prefix+"] "+line)
	}
	return r
}
