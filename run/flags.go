package run

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// cmdline completes a client's command line. It appends what ralph needs, after the client's flags with several values;
// the prompt goes to stdin, which accepts any length and where no flag can consume it.
type cmdline struct {
	client string
	args   []string
	flags  int // the index of its flags; before it may be a program that starts the client, such as npx
	err    error
}

// newCmdline parses args. names are those of the client's program and its packages.
func newCmdline(client string, args []string, names ...string) *cmdline {
	names = append(names, client)
	at := slices.IndexFunc(args, func(a string) bool { return slices.Contains(names, program(a)) })
	return &cmdline{client: client, args: slices.Clone(args), flags: max(at, 0) + 1}
}

// program returns the name of a program, or of a package with one, without a version.
func program(arg string) string {
	name := strings.ToLower(filepath.Base(filepath.ToSlash(arg)))
	name, _, _ = strings.Cut(name, "@")
	switch ext := filepath.Ext(name); ext {
	case ".exe", ".cmd", ".bat", ".ps1", ".js":
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

// find returns the index of the first of some flags, and its spelling; its value may follow an equals sign.
func (l *cmdline) find(names ...string) (at int, written string) {
	for i, a := range l.args {
		name, _, _ := strings.Cut(a, "=")
		if i >= l.flags && slices.Contains(names, name) {
			return i, name
		}
	}
	return -1, ""
}

// refuse reports flags that conflict with a run.
func (l *cmdline) refuse(why string, names ...string) {
	if _, written := l.find(names...); written != "" && l.err == nil {
		l.err = fmt.Errorf("%s: remove %s: %s", l.client, written, why)
	}
}

// refusePrompt reports a prompt in the agent's command line.
func (l *cmdline) refusePrompt(prompt string) {
	if l.err == nil {
		l.err = fmt.Errorf("%s: the run sets the prompt: remove %q here, and write --prompt %[2]q before the agent", l.client, prompt)
	}
}

// Reasons why flags are rejected.
const (
	ownPrompt  = "the run sets the prompt"
	ownSession = "each iteration has its own session, or continues the last one with --continue of ralph run"
)

// need adds a flag with a value unless args have it; names are its spellings, of which the first is added. Another
// value is an error.
func (l *cmdline) need(value string, names ...string) {
	at, written := l.find(names...)
	if at < 0 {
		l.args = append(l.args, names[0], value)
		return
	}
	_, got, ok := strings.Cut(l.args[at], "=")
	if !ok && at+1 < len(l.args) {
		got = l.args[at+1]
	}
	if got != value && l.err == nil {
		l.err = fmt.Errorf("%s: remove %s %s: the run reads what %s %s prints", l.client, written, got, written, value)
	}
}

// ask adds a flag without a value unless args have it; names are its spellings.
func (l *cmdline) ask(names ...string) {
	if at, _ := l.find(names...); at < 0 {
		l.args = append(l.args, names[0])
	}
}

// noPrompt removes a prompt flag without a value, as users of another client write it, and rejects one with a value.
func (l *cmdline) noPrompt(names ...string) {
	at, written := l.find(names...)
	switch {
	case at < 0:
	case l.args[at] == written && (at+1 == len(l.args) || strings.HasPrefix(l.args[at+1], "-")):
		l.args = slices.Delete(l.args, at, at+1)
	default:
		_, prompt, ok := strings.Cut(l.args[at], "=")
		if !ok {
			prompt = l.args[at+1]
		}
		l.refusePrompt(prompt)
	}
}

// flags lists the flags of a client that has no subcommands and takes a prompt as the value of -p.
type flags struct {
	prompts  []string // rejected: other ways to pass a prompt
	sessions []string // rejected: they choose a session
	format   []string // spellings of the flag for the output format
	records  string   // its value
	joined   bool     // --resume and its value are one argument
}

func (f flags) complete(l *cmdline, session string) {
	l.noPrompt("-p", "--prompt")
	l.refuse(ownPrompt, f.prompts...)
	l.refuse(ownSession, f.sessions...)
	l.need(f.records, f.format...)
	switch {
	case session == "":
	case f.joined:
		l.args = append(l.args, "--resume="+session)
	default:
		l.args = append(l.args, "--resume", session)
	}
}
