package run

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// cmdline is a command line of a client that is being completed. What ralph needs is added at its end, where the client's
// flags that take several values end; the prompt goes by stdin, where no flag can take it, and of any length.
type cmdline struct {
	client string
	args   []string
	flags  int // where its own begin; what is before may be a program that starts it, such as npx
	err    error
}

// newCmdline takes the names of the client's program, and of its packages.
func newCmdline(client string, args []string, names ...string) *cmdline {
	names = append(names, client)
	at := slices.IndexFunc(args, func(a string) bool { return slices.Contains(names, program(a)) })
	return &cmdline{client: client, args: slices.Clone(args), flags: max(at, 0) + 1}
}

// program is the name of a program, or of a package of one, without a version.
func program(arg string) string {
	name := strings.ToLower(filepath.Base(filepath.ToSlash(arg)))
	name, _, _ = strings.Cut(name, "@")
	switch ext := filepath.Ext(name); ext {
	case ".exe", ".cmd", ".bat", ".ps1", ".js":
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

// find gives the place of the first of some flags, and how it is written; its value may follow an equals sign.
func (l *cmdline) find(names ...string) (at int, written string) {
	for i, a := range l.args {
		name, _, _ := strings.Cut(a, "=")
		if i >= l.flags && slices.Contains(names, name) {
			return i, name
		}
	}
	return -1, ""
}

// refuse refuses flags that cannot be combined with a run.
func (l *cmdline) refuse(why string, names ...string) {
	if _, written := l.find(names...); written != "" && l.err == nil {
		l.err = fmt.Errorf("%s: leave out %s: %s", l.client, written, why)
	}
}

// refusePrompt refuses a prompt in the agent's command line.
func (l *cmdline) refusePrompt(prompt string) {
	if l.err == nil {
		l.err = fmt.Errorf("%s: the run gives the prompt: leave out %q here, and write --prompt %[2]q before the agent", l.client, prompt)
	}
}

// Why flags are refused.
const (
	ownPrompt  = "the run gives the prompt"
	ownSession = "each iteration has a session of its own, or goes on with the last one with --continue of ralph run"
)

// need adds a flag with a value, unless it is there; names are how it is written, the first is added. Another value is refused.
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
		l.err = fmt.Errorf("%s: leave out %s %s: the run reads what %s %s prints", l.client, written, got, written, value)
	}
}

// ask adds a flag without a value, unless it is there; names are how it is written.
func (l *cmdline) ask(names ...string) {
	if at, _ := l.find(names...); at < 0 {
		l.args = append(l.args, names[0])
	}
}

// noPrompt takes out a flag for the prompt that has none, as users of another client write it, and refuses one that has.
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

// flags are those of a client that has no subcommands, and takes a prompt as the value of -p.
type flags struct {
	prompts  []string // refused: they give the prompt in another way
	sessions []string // refused: they choose a session
	format   []string // how the flag for the form of the output is written
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
