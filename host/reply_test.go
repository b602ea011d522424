package host_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
)

func answer(stdout, stderr string, status int) host.Answer {
	var a host.Answer
	if stdout != "" {
		a.Stdout = []byte(stdout)
	}
	if stderr != "" {
		a.Stderr = []byte(stderr)
	}
	a.Status = status
	return a
}

// The same replies, as JSON and by exit status.
func TestEncode(t *testing.T) {
	for _, c := range []struct {
		name     string
		reply    host.Reply
		json     host.Answer
		exitCode host.Answer
	}{
		{
			"the zero reply stops in silence", host.Reply{},
			answer("", "", 0),
			answer("", "", 0),
		},
		{
			"continue", host.Reply{Continue: true, Reason: "go on"},
			answer(`{"decision":"block","reason":"go on"}`+"\n", "", 0),
			answer("", "go on\n", 2),
		},
		{
			"log lines are not lost, and the notice is for the user alone", host.Reply{Continue: true, Reason: "go on\n", Notice: "round 2", Log: []string{"[ralph] a", "[ralph] b\n"}},
			answer(`{"decision":"block","reason":"go on\n","systemMessage":"round 2"}`+"\n", "[ralph] a\n[ralph] b\n", 0),
			answer("", "[ralph] a\n[ralph] b\ngo on\n", 2),
		},
		{
			"stop with a notice", host.Reply{Reason: "not told", Notice: "the end", Log: []string{"[ralph] a"}},
			answer(`{"systemMessage":"the end"}`+"\n", "[ralph] a\n", 0),
			answer("", "[ralph] a\nthe end\n", 0),
		},
		{
			"a blank reason would undo the answer", host.Reply{Continue: true, Reason: " \n", Notice: " "},
			answer(`{"decision":"block","reason":"Continue."}`+"\n", "", 0),
			answer("", "Continue.\n", 2),
		},
		{
			"signs and odd bytes", host.Reply{Continue: true, Reason: "<a> & \"b\" \u2028 \xff é"},
			answer(`{"decision":"block","reason":"<a> & \"b\" \u2028 `+"\ufffd é\"}\n", "", 0),
			answer("", "<a> & \"b\" \u2028 \ufffd é\n", 2),
		},
		{
			"invisible characters", host.Reply{Continue: true, Reason: "a\x1b[2J\u009b\u202e 👩\u200d💻", Notice: "b\x1b[2J\u009b\u202e 👩\u200d💻"},
			answer(`{"decision":"block","reason":"a\\x1b[2J\\u009b`+"\u202e 👩\u200d💻"+`","systemMessage":"b\\x1b[2J\\u009b\\u202e `+"👩\u200d💻\"}\n", "", 0),
			answer("", `a\x1b[2J\u009b`+"\u202e 👩\u200d💻\n", 2),
		},
		{
			"a prompt is never erased", host.Reply{Event: host.UserPromptSubmit, Continue: true, Reason: "go on"},
			answer("", "", 0),
			answer("", "", 0),
		},
		{
			"nor is another event blocked", host.Reply{Event: "PreToolUse", Continue: true, Reason: "go on", Context: "x"},
			answer("", "", 0),
			answer("", "", 0),
		},
		{
			"a subagent can be kept going", host.Reply{Event: host.SubagentStop, Continue: true, Reason: "go on"},
			answer(`{"decision":"block","reason":"go on"}`+"\n", "", 0),
			answer("", "go on\n", 2),
		},
		{
			"a note is for prompts", host.Reply{Event: host.Stop, Context: "note"},
			answer("", "", 0),
			answer("", "", 0),
		},
		{
			"a note on an unknown host has both forms", host.Reply{Event: host.UserPromptSubmit, Context: "two\nlines", Notice: "shown"},
			answer(`{"systemMessage":"shown","hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"two\nlines"},"additionalContext":"two\nlines"}`+"\n", "", 0),
			answer("two\nlines\n", "shown\n", 0),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.json, new(host.Host).Encode(c.reply)); diff != "" {
				t.Errorf("as JSON (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.exitCode, host.EncodeExitCode(c.reply)); diff != "" {
				t.Errorf("by exit status (-want +got):\n%s", diff)
			}
		})
	}
}

// Log lines that are appended to after the call must not meet in one array.
func TestEncodeLeavesLogAlone(t *testing.T) {
	log := make([]string, 1, 4)
	log[0] = "a"
	new(host.Host).Encode(host.Reply{Log: log})
	host.EncodeExitCode(host.Reply{Log: log, Notice: "n"})
	if got := log[:2][1]; got != "" {
		t.Errorf("the caller's log now holds %q behind its end", got)
	}
}
