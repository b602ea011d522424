// Package hookfile describes as data how a host is set up to run hooks: where its settings are, what an entry of them looks
// like, and what the host asks its user for before it runs one. Package host has the data of each host, and host/setup
// follows it.
package hookfile

import "path/filepath"

// The scopes of a host's settings.
const (
	Project = "project" // for everybody who works on the project
	Local   = "local"   // for this user in this project
	User    = "user"    // for this user in all projects
	Managed = "managed" // of an administrator; ralph only reads it
)

// Path is a path of the user's own: what a variable names, else a path from the home directory, or from the host's own
// directory.
type Path struct{ Variable, Name string }

// In returns the path, given the directory that it is in; "" if neither that nor the variable is known.
func (p Path) In(getenv func(string) string, dir string) string {
	if named := getenv(p.Variable); named != "" || dir == "" {
		return named
	}
	return filepath.Join(dir, p.Name)
}

// Settings describes the settings of a host. The zero Settings are those of a host that ralph cannot be installed in.
type Settings struct {
	Dir     Path                     // of the host's own files
	Project string                   // the file of the scope Project, from the project
	Local   string                   // that of the scope Local, "" if the host has none
	User    string                   // that of the scope User, from Dir
	Managed func(goos string) string // that of the scope Managed, nil if the host has none

	ReadsOf    string   // another host whose settings the host reads too
	Reads      []string // the scopes of them
	ReadsWhere string   // a setting of the host that this needs, in words
	Starts     []string // patterns of further files of the project by which the host starts programs
	After      string   // which sessions use a new entry, if not all new ones
	Here       bool     // it reads the project's settings only where it is started, not in a subdirectory

	Form
	Beside []File // further files that the host needs, by their path from the settings file
	Trust  *Trust // nil if the host runs every entry
	Plugin Plugin
	// CapVariable sets after how many continuations without a tool call the host lets the agent stop, and CapUsual is that
	// number where it is not set. "" means that it cannot be set.
	CapVariable string
	CapUsual    int
}

// File is a file with a fixed text.
type File struct{ Name, Text string }

// A Form is how the settings hold hooks.
type Form struct {
	Flat     bool                     // the list of an event holds the hooks themselves, not groups of hooks
	Version  int                      // that a new file states, 0 for none
	Command  func(goos string) string // the key of a line for a shell, nil for "command"
	Timeout  string                   // the key of the time, "timeout" if empty, "-" if there is none
	Unit     int                      // of the time, in a second; 0 is 1
	Most     map[string]int           // the most seconds that the host waits at an event, if that is less than ralph asks for
	Loop     bool                     // at a stop, the entry lifts the host's own limit by "loop_limit": null
	Comments bool                     // the host takes comments in its settings
	List     bool                     // a hook can be a program with a list of arguments, without a shell
}

// Trust is what a host asks for before it runs the hooks of a project. PROJECT in a text is the project's directory.
type Trust struct {
	What, Fix string // for people: what the host does without trust in the directory, and how to give it

	Switch  string // the file in Settings.Dir whose security.folderTrust.enabled says whether the host asks for trust
	Asks    bool   // it does so if the file does not say
	Env     string // NAME=VALUE that trusts the project
	Folders Path   // the file with the trusted directories, from Settings.Dir
	Key     string // of a list of directories in it; "" for an object of directories with levels

	// A host that trusts entries one by one is a program that lists them: List is its command line, and Ask what it reads.
	List             []string
	Ask              []string // JSON, one a line; the one with the ID 2 asks for the hooks
	Maybe            string   // What, where the program cannot be started
	Entry, EntryFix  string   // as What and Fix, for an entry that is not trusted
	Disabled, Enable string   // and for one that is switched off
}

// Plugin is how a host keeps ralph's own plugin.
type Plugin struct {
	Remove string                // the command that removes it; "" if the host has none
	Key    string                // of an object in the settings, whose fields switch plugins on and off
	File   string                // the file in Settings.Dir that says whether it is on
	On     func(src string) bool // reports whether the file says so; nil: the file exists
}
