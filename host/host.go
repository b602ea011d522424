// Package host implements the hook protocols of coding agents: it decodes the JSON of a hook into an [Event],
// encodes a [Reply] as the output and the exit status that the host expects, and reads the current turn from a session
// file ([ReadSession]).
//
// No input makes it panic. An answer is one JSON object or nothing, because any other byte on stdout silently disables
// the answer. The answer has no key that the host rejects. The exit status of a JSON answer is always 0, because hosts
// disagree on every other status.
//
// The cost of reading a session file depends on the turn, not on the file: blocks are read backwards, doubling from 64
// KiB, until the last human prompt or continuation is found or the byte budget is spent. A turn that exceeds the budget
// is searched in a fixed amount of memory, without the results of tools. The agent's words exclude prompts, tool
// output, injected text, thinking, subagents, compaction summaries and messages of failed requests. Torn, unknown,
// deeply nested or huge records are skipped. Hosts may change the format of session files, and a file may lag behind
// the agent. ReadSession reads the files of Claude Code (and hosts with its format), Codex, Gemini CLI, Qwen Code and
// Copilot CLI, recognized record by record, and plain text.
//
// The package reads no environment variables and no clock, knows no policies, and never writes. It does not shorten
// reasons: hosts show about 10,000 characters and differ beyond that.
//
// Start with [Read]:
//
//	h, ev, err := host.Read(stdin, nil)
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

// Host describes one host: its protocol and, as data, its settings. Its methods are pure functions and safe for
// concurrent use. Use [Read] or [Lookup] to get one; the zero Host is the portable one.
type Host struct {
	Name     string            // such as [ClaudeCode]; "" for the portable host, used for unknown hosts
	Title    string            // the name as its vendor writes it
	Settings hookfile.Settings // for package host/setup

	// Session names the variables that the host sets for the programs of its agent, and only for them. It may be empty,
	// so that their absence proves nothing.
	Session []string

	marks    func(in object) bool                         // reports whether only this host writes such an input; nil: none is typical
	eventKey string                                       // the key that names the event, "" for hook_event_name
	events   []eventName                                  // events that the host names differently or lacks
	steady   bool                                         // stop_hook_active stays false while the agent continues
	compacts bool                                         // a hook can prevent compaction
	teams    bool                                         // it has TaskCompleted and TeammateIdle
	refine   func(in object, ev *Event)                   // adds what only this host sends; nil: nothing
	dialect  func(h *Host, r Reply, b *body) (rest Reply) // encodes the answer; it returns what the host has no place for
	record   func(r record) entry                         // reads a record of its session file; nil: its records have another host's format
}

// eventName is a host's name of an event; "" means that the host does not have it. Of several names, ralph writes the
// first.
type eventName struct{ event, name string }

// hosts lists the known hosts, in the order in which a user would look for them.
var hosts = []*Host{&claudeCode, &codex, &gemini, &qwen, &copilot, &cursor, &droid, &vscode, &goose, &openHands, &kimi, &openCode, &kiro, &antigravity}

// detect returns the host that sent a hook input, judged by the input alone: the environment does not help, since
// several hosts set CLAUDE_PROJECT_DIR, nor does the file that registered the hook, since several hosts run the hooks
// in .claude/settings.json. Paths of session files count last, since a user can keep them anywhere.
func detect(in object) *Host {
	for _, h := range slices.Backward(hosts) { // others copied the marks of the first ones
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

// Lookup returns the host called name; ok is false unless it is one of [Names].
func Lookup(name string) (*Host, bool) {
	for _, h := range hosts {
		if h.Name == name {
			return h, true
		}
	}
	return nil, false
}

// SessionVariables returns the variables that hosts set for the programs of their agents.
func SessionVariables() (names []string) {
	for _, h := range hosts {
		names = append(names, h.Session...)
	}
	return names
}

// Names returns the names of the known hosts, in the order in which a user would look for them.
func Names() (names []string) {
	for _, h := range hosts {
		names = append(names, h.Name)
	}
	return names
}

// EventName returns the host's name of an event, or "" if the host does not have it.
func (h *Host) EventName(event string) string {
	for _, e := range h.events {
		if e.event == event {
			return e.name
		}
	}
	if (event == TaskCompleted || event == TeammateIdle) && !h.teams {
		return ""
	}
	return event
}

// EventOf returns the event that a host calls name. It reads an unknown name in camelCase as the same name in
// PascalCase.
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
