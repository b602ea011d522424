package setup

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/shellwords"
	"github.com/ralph-sdk/ralph/internal/workspace"
)

// guard stands before a command line of ralph: no shell line that begins with it ends
// with status 2, which hosts read as "continue". Go ends with 2 if it crashes before
// any code of the program has run, and so do some shells that cannot start a process.
const guard = "trap '[ $? -ne 2 ] || exit 1' EXIT; "

// hookTimeout is how long the host waits for one answer, in seconds. ralph answers sooner:
// it lets the agent stop at its own deadline, which this must exceed.
const hookTimeout = 60

// leastTimeout is the least that an entry may say where ralph gives up after deadline,
// in seconds.
func leastTimeout(deadline time.Duration) int { return int(math.Ceil(deadline.Seconds())) + 5 }

// Timeout returns what an entry for an event says for that deadline, in the unit of the host.
func (g Host) Timeout(event string, deadline time.Duration) int {
	return g.accepted(event, max(hookTimeout, leastTimeout(deadline))) * max(g.Settings.Unit, 1)
}

// accepted is how many seconds the host waits at an event where an entry asks for more.
func (g Host) accepted(event string, seconds int) int {
	if most := g.Settings.Most[host.EventOf(event)]; most > 0 {
		return min(seconds, most)
	}
	return seconds
}

// An Entry is one command that a settings file has a host run at an event.
type Entry struct {
	Event   string
	group   int  // among those of the event
	index   int  // among those of the group
	flat    bool // it is an item of the list of the event itself, instead of a group
	env     Env
	key     string // of the command
	words   []shellwords.Word
	Guarded bool    // by guard, which is not among the words
	listed  bool    // the program has a list of arguments, without a shell
	Text    string  // as users know it
	Timeout float64 // in seconds; 0 if it does not say
	Other   bool    // it is no command
}

// command is what the settings say of the command: a line for a shell, or a program
// and its arguments.
func (e Entry) command() []string {
	if !e.listed {
		return []string{e.Text}
	}
	return texts(e.words)
}

// Ends reports whether the event is the end of a session, on any host: asked twice there, a
// policy counts nothing twice.
func (e Entry) Ends() bool { return strings.EqualFold(e.Event, host.SessionEnd) }

// path leads to the entry in the settings.
func (e Entry) path(more ...any) []any {
	if e.flat {
		return append([]any{"hooks", e.Event, e.group}, more...)
	}
	return append([]any{"hooks", e.Event, e.group, "hooks", e.index}, more...)
}

// Ralph reports whether the entry asks ralph, and returns the policies that it names, or the default one.
func (e Entry) Ralph() (policies []string, ok bool) {
	if len(e.words) < 2 || e.words[1].Text != "eval" || !isRalph(e.words[0].Text) {
		return nil, false
	}
	return workspace.OrDefault(valuesOf(e.flags(), "--policy")), true
}

// Asks reports whether the entry asks ralph for just these policies; none is the default one.
func (e Entry) Asks(policies []string) bool {
	asked, ok := e.Ralph()
	return ok && slices.Equal(asked, workspace.OrDefault(policies))
}

// Set returns the values of params that an entry of ralph states, as name=value.
func (e Entry) Set() []string { return valuesOf(e.flags(), "--set") }

// ByStatus reports whether an entry of ralph answers by its exit status, so that status 2 is an answer.
func (e Entry) ByStatus() bool { return answersByStatus(e.flags()) }

// Program returns the program that an entry of ralph runs.
func (e Entry) Program() string { return e.words[0].Text }

// A flag is one of the command line, with the places of its words.
type flag struct {
	name, value string
	start, end  int
}

// flagsOf takes the flags of a command line apart.
func flagsOf(words []string) (all []flag) {
	for i := 0; i < len(words); i++ {
		f := flag{start: i}
		var stated bool
		f.name, f.value, stated = strings.Cut(words[i], "=")
		if short, is := strings.CutPrefix(words[i], "-p"); is {
			f.name, f.value, stated = "--policy", strings.TrimPrefix(short, "="), short != ""
		}
		switch f.name {
		case "--policy", "--set", "--scope", "--deadline", "--answer":
			if !stated && i+1 < len(words) {
				i++
				f.value = words[i]
			}
		}
		f.end = i + 1
		all = append(all, f)
	}
	return all
}

// valuesOf lists the values of a flag.
func valuesOf(flags []flag, name string) (values []string) {
	for _, f := range flags {
		if f.name == name {
			values = append(values, f.value)
		}
	}
	return values
}

