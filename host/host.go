// Package host speaks with coding agents: the JSON that a hook receives on stdin becomes an [Event], a [Reply] becomes
// the bytes and the exit status that the host understands, and [ReadSession] reads from the end of a session file what
// the agent said and did in its current turn.
//
// For the protocol it promises four things. Nothing that a host sends makes it panic. An answer is one JSON object or
// nothing: any other byte on stdout would silently turn the answer off. The answer has no key that the host refuses. And
// the exit status of a JSON answer is always 0, because hosts disagree on every other one.
//
// For session files it promises that the cost depends on the turn and not on the file: blocks are read backwards,
// doubling from 64 KiB, until the last human prompt or continuation is found or the byte budget is spent, so a file of
// 500 MB costs what one of 1 MB costs. A turn that does not fit into the budget is searched in a fixed amount of memory,
// and the results of tools are skipped. The agent's own words are only that: no prompt, no tool output, no injected
// text, no thinking, no subagent, no compaction summary, no message of a failed request. Torn, foreign, deeply nested or
// huge records are skipped, and none of them makes it panic. Session files are no contract of the hosts, and a file may
// lag behind the agent. It reads the files of Claude Code (and of those that took over its format), Codex, Gemini CLI,
// Qwen Code and Copilot CLI, recognised record by record, and plain text.
//
// It reads no environment and no clock, knows no policies, and never writes. It does not shorten a reason: hosts show
// about 10,000 characters of it whole and treat longer ones each in its own way.
//
// Start with [Detect]:
//
//	h := host.Detect(stdin)
//	ev, err := h.Decode(stdin)
//	…
//	answer := h.Encode(host.Reply{Event: ev.Name, Continue: true, Reason: "Task 2 is next."})
//
// For a session, read it, then look for a [Form] in its [Words]:
//
//	s, err := host.ReadSession(ctx, ev.TranscriptPath, host.SessionOptions{})
//	…
//	done := host.Said.In(host.Words(s, ev.LastAssistantMessage), "ALL_TASKS_COMPLETE")
package host

import (
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/hookfile"
)

// Host is what ralph knows of one host: its protocol and, as data, its settings. Its methods are pure functions and safe for
// concurrent use. Get one from [Detect] or [Lookup]; the zero Host is the portable one.
type Host struct {
	Name     string            // such as [ClaudeCode]; "" for the portable host, which stands for every unknown one
	Title    string            // the name that its makers write
	Settings hookfile.Settings // for package host/setup

	marks    func(in object) bool                         // whether only this host writes such an input
	eventKey string                                       // where the input names its event, "" for hook_event_name
	events   []eventName                                  // events that the host calls differently, or lacks
	steady   bool                                         // stop_hook_active stays false while the agent goes on
	compacts bool                                         // a hook can keep the context as it is
	refine   func(in object, ev *Event)                   // what this host says in its own way; nil: nothing
	dialect  func(h *Host, r Reply, b *body) (rest Reply) // how this host wants to be answered
	record   func(r record) entry                         // reads a record of its session file; nil: others read it
}

// eventName is how a host calls an event; "" says that it does not have it. Of several names, the first is written.
type eventName struct{ event, name string }

// hosts lists every host that is known, in the order in which a user would look for them.
var hosts = []*Host{&claudeCode, &codex, &gemini, &qwen, &copilot, &cursor, &droid, &vscode, &goose, &openHands}

// Detect recognises the host by the hook input alone. The environment is no help (several hosts set CLAUDE_PROJECT_DIR), nor
// is the file that registered the hook (several hosts run the hooks in .claude/settings.json). Paths of session files count
// last, since a user can keep them anywhere.
// The result is never nil: an input that no host is known to write, or that is no JSON object, gives the portable host.
func Detect(payload []byte) *Host {
	in, err := parse(payload)
	if err != nil {
		return &Host{}
	}
	for _, h := range slices.Backward(hosts) { // the first ones have marks that others took over
		if h.marks != nil && h.marks(in) {
			return h
		}
	}
	for _, h := range hosts {
		if dir := h.Settings.Dir.Name; dir != "" && in.within(dir) {
			return h
		}
	}
	return &Host{}
}

// Lookup returns the host of that name, one of [Names].
func Lookup(name string) (*Host, bool) {
	for _, h := range hosts {
		if h.Name == name {
			return h, true
		}
	}
	return nil, false
}

// Names lists the hosts that are known, in the order in which a user would look for them.
func Names() (names []string) {
	for _, h := range hosts {
		names = append(names, h.Name)
	}
	return names
}

// EventName returns what the host calls an event, "" if it does not have it.
func (h *Host) EventName(event string) string {
	for _, e := range h.events {
		if e.event == event {
			return e.name
		}
	}
	return event
}

// EventOf returns the event that a host calls by a name. A name in camelCase that no host is known for is read as the same one
// in PascalCase.
func EventOf(name string) string {
	name = strings.TrimSpace(name)
	if name == "" {
		return Stop
	}
	for _, h := range hosts {
		for _, e := range h.events {
			if e.name == name {
				return e.event
			}
		}
	}
	if c := name[0]; 'a' <= c && c <= 'z' {
		return string(c-'a'+'A') + name[1:]
	}
	return name
}
