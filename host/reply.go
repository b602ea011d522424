package host

import (
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/escape"
	"github.com/ralph-sdk/ralph/internal/jsontext"
)

// Reply is a decision in ralph's terms, before [Host.Encode] writes it for the host. The zero Reply lets the agent stop
// and shows nothing.
type Reply struct {
	Event    string   // the event that is answered, as in [Event].Name; "" is a Stop
	Continue bool     // make the agent continue, or prevent compaction; not for UserPromptSubmit, StopFailure and SessionEnd
	Reason   string   // what the agent sees if it continues
	Notice   string   // what the user sees in both cases
	Context  string   // what the agent sees with the user's prompt; for UserPromptSubmit only
	Log      []string // complete lines for stderr
	Err      error    // why an event was not decided, for the program; of a panic with the stack. No answer has it
}

// Answer is the output and exit status of a hook process.
type Answer struct {
	Stdout, Stderr []byte // empty, or ending in a newline
	Status         int
}

// Encode returns the JSON answer in this host's format. To continue is one object with the reason; to stop is no
// output, or an object with the notice. The status is always 0. Bytes that are not UTF-8 become U+FFFD.
//
// Context goes where the host reads it; an unknown host receives it in both known forms. A notice goes to stderr if the
// host cannot show it. A blank Reason becomes "Continue.", because some hosts drop an answer without a reason; any
// other is unchanged.
func (h *Host) Encode(r Reply) Answer {
	r = normalize(r)
	if r.Event == PreCompact {
		r.Continue = r.Continue && BlocksCompaction(h.Name)
	}
	var b body
	rest := r
	if Watched(r.Event) {
		// what is left goes to stderr
	} else if h.dialect != nil {
		rest = h.dialect(h, r, &b)
	} else { // an unknown host; a note has both known forms, since one of Copilot's two inputs is not recognizable
		b.Context = r.Context
		rest = withContext(h, r, &b)
	}
	return Answer{Stdout: b.encode(), Stderr: lines(rest.Log, unsaid(rest.Notice, rest.Log))}
}

// EncodeExitCode returns the answer as an exit status, for hosts and wrappers that read no JSON. To continue is status
// 2, with log lines and the reason on stderr, where the agent reads both. To stop is status 0, with log lines and the
// notice on stderr. Stdout is empty except for Context, which is plain text: hosts add it to the prompt.
func EncodeExitCode(r Reply) Answer {
	r = normalize(r)
	if r.Continue {
		return Answer{Stderr: lines(r.Log, r.Reason), Status: 2}
	}
	return Answer{Stdout: lines(nil, r.Context), Stderr: lines(r.Log, unsaid(r.Notice, r.Log))}
}

// normalize returns r without what the event cannot carry, and with escapes for its readers.
func normalize(r Reply) Reply {
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
	r.Reason, r.Context, r.Notice = escape.Agent(r.Reason), escape.Agent(r.Context), escape.Person(r.Notice)
	r.Log = slices.Clone(r.Log)
	for i, line := range r.Log {
		r.Log[i] = escape.Person(line)
	}
	return r
}

// body is the union of all answers; a host receives only keys that it knows.
type body struct {
	Decision string    `json:"decision,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Followup string    `json:"followup_message,omitempty"`
	Notice   string    `json:"systemMessage,omitempty"`
	Specific *specific `json:"hookSpecificOutput,omitempty"`
	Message  string    `json:"message,omitempty"` // Kimi Code adds it to a prompt

	// A note to a prompt, for hosts that do not read it in Specific.
	Context string `json:"additionalContext,omitempty"`  // Copilot
	Submit  bool   `json:"continue,omitempty"`           // Cursor sends the prompt
	Beside  string `json:"additional_context,omitempty"` // and this with it
}

type specific struct {
	Event    string `json:"hookEventName"`
	Decision string `json:"decision,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Context  string `json:"additionalContext,omitempty"`

	// Kimi Code's decision.
	Permission       string `json:"permissionDecision,omitempty"`
	PermissionReason string `json:"permissionDecisionReason,omitempty"`
}

// encode returns one object and a newline, or nothing. It does not escape < and similar, since some hosts show the
// bytes to the user.
func (b body) encode() []byte {
	if b == (body{}) {
		return nil
	}
	return append(jsontext.Encode(b), '\n')
}

// portable fills in the form that every host with a JSON answer reads. It returns what this form cannot carry.
func portable(_ *Host, r Reply, b *body) Reply {
	if r.Continue {
		b.Decision, b.Reason = "block", r.Reason
	}
	b.Notice, r.Notice = r.Notice, ""
	return r
}

// withContext returns the portable form with the note to a prompt that Claude Code introduced.
func withContext(h *Host, r Reply, b *body) Reply {
	if r.Context != "" {
		b.Specific = &specific{Event: h.EventName(UserPromptSubmit), Context: r.Context}
	}
	return portable(h, r, b)
}

// unsaid returns the lines of a notice that are not in the log, which also has all problems.
func unsaid(notice string, log []string) string {
	lines := slices.DeleteFunc(strings.Split(notice, "\n"), func(line string) bool { return slices.Contains(log, line) })
	return strings.Join(lines, "\n")
}

// lines returns each string on lines of its own.
func lines(log []string, last string) []byte {
	var out []byte
	for _, s := range append(log[:len(log):len(log)], last) {
		if s = strings.TrimRight(s, "\r\n"); s != "" {
			out = append(append(out, s...), '\n')
		}
	}
	return out
}