// flags are those of an entry of ralph.
func (e Entry) flags() []flag { return flagsOf(texts(e.words)) }

// added are the words that a user added to an entry of ralph, but for flags of that name.
func (e Entry) added(without string) (words []shellwords.Word) {
	for _, f := range e.flags()[min(2, len(e.words)):] { // behind the program and eval
		if !slices.Contains([]string{"--policy", "--set", "--scope", without}, f.name) {
			words = append(words, e.words[f.start:f.end]...)
		}
	}
	return words
}

// InProject reports whether the program of an entry of ralph lies in the project, by its path or by its links. Hosts name the
// project in a variable.
func (e Entry) InProject() bool {
	program := filepath.FromSlash(os.Expand(e.Program(), func(name string) string {
		if strings.HasSuffix(name, "_PROJECT_DIR") {
			return e.env.Project
		}
		return e.env.getenv(name)
	}))
	if !filepath.IsAbs(program) {
		program = filepath.Join(e.env.Project, program)
	}
	resolved, err := filepath.EvalSymlinks(program)
	return workspace.Beneath(e.env.Project, program) || err == nil && workspace.Beneath(e.env.Project, resolved)
}

// deadlineOf returns the time limit that flags state, else the usual one.
func (in Env) deadlineOf(flags []flag) time.Duration {
	for _, value := range valuesOf(flags, "--deadline") {
		if d, err := time.ParseDuration(value); err == nil && d > 0 {
			return d
		}
	}
	return in.Deadline
}

// Deadline is when ralph gives up, as the entry starts it.
func (e Entry) Deadline() time.Duration { return e.env.deadlineOf(e.flags()) }

func texts(words []shellwords.Word) []string {
	var all []string
	for _, w := range words {
		all = append(all, w.Text)
	}
	return all
}

// answersByStatus reports whether flags ask for --answer exit-code, with which status 2 is an answer.
func answersByStatus(flags []flag) bool {
	values := valuesOf(flags, "--answer")
	return len(values) > 0 && values[len(values)-1] == "exit-code"
}

// ForAll reports whether the entry says that it is for all projects.
func (e Entry) ForAll() bool { return slices.Contains(valuesOf(e.flags(), "--scope"), ScopeUser) }

// isRalph reports whether a program is ralph: by its name, or because it is the one
// that runs here, whatever it is called.
func isRalph(program string) bool {
	if strings.TrimSuffix(strings.ToLower(baseName(program)), ".exe") == "ralph" {
		return true
	}
	self, err := os.Executable()
	return err == nil && filepath.IsAbs(program) && (program == self || workspace.SameFile(program, self))
}

// baseName is the last step of a path of any system.
func baseName(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// read takes the command of a hook apart.
func (e *Entry) read(handler map[string]any) {
	e.Text, _ = handler[e.key].(string)
	args, ok := handler["args"].([]any)
	if !ok {
		line := strings.TrimSpace(e.Text)
		line, e.Guarded = strings.CutPrefix(line, guard)
		e.words = shellwords.Split(line)
		return
	}
	e.listed = true
	words := []string{e.Text}
	for _, a := range args {
		word, _ := a.(string)
		words = append(words, word)
	}
	for _, word := range words {
		e.words = append(e.words, shellwords.Word{Text: word, Raw: quoteListed(runtime.GOOS, word)})
	}
	e.Text = shellwords.Line(words)
}

// quoteListed writes a word of a list of arguments for a shell. The host replaces
// ${NAME} there, as a shell does between double quotes.
func quoteListed(goos, word string) string {
	if !strings.Contains(word, "${") {
		return shellwords.Quote(goos, word)
	}
	return `"` + strings.NewReplacer("${", "${", "$", `\$`, "`", "\\`", `"`, `\"`, `\`, `\\`).Replace(word) + `"`
}

// SetOf returns the values of params that the entries for just these policies state.
func SetOf(entries []Entry, policies []string) (set []string) {
	for _, e := range entries {
		if e.Asks(policies) {
			set = SetOver(set, e.Set())
		}
	}
	return set
}

// SetOver puts values over others of the same params, each in its place, as name=value.
func SetOver(set, over []string) []string {
	set = slices.Clone(set)
	for _, v := range over {
		name, _, _ := strings.Cut(v, "=")
		i := slices.IndexFunc(set, func(old string) bool { return strings.HasPrefix(old, name+"=") })
		if i < 0 {
			set = append(set, v)
		} else {
			set[i] = v
		}
	}
	return set
}
