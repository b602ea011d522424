package host

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-sdk/ralph/internal/text"
	"github.com/ralph-sdk/ralph/loop"
)

// Host is one row of the table of hosts: a protocol, as data. Its methods are pure and safe for concurrent use. [Lookup] and [Decode]
// return one; rows do not change. The zero value knows no field and writes no answer.
type Host struct {
	Name       string   // as --host takes it
	Title      string   // as its vendor writes it
	Documented bool     // it is known by its documentation: no test runs it, and it is taken only by its name
	Gate       string   // what it wants of its person before it runs a hook, in one sentence; "": nothing
	Session    []string // variables that it sets for the programs of its agent; that none is set proves nothing
	Settings   Settings

	marks  []string          // fields of an input that show that it is this host's
	fields map[string]string // its names of fields, where they are not Claude Code's
	events map[string]string // its names of events, where they differ; "": it has no such hook
	roots  string            // a field with directories, of which the first is the project
	prompt prompt
	answer answer
	limit  limit
	file   sessionFiles
	tasks  string // the directory of its task lists, below its own

	refine func(in object, ev *loop.Event) // what no column says; nil: nothing
}

// prompt says by which fields of its input one prompt of a host differs from the next. The first that the input has counts.
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

// sessionFiles says how a host keeps conversations. The zero value is for one whose files ralph does not read.
type sessionFiles struct {
	read    func(line []byte, subagent bool) (entry, bool) // reads a record
	pattern string                                         // of their paths below the host's own directory, with SESSION; "": not known
}

// Lookup returns the host of a name. Its error lists the names, or has the one that was meant.
func Lookup(name string) (*Host, error) {
	i := slices.IndexFunc(hosts, func(h *Host) bool { return h.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("there is no host %q; %s", name, cmp.Or(text.Nearest(name, Names()), "write one of "+strings.Join(Names(), ", ")))
	}
	return hosts[i], nil
}

// Names returns the names of the hosts, the portable form last.
func Names() []string {
	var names []string
	for _, h := range hosts {
		names = append(names, h.Name)
	}
	return names
}

// detect returns the host that sends such an input, or the portable form. Hosts at the end of the table copied what the first ones send.
// The environment does not help: hosts set each other's variables.
func detect(in object) *Host {
	event := in.text("hook_event_name")
	for _, h := range slices.Backward(hosts) {
		marked := slices.ContainsFunc(h.marks, func(mark string) bool { _, there := in[mark]; return there })
		if marked || h.ours(event) != event && !h.Documented {
			return h
		}
	}
	return hosts[len(hosts)-1]
}

// theirs returns the host's name of an event, "" if it has no such hook.
func (h *Host) theirs(event string) string {
	if name, ok := h.events[event]; ok {
		return name
	}
	return event
}

// ours returns ralph's name of an event that a host names.
func (h *Host) ours(event string) string {
	for name, theirs := range h.events {
		if theirs == event && event != "" {
			return name
		}
	}
	return event
}

// Lacks returns those of some events at which the host runs no hook that ralph can answer.
func (h *Host) Lacks(events []string) []string {
	return slices.DeleteFunc(slices.Clone(events), func(e string) bool { return h.theirs(e) != "" })
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

// Limit returns after how many continuations of a prompt the host ends the turn, and a sentence that says so; 0 is never.
func (h *Host) Limit(env func(string) string) (most int, says string) {
	most = h.limit.most
	if n, err := strconv.Atoi(env(h.limit.variable)); err == nil {
		most = max(n, 0)
	}
	if most == 0 {
		return 0, ""
	}
	says = fmt.Sprintf("%s ends the turn after %d continuations, whatever ralph answers", h.Title, most)
	if most == 1 {
		says = h.Title + " ends the turn after one continuation, whatever ralph answers"
	}
	if h.limit.perTool {
		says += "; the use of a tool begins the count again"
	}
	return most, says + "."
}

// Settings says where a host has its settings, and the form of an entry in them. The zero value is for a host in which ralph cannot be
// installed.
type Settings struct {
	Project string // for all who work on the project, below it
	Local   string // for one person in the project, below it; "": the host has none
	User    string // for one person in all projects, below the host's own directory

	Dir      string // the host's own directory, below the home directory
	Variable string // that names another one; "": none does

	TOML   bool   // ralph does not edit them: see [Manual]
	Beside []File // that the host needs too

	comments bool // it reads JSON with comments and trailing commas

	hook      string // the form of a hook: JSON with COMMAND, TIMEOUT and EVENT
	arguments bool   // a hook can be a program with a list of arguments
	unit      int    // timeouts in a second; 0 is 1
	flat      bool   // an event has a list of hooks instead of groups of them
	listed    bool   // there is one list of hooks of all events
	root      string // the field with the hooks; "" is hooks
	version   string // a field of that name that a new file needs, as JSON; "": none
}

// File is a file with a fixed text, at a path relative to the settings.
type File struct{ Name, Text string }

// Installable reports whether ralph knows settings of the host.
func (h *Host) Installable() bool { return h.Settings.Project != "" || h.Settings.User != "" }

// UserFile returns the path of the person's own settings, or "" if there is none.
func (h *Host) UserFile(env func(string) string) string { return h.own(env, h.Settings.User) }

// own returns the path of a file in the host's own directory, or "" if that is not known.
func (h *Host) own(env func(string) string, name string) string {
	dir := env(h.Settings.Variable) // no variable has no name
	if home := cmp.Or(env("HOME"), env("USERPROFILE")); dir == "" && home != "" && h.Settings.Dir != "" {
		dir = filepath.Join(home, h.Settings.Dir)
	}
	if !filepath.IsAbs(dir) || name == "" {
		return ""
	}
	return filepath.Join(dir, filepath.FromSlash(name))
}
