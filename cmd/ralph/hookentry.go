package main

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/shellwords"
)

// A hookEntry is one command that a settings file has a host run at an event.
type hookEntry struct {
	event   string
	group   int    // among those of the event
	index   int    // among those of the group
	flat    bool   // it stands in the list of the event itself, in the place of a group
	key     string // of the command
	words   []shellwords.Word
	guarded bool    // by guard, which is not among the words
	listed  bool    // the program has a list of arguments, without a shell
	text    string  // as users know it
	timeout float64 // in seconds; 0 if it does not say
	other   bool    // it is no command
}

// command is what the settings say of the command: a line for a shell, or a program
// and its arguments.
func (e hookEntry) command() []string {
	if !e.listed {
		return []string{e.text}
	}
	return texts(e.words)
}

// ends reports whether the event is the end of a session, on any host: asked twice there, a
// policy counts nothing twice.
func (e hookEntry) ends() bool { return strings.EqualFold(e.event, host.SessionEnd) }

// path leads to the entry in the settings.
func (e hookEntry) path(more ...any) []any {
	if e.flat {
		return append([]any{"hooks", e.event, e.group}, more...)
	}
	return append([]any{"hooks", e.event, e.group, "hooks", e.index}, more...)
}

// ralph reports whether the entry asks ralph, and which policies it names; none is
// the default policy.
func (e hookEntry) ralph() (policies []string, ok bool) {
	if len(e.words) < 2 || e.words[1].Text != "eval" || !isRalph(e.words[0].Text) {
		return nil, false
	}
	policies, _, _ = e.flags()
	return policies, true
}

// flags takes an entry of ralph apart: its policies, the values of params that it
// states, and what a user added to them.
func (e hookEntry) flags() (policies, set []string, further []shellwords.Word) {
	args := e.words[2:]
	for i := 0; i < len(args); i++ {
		name, value, ok := strings.Cut(args[i].Text, "=")
		if short, is := strings.CutPrefix(args[i].Text, "-p"); is && short != "" {
			name, value, ok = "-p", strings.TrimPrefix(short, "="), true
		}
		into := &policies
		switch name {
		case "--policy", "-p":
		case "--set":
			into = &set
		case "--scope":
			into = new([]string) // see forAll
		default:
			further = append(further, args[i])
			continue
		}
		if !ok && i+1 < len(args) {
			i++
			value, ok = args[i].Text, true
		}
		if ok {
			*into = append(*into, value)
		}
	}
	return policies, set, further
}

// deadlineOf gives the time limit that the flags of an entry state, else the usual one.
func deadlineOf(flags []string) time.Duration {
	for i, flag := range flags {
		value, ok := strings.CutPrefix(flag, "--deadline=")
		if flag == "--deadline" && i+1 < len(flags) {
			value, ok = flags[i+1], true
		}
		if d, err := time.ParseDuration(value); ok && err == nil && d > 0 {
			return d
		}
	}
	return defaultDeadline()
}

// deadline is when ralph gives up, as the entry starts it.
func (e hookEntry) deadline() time.Duration { return deadlineOf(texts(e.words)) }

func texts(words []shellwords.Word) []string {
	var all []string
	for _, w := range words {
		all = append(all, w.Text)
	}
	return all
}

// withoutDeadline leaves the time limit out of what a user added to an entry.
func withoutDeadline(added []shellwords.Word) []shellwords.Word {
	var rest []shellwords.Word
	for i := 0; i < len(added); i++ {
		switch text := added[i].Text; {
		case text == "--deadline":
			i++
		case !strings.HasPrefix(text, "--deadline="):
			rest = append(rest, added[i])
		}
	}
	return rest
}

// answersByStatus reports whether flags ask for --answer exit-code, with which
// status 2 is an answer.
func answersByStatus(flags []shellwords.Word) bool {
	by := false
	for i, flag := range flags {
		switch {
		case strings.HasPrefix(flag.Text, "--answer="):
			by = flag.Text == "--answer=exit-code"
		case flag.Text == "--answer" && i+1 < len(flags):
			by = flags[i+1].Text == "exit-code"
		}
	}
	return by
}

// forAll reports whether the entry says that it is for all projects.
func (e hookEntry) forAll() bool {
	i := slices.IndexFunc(e.words, func(w shellwords.Word) bool { return w.Text == "--scope" })
	return slices.ContainsFunc(e.words, func(w shellwords.Word) bool { return w.Text == "--scope="+scopeUser }) ||
		i >= 0 && i+1 < len(e.words) && e.words[i+1].Text == scopeUser
}

// isRalph reports whether a program is ralph: by its name, or because it is the one
// that runs here, whatever it is called.
func isRalph(program string) bool {
	if strings.TrimSuffix(strings.ToLower(baseName(program)), ".exe") == "ralph" {
		return true
	}
	self, err := os.Executable()
	return err == nil && filepath.IsAbs(program) && (program == self || sameFile(program, self))
}

// baseName is the last step of a path of any system.
func baseName(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// read takes the command of a hook apart.
func (e *hookEntry) read(handler map[string]any) {
	e.text, _ = handler[e.key].(string)
	args, ok := handler["args"].([]any)
	if !ok {
		line := strings.TrimSpace(e.text)
		line, e.guarded = strings.CutPrefix(line, guard)
		e.words = shellwords.Split(line)
		return
	}
	e.listed = true
	words := []string{e.text}
	for _, a := range args {
		word, _ := a.(string)
		words = append(words, word)
	}
	for _, word := range words {
		e.words = append(e.words, shellwords.Word{Text: word, Raw: quoteListed(runtime.GOOS, word)})
	}
	e.text = shellLine(words)
}

// quoteListed writes a word of a list of arguments for a shell. The host puts values
// in the place of ${NAME} there, as a shell does between double quotes.
func quoteListed(goos, word string) string {
	if !strings.Contains(word, "${") {
		return shellQuote(goos, word)
	}
	return `"` + strings.NewReplacer("${", "${", "$", `\$`, "`", "\\`", `"`, `\"`, `\`, `\\`).Replace(word) + `"`
}
