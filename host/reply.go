package host

import (
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/jsontext"
)

// Reply is what a verdict says to the host. The zero Reply lets the agent stop and says nothing.
type Reply struct {
	Event    string   // the event that is answered, as in [Event].Name; "" is a Stop
	Continue bool     // make the agent go on, or keep the context; counts for Stop, SubagentStop and PreCompact only
	Reason   string   // what the agent sees when it goes on
	Notice   string   // what the user sees, either way
	Context  string   // what the agent sees beside the user's prompt; counts for UserPromptSubmit only
	Log      []string // finished lines for stderr
}

// Answer is what the hook process writes and how it ends.
type Answer struct {
	Stdout, Stderr []byte // empty, or ending in a newline
	Status         int
}

// Encode gives the JSON answer in this host's dialect. A continue is one object with the reason; a stop is nothing at
// all, or an object with the notice. The status is always 0. Bytes that are not UTF-8 become U+FFFD.
//
// A context goes where the host takes it; an unknown host gets it in both forms that hosts read. A notice goes to stderr
// where the host has no way to show it. Reason counts as it is, but a blank one, which would make some hosts drop the whole answer, becomes
// "Continue.".
func (h *Host) Encode(r Reply) Answer {
	r = sane(r)
	if r.Event == PreCompact {
		r.Continue = r.Continue && BlocksCompaction(h.Name)
	}
	var b body
	rest := r
	if Watched(r.Event) {
		// what is left goes to stderr
	} else if h.dialect != nil {
		rest = h.dialect(h, r, &b)
	} else { // an unknown host; a note has both forms that hosts read, since one of Copilot's two inputs looks like no host's
		b.Context = r.Context
		rest = withContext(h, r, &b)
	}
	return Answer{Stdout: b.encode(), Stderr: lines(rest.Log, unsaid(rest.Notice, rest.Log))}
}

// EncodeExitCode gives the answer by exit status, for hosts and wrappers that read no JSON: to continue is status 2 with
// log lines and the reason on stderr, where the agent reads both; to stop is status 0 with log lines and notice on stderr.
// Stdout is empty but for a context, which is plain text there: hosts add it to the prompt.
func EncodeExitCode(r Reply) Answer {
	r = sane(r)
	if r.Continue {
		return Answer{Stderr: lines(r.Log, r.Reason), Status: 2}
	}
	return Answer{Stdout: lines(nil, r.Context), Stderr: lines(r.Log, unsaid(r.Notice, r.Log))}
}

// sane drops what the event cannot carry.
func sane(r Reply) Reply {
	r.Continue = r.Continue && (decides(r.Event) || r.Event == PreCompact)
	if r.Continue && strings.TrimSpace(r.Reason) == "" {
		r.Reason = "Continue."
	}
	if r.Event != UserPromptSubmit || strings.TrimSpace(r.Context) == "" {
		r.Context = ""
	}
	if strings.TrimSpace(r.Notice) == "" {
		r.Notice = ""
	}
	return r
}

// body is the union of all answers; every host is given those keys only that it knows.
type body struct {
	Decision string    `json:"decision,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Followup string    `json:"followup_message,omitempty"`
	Notice   string    `json:"systemMessage,omitempty"`
	Specific *specific `json:"hookSpecificOutput,omitempty"`

	// A note to a prompt, by hosts that do not read it in Specific.
	Context string `json:"additionalContext,omitempty"`  // Copilot
	Submit  bool   `json:"continue,omitempty"`           // Cursor sends the prompt
	Beside  string `json:"additional_context,omitempty"` // and this with it
}

type specific struct {
	Event    string `json:"hookEventName"`
	Decision string `json:"decision,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Context  string `json:"additionalContext,omitempty"`
}

// encode writes one object and a newline, or nothing. Signs like < are written as themselves, since some hosts show the
// bytes to the user.
func (b body) encode() []byte {
	if b == (body{}) {
		return nil
	}
	return append(jsontext.Encode(b), '\n')
}

// portable fills in the form that every host with a JSON answer understands. It returns what is left to say.
func portable(_ *Host, r Reply, b *body) Reply {
	if r.Continue {
		b.Decision, b.Reason = "block", r.Reason
	}
	b.Notice, r.Notice = r.Notice, ""
	return r
}

// withContext is the portable form with the note to a prompt that Claude Code introduced.
func withContext(h *Host, r Reply, b *body) Reply {
	if r.Context != "" {
		b.Specific = &specific{Event: h.EventName(UserPromptSubmit), Context: r.Context}
	}
	return portable(h, r, b)
}

// unsaid gives the lines of a notice that are not in the log: trouble is in both.
func unsaid(notice string, log []string) string {
	lines := slices.DeleteFunc(strings.Split(notice, "\n"), func(line string) bool { return slices.Contains(log, line) })
	return strings.Join(lines, "\n")
}

// lines writes each text on lines of its own.
func lines(log []string, last string) []byte {
	var out []byte
	for _, s := range append(log[:len(log):len(log)], last) {
		if s = strings.TrimRight(s, "\r\n"); s != "" {
			out = append(append(out, s...), '\n')
		}
	}
	return out
}
