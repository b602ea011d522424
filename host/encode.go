package host

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/text"
	"github.com/ralph-sdk/ralph/loop"
)

// Reply is what the process of a hook writes, and its exit status.
type Reply struct {
	Stdout, Stderr []byte // empty, or ending in a newline
	Status         int
}

// Mode is the form of an answer.
type Mode string

const (
	AsJSON     Mode = "json"      // one JSON object or nothing, status 0
	AsExitCode Mode = "exit-code" // for hosts and wrappers that read no JSON: 2 makes the agent continue
)

// The most characters of the texts in an answer; with quotes escaped they have at most 1 MiB. Hosts show about 10,000 of a text.
const (
	maxReason = 100_000
	maxNotice = 20_000
)

// specific is the field of an answer that names its event.
const specific = "hookSpecificOutput"

// Encode returns the answer of a host to an event, which is what policies decided, in their order. The agent continues if one of them
// continues it, with the reasons of those that do. Only a stop can be continued, and only a prompt has notes. A notice goes to stderr if
// the host shows none. An Err is shown where its decision has no notice. mode "" is AsJSON, and a nil host the portable form.
//
// As exit code, to continue is status 2 with the reason alone on stderr. To stop is status 0 with the notices there; notes are on stdout.
func Encode(h *Host, event string, decisions []loop.Decision, mode Mode) Reply {
	said := collect(event, decisions)
	if mode == AsExitCode {
		if said.reason != "" {
			return Reply{Stderr: lines(said.reason), Status: 2}
		}
		return Reply{Stdout: lines(said.note), Stderr: lines(append(said.log, said.notice)...)}
	}
	if h == nil {
		h = hosts[len(hosts)-1]
	}
	places := map[string]any{}
	if said.reason != "" {
		maps.Copy(places, h.answer.decision)
		for _, place := range h.answer.reason {
			places[place] = said.reason
		}
	}
	if said.note != "" && len(h.answer.note) > 0 {
		maps.Copy(places, h.answer.submit)
		for _, place := range h.answer.note {
			places[place] = said.note
		}
	}
	if said.notice != "" && h.answer.notice != "" {
		places[h.answer.notice] = said.notice
		said.notice = ""
	}
	body, inner := map[string]any{}, map[string]any{}
	for place, value := range places {
		if name, below := strings.CutPrefix(place, specific+"."); below {
			inner[name], inner["hookEventName"], body[specific] = value, h.theirs(cmp.Or(event, stop)), inner
		} else {
			body[place] = value
		}
	}
	reply := Reply{Stderr: lines(append(said.log, said.notice)...)}
	if len(body) > 0 {
		reply.Stdout = lines(text.JSON(body)) // <, > and & are not escaped, since some hosts show the bytes
	}
	return reply
}

// texts are what decisions say together.
type texts struct {
	reason string // "": the agent may stop
	notice string
	note   string
	log    []string
}

func collect(event string, decisions []loop.Decision) texts {
	var reasons, notices, notes, log []string
	for _, d := range decisions {
		notice := strings.TrimSpace(d.Notice)
		if notice == "" && d.Err != nil {
			notice = strings.TrimPrefix(d.Policy+": the agent may stop: ", ": ") + d.Err.Error()
		}
		if stops(event) && d.Continue() {
			reasons = append(reasons, strings.TrimRight(d.Reason, " \n"))
		}
		if notice != "" && !slices.Contains(notices, notice) {
			notices = append(notices, notice)
		}
		if event == promptSubmit && strings.TrimSpace(d.Note) != "" {
			notes = append(notes, d.Note)
		}
		for _, line := range d.Log {
			if !strings.HasPrefix(line, "[") { // it names itself
				line = fmt.Sprintf("[%s] %s", d.Policy, line)
			}
			log = append(log, line)
		}
	}
	t := texts{
		reason: clean(strings.Join(reasons, "\n\n"), maxReason),
		notice: clean(strings.Join(notices, "\n"), maxNotice),
		note:   clean(strings.Join(notes, "\n\n"), maxReason),
	}
	if len(reasons) > 0 && strings.TrimSpace(t.reason) == "" {
		t.reason = "Continue." // some hosts drop an answer without a reason
	}
	if len(log) > 0 {
		t.log = []string{clean(strings.Join(log, "\n"), maxNotice)}
	}
	return t
}

// clean returns at most n characters of a text, safe to show.
func clean(s string, n int) string { return text.Cut(text.Clean(text.Cut(s, n)), n) }

// lines returns the texts that are not empty, each on lines of its own.
func lines(all ...string) []byte {
	var out []byte
	for _, s := range all {
		if s = strings.TrimRight(s, "\n"); s != "" {
			out = append(append(out, s...), '\n')
		}
	}
	return out
}
