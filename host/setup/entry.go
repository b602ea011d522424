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

// guard precedes ralph's command line: no shell line that begins with it ends with status 2, which hosts read as
// "continue". Go exits with 2 if it crashes before any code of the program has run, and so do some shells that cannot
// start a process.
const guard = "trap '[ $? -ne 2 ] || exit 1' EXIT; "

// hookTimeout is how long the host waits for an answer, in seconds. It must exceed ralph's own deadline, at which ralph
// lets the agent stop.
const hookTimeout = 60

// leastTimeout returns the minimum timeout of an entry for a deadline, in seconds.
func leastTimeout(deadline time.Duration) int { return int(math.Ceil(deadline.Seconds())) + 5 }

// Timeout returns the timeout of an entry for an event and a deadline, in the host's unit.
func (g Host) Timeout(event string, deadline time.Duration) int {
	return g.accepted(event, max(hookTimeout, leastTimeout(deadline))) * max(g.Settings.Unit, 1)
}

// accepted returns how many seconds the host waits at an event if an entry asks for seconds.
func (g Host) accepted(event string, seconds int) int {
	if most := g.Settings.Most[host.EventOf(event)]; most > 0 {
		return min(seconds, most)
	}
	return seconds
}

// An Entry is one command that a host runs at an event according to a settings file.
type Entry struct {
	Event   string
	at      []any // the path of the hook in the settings
	action  []any // the path of its command, without key
	env     Env
	own     []string // arguments that the host needs
	key     string   // of the command
	words   []shellwords.Word
	Guarded bool    // by guard, which words do not include
	listed  bool    // a program with a list of arguments, without a shell
	Text    string  // as users know it
	Timeout float64 // in seconds; 0 if not set
	Other   bool    // it is not a command
}

// command returns the command in the settings: a line for a shell, or a program and its arguments.
func (e Entry) command() []string {
	if !e.listed {
		return []string{e.Text}
	}
	return texts(e.words)
}

// Ends reports whether the event is the end of a session, on any host. Evaluating a policy twice there counts nothing
// twice.
func (e Entry) Ends() bool { return strings.EqualFold(e.Event, host.SessionEnd) }

// Ralph reports whether the entry runs ralph, and returns the policies that it names, or the default one.
func (e Entry) Ralph() (policies []string, ok bool) {
	if len(e.words) < 2 || e.words[1].Text != "eval" || !isRalph(e.words[0].Text) {
		return nil, false
	}
	return workspace.OrDefault(valuesOf(e.flags(), "--policy")), true
}

// Asks reports whether the entry runs ralph for exactly these policies; none means the default one.
func (e Entry) Asks(policies []string) bool {
	asked, ok := e.Ralph()
	return ok && slices.Equal(asked, workspace.OrDefault(policies))
}

// Once reports whether an entry of ralph is for one loop of its policy, and is taken away when that ends.
func (e Entry) Once() bool {
	return slices.ContainsFunc(e.flags(), func(f flag) bool { return f.name == "--once" })
}

// Here reports whether an entry of ralph is for the project in which it is read: it names no other one.
func (e Entry) Here() bool {
	named := valuesOf(e.flags(), "--project")
	return len(named) == 0 || workspace.SameFile(named[len(named)-1], e.env.Project)
}

// Set returns the values of params in an entry of ralph, as name=value.
func (e Entry) Set() []string { return valuesOf(e.flags(), "--set") }

// ByStatus reports whether an entry of ralph answers with its exit status, so that status 2 is an answer.
func (e Entry) ByStatus() bool { return answersByStatus(e.flags()) }

// Program returns the program that an entry of ralph runs.
func (e Entry) Program() string { return e.words[0].Text }

// A flag is a flag of a command line, with the indexes of its words.
type flag struct {
	name, value string
	start, end  int
}

// flagsOf parses the flags of a command line.
func flagsOf(words []string) (all []flag) {
	for i := 0; i < len(words); i++ {
		f := flag{start: i}
		var stated bool
		f.name, f.value, stated = strings.Cut(words[i], "=")
		if short, is := strings.CutPrefix(words[i], "-p"); is {
			f.name, f.value, stated = "--policy", strings.TrimPrefix(short, "="), short != ""
		}
		switch f.name {
		case "--policy", "--set", "--scope", "--deadline", "--answer", "--project", "--host":
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

// valuesOf returns the values of a flag.
func valuesOf(flags []flag, name string) (values []string) {
	for _, f := range flags {
		if f.name == name {
			values = append(values, f.value)
		}
	}
	return values
}

// flags returns the flags of an entry of ralph.
func (e Entry) flags() []flag { return flagsOf(texts(e.words)) }

// added returns the words that a user added to an entry of ralph, except flags with the given name.
func (e Entry) added(without string) (words []shellwords.Word) {
	for _, f := range e.flags()[min(2, len(e.words)):] { // after the program and eval
		if !slices.Contains([]string{"--policy", "--set", "--scope", "--once", without}, f.name) && (f.name != "--project" || !e.Once()) && !slices.Contains(e.own, f.name) {
			words = append(words, e.words[f.start:f.end]...)
		}
	}
	return words
}

// InProject reports whether the program of an entry of ralph is in the project, by its path or by its links. Hosts name
// the project in a variable.
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

// deadlineOf returns the deadline in flags, otherwise the default.
func (in Env) deadlineOf(flags []flag) time.Duration {
	for _, value := range valuesOf(flags, "--deadline") {
		if d, err := time.ParseDuration(value); err == nil && d > 0 {
			return d
		}
	}
	return in.Deadline
}

// Deadline returns ralph's deadline when the entry starts it.
func (e Entry) Deadline() time.Duration { return e.env.deadlineOf(e.flags()) }

func texts(words []shellwords.Word) []string {
	var all []string
	for _, w := range words {
		all = append(all, w.Text)
	}
	return all
}

// answersByStatus reports whether flags have --answer exit-code, with which status 2 is an answer.
func answersByStatus(flags []flag) bool {
	values := valuesOf(flags, "--answer")
	return len(values) > 0 && values[len(values)-1] == "exit-code"
}

// ForAll reports whether the entry is for all projects.
func (e Entry) ForAll() bool { return slices.Contains(valuesOf(e.flags(), "--scope"), ScopeUser) }

// isRalph reports whether a program is ralph: by its name, or because it is this program, whatever its name.
func isRalph(program string) bool {
	if strings.TrimSuffix(strings.ToLower(baseName(program)), ".exe") == "ralph" {
		return true
	}
	self, err := os.Executable()
	return err == nil && filepath.IsAbs(program) && (program == self || workspace.SameFile(program, self))
}

// baseName returns the last step of a path of any system.
func baseName(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// read parses the command of a hook.
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

// quoteListed returns an argument of a list, quoted for a shell. The host replaces ${NAME} in it, as a shell does
// between double quotes.
func quoteListed(goos, word string) string {
	if !strings.Contains(word, "${") {
		return shellwords.Quote(goos, word)
	}
	return `"` + strings.NewReplacer("${", "${", "$", `\$`, "`", "\\`", `"`, `\"`, `\`, `\\`).Replace(word) + `"`
}

// SetOf returns the values of params in the entries for exactly these policies.
func SetOf(entries []Entry, policies []string) (set []string) {
	for _, e := range entries {
		if e.Asks(policies) {
			set = SetOver(set, e.Set())
		}
	}
	return set
}

// SetOver returns set with the values of over, which replace those of the same params, as name=value.
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
