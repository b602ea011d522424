package host

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/ralph-sdk/ralph/loop"
)

// The names of the hosts.
const (
	JSON       = "json" // the portable form: Claude Code's names, for wrappers and hosts that have no row
	ClaudeCode = "claude-code"
)

// Host is one row of the table of hosts: a protocol, as data. Its methods are pure and safe for concurrent use. [Lookup] and [Decode]
// return one; rows do not change. The zero value knows no field and writes no answer.
type Host struct {
	Name     string   // as --host takes it
	Title    string   // as its vendor writes it
	Session  []string // variables that it sets for the programs of its agent; that none is set proves nothing
	Settings Settings

	marks  []string          // fields of an input that show that it is this host's
	fields map[string]string // its names of fields, where they are not Claude Code's
	events map[string]string // ralph's names of its events, where they differ
	prompt prompt
	answer answer
	limit  limit

	sessions string // the directory of its session files, by projects, below its own; "": ralph does not know it
	tasks    string // that of its task lists

	refine func(in object, ev *loop.Event) // what no column says; nil: nothing
}

// prompt says by which fields of its input a host tells one prompt from the next. The first that the input has counts.
type prompt struct {
	id    string // an ID of the prompt
	text  string // the prompt itself, which stays the same in all its continuations
	count string // a number of continuations, which begins with 0
	flag  bool   // stop_hook_active is right
}

// answer says where a host reads an answer. A place is a field, or a field below hookSpecificOutput.
type answer struct {
	decision map[string]any // places and their values that make the agent continue
	reason   []string       // places of the reason
	notice   string         // place of the text for the person; "": the host shows none, so it goes to stderr
	note     []string       // places of the text beside a prompt
	submit   map[string]any // what goes with a note
}

// limit is the host's own limit on continuations.
type limit struct {
	most     int    // continuations after which it ends a turn; 0: never
	perTool  bool   // the use of a tool begins the count again
	variable string // that sets another number; "": none does
}

// portable is the answer that most hosts read.
var portable = answer{
	decision: map[string]any{"decision": "block"},
	reason:   []string{"reason"},
	notice:   "systemMessage",
	note:     []string{specific + ".additionalContext"},
}

// hosts is the table. Input is taken for the first host with a mark in it.
var hosts = []*Host{
	{
		Name: ClaudeCode, Title: "Claude Code",
		Session: []string{"CLAUDECODE"},
		marks:   []string{"prompt_id", "background_tasks", "session_crons", "hook_event_name"},
		prompt:  prompt{id: "prompt_id", flag: true},
		answer:  portable, sessions: "projects", tasks: "tasks",
		limit: limit{most: 8, perTool: true, variable: "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"},
		Settings: Settings{
			Project: ".claude/settings.json", Local: ".claude/settings.local.json", User: "settings.json",
			Dir: ".claude", Variable: "CLAUDE_CONFIG_DIR",
			arguments: true, off: "disableAllHooks",
		},
		refine: summary,
	},
	{
		Name: JSON, Title: "the portable form",
		prompt: prompt{id: "prompt_id", flag: true},
		answer: portable,
	},
}

// summary gives the event a name of its own by which Claude Code, when it summarizes the conversation, ends an agent without a type.
func summary(in object, ev *loop.Event) {
	if _, there := in["agent_type"]; ev.Name == subagentStop && there && in.text("agent_type") == "" {
		ev.Name = "Summary"
	}
}

// Lookup returns the host of a name.
func Lookup(name string) (*Host, bool) {
	i := slices.IndexFunc(hosts, func(h *Host) bool { return h.Name == name })
	if i < 0 {
		return nil, false
	}
	return hosts[i], true
}

// Names returns the names of the hosts, the portable form last.
func Names() []string {
	var names []string
	for _, h := range hosts {
		names = append(names, h.Name)
	}
	return names
}

// detect returns the host that sends such an input, or the portable form. The environment does not help: hosts set each other's variables.
func detect(in object) *Host {
	for _, h := range hosts {
		if slices.ContainsFunc(h.marks, func(mark string) bool { _, there := in[mark]; return there }) {
			return h
		}
	}
	return hosts[len(hosts)-1]
}

// InSession returns the variable that shows that this program was started by an agent, or "". It is for messages and refusals that a
// person can get around: a person's shell below an agent has the variable too, and some hosts set none.
func InSession(env func(string) string) string {
	for _, h := range hosts {
		for _, name := range h.Session {
			if env(name) != "" {
				return name
			}
		}
	}
	return ""
}

// Limit returns after how many continuations of a prompt the host ends the turn, whatever it is answered; 0 is never. With perTool, the
// use of a tool begins the count again.
func (h *Host) Limit(env func(string) string) (most int, perTool bool) {
	most = h.limit.most
	if n, err := strconv.Atoi(env(h.limit.variable)); h.limit.variable != "" && err == nil {
		most = max(n, 0)
	}
	return most, h.limit.perTool
}

// Settings says where a host has its settings. The zero value is for a host in which ralph cannot be installed.
type Settings struct {
	Project string // for all who work on the project, below it
	Local   string // for one person in the project, below it; "": the host has none
	User    string // for one person in all projects, below the host's own directory

	Dir      string // the host's own directory, below the home directory
	Variable string // that names another one; "": none does

	arguments bool   // a hook can be a program with a list of arguments
	comments  bool   // it reads JSON with comments and trailing commas
	off       string // the field that, if it is true, turns all hooks off
}

// UserFile returns the path of the person's own settings, or "" if there is none.
func (h *Host) UserFile(env func(string) string) string { return h.own(env, h.Settings.User) }

// own returns the path of a file in the host's own directory, or "" if that is not known.
func (h *Host) own(env func(string) string, name string) string {
	dir := ""
	if h.Settings.Variable != "" {
		dir = env(h.Settings.Variable)
	}
	if home := cmp.Or(env("HOME"), env("USERPROFILE")); dir == "" && home != "" && h.Settings.Dir != "" {
		dir = filepath.Join(home, h.Settings.Dir)
	}
	if !filepath.IsAbs(dir) || name == "" {
		return ""
	}
	return filepath.Join(dir, filepath.FromSlash(name))
}
