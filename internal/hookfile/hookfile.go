// Package hookfile describes hosts' hook settings as data: where they are, the form of an entry, and what a host needs
// from its user before it runs one. Package host has the data of each host, and host/setup uses it. Start with
// [Settings].
package hookfile

import "path/filepath"

// The scopes of a host's settings.
const (
	Project = "project" // for everyone who works on the project
	Local   = "local"   // for this user in this project
	User    = "user"    // for this user in all projects
	Managed = "managed" // an administrator's; ralph only reads it
)

// Path is a user's path: the value of a variable, otherwise a path relative to the home directory, or to the host's own
// directory.
type Path struct{ Variable, Name string }

// In returns the path, relative to dir; "" if neither that nor the variable is set.
func (p Path) In(getenv func(string) string, dir string) string {
	if named := getenv(p.Variable); named != "" || dir == "" {
		return named
	}
	return filepath.Join(dir, p.Name)
}

// Settings describes the settings of a host. The zero value is for a host into which ralph cannot be installed.
type Settings struct {
	Program string                   // that starts the host, found on the PATH
	Dir     Path                     // of the host's own files
	Project string                   // file of scope Project, relative to the project
	Local   string                   // file of scope Local, or ""
	User    string                   // file of scope User, relative to Dir
	Managed func(goos string) string // file of scope Managed; may be nil

	ReadsOf    string   // another host whose settings the host also reads
	Reads      []string // their scopes
	ReadsWhere string   // a setting of the host that this requires, in words
	Starts     []string // patterns of other files of the project with programs that the host starts
	After      string   // which sessions use a new entry, if not all new ones
	Here       bool     // it reads the project's settings only if started in its root
	Goal       string   // its own command for a goal, until which it continues the agent; "" if it has none

	Form
	Beside []File // other files that the host needs, by their path relative to the settings file
	Trust  *Trust // nil if the host runs every entry
	Plugin Plugin
	Cap    Cap
}

// Cap is the host's own limit, whatever a hook answers.
type Cap struct {
	Most     int    // continuations of a turn after which the host lets the agent stop; 0 if there is no limit, or none is known
	PerTool  bool   // a call of a tool begins the count again
	Variable string // that sets another number, "" if none does
}

// File is a file with fixed content.
type File struct{ Name, Text string }

// A Form is the form of hooks in the settings.
type Form struct {
	TOML     bool                     // the settings are TOML, not JSON
	Listed   string                   // the settings have one list of hooks, each with its event in this field; "" if each event has a list
	Action   string                   // the field of a hook that has its type and command, "" if these are fields of the hook
	Named    bool                     // the lists of events are in groups with a name of their own; ralph's is "ralph"
	Flat     bool                     // the list of an event has hooks instead of groups of hooks
	Untyped  bool                     // a hook has no type
	Version  string                   // for a new file, as JSON; "" for none
	Name     string                   // the field for the name of a hook, "" if it has none
	Args     []string                 // of ralph eval, for what the host's input does not show
	Command  func(goos string) string // the key of a shell command, nil for "command"
	Timeout  string                   // the key of the timeout, "timeout" if empty, "-" if there is none
	Unit     int                      // timeout units in a second; 0 is 1
	Most     map[string]int           // the host's maximum timeout of an event in seconds, if it is less than ralph's
	Loop     bool                     // at a stop, the entry lifts the host's own limit with "loop_limit": null
	Comments bool                     // the settings may have comments
	List     bool                     // a hook can be a program with a list of arguments
}

// Trust is what a host needs before it runs the hooks of a project. PROJECT in a text is the project's directory.
type Trust struct {
	What, Fix string // for users: what the host does without trust in the directory, and how to give it

	Switch  string // the file in Settings.Dir whose security.folderTrust.enabled enables trust
	Asks    bool   // the default of that
	Env     string // NAME=VALUE that trusts the project
	Folders Path   // the file with the trusted directories, relative to Settings.Dir
	Key     string // of a list of directories in it; "" for an object of directories with levels

	// A host that trusts individual entries has a program that lists them: List is its command line, and Ask its input.
	List             []string
	Ask              []string // JSON, one a line; the one with the ID 2 asks for the hooks
	Maybe            string   // like What, if the program cannot be started
	Entry, EntryFix  string   // like What and Fix, for an untrusted entry
	Disabled, Enable string   // and for a disabled one
}

// Plugin is a host's data about ralph's own plugin.
type Plugin struct {
	Remove string                // the command that removes it; may be ""
	Key    string                // of an object in the settings whose fields enable plugins
	File   string                // the file in Settings.Dir that enables it
	On     func(src string) bool // reports whether the file enables it; nil: by its existence
}
