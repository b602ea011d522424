package approval

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/shellwords"
	"github.com/ralph-sdk/ralph/rules"
)

// An interpreter is a program that runs the file, or the directory, that its command line names.
type interpreter struct {
	names  []string
	flags  string // letters of options without a value that can precede the file
	valued string // letters of options with a value that can precede the file
	long   bool   // options that begin with -- can precede it
	file   bool   // it runs a file
	dir    bool   // it runs a directory
	shell  bool   // -c runs a text instead
}

// interpreters is the whole table: what another program runs is not covered.
func interpreters() []interpreter {
	return []interpreter{
		{names: []string{"sh", "bash", "dash", "ksh", "zsh"}, flags: "abefhkmnuvxC", valued: "o", file: true, shell: true},
		{names: []string{"python", "python3"}, flags: "bBdEIOPqsSuvx", valued: "WX", file: true, dir: true},
		{names: []string{"node"}, file: true},
		{names: []string{"perl"}, flags: "tTwW", file: true},
		{names: []string{"ruby"}, flags: "w", file: true},
		{names: []string{"run-parts"}, flags: "v", long: true, dir: true},
	}
}

// Interpreters returns the table of programs that run what their command line names, for users.
func Interpreters() (lines []string) {
	for _, in := range interpreters() {
		what := "FILE"
		switch {
		case in.file && in.dir:
			what = "FILE or DIRECTORY"
		case in.dir:
			what = "DIRECTORY"
		}
		lines = append(lines, strings.Join(in.names, ", ")+" "+what)
	}
	return lines
}

// interpreterOf returns the interpreter that a program is: python3.12 is python3.
func interpreterOf(program string) (interpreter, bool) {
	name := strings.TrimSuffix(filepath.Base(filepath.FromSlash(program)), ".exe")
	if major, minor, ok := strings.Cut(name, "."); ok && strings.Trim(minor, "0123456789.") == "" {
		name = major
	}
	i := slices.IndexFunc(interpreters(), func(in interpreter) bool { return slices.Contains(in.names, name) })
	if i < 0 {
		return interpreter{}, false
	}
	return interpreters()[i], true
}

// A command is what a command line runs in the project.
type command struct {
	files, dirs []string // as the command line names them
	open        []string // what it runs or reads and nothing compares, each completing "what … in this project"
}

// commandOf returns what the words of a command line run. A word that is not known yet is "".
func commandOf(argv []string) (c command) {
	c.add(argv)
	return c
}

// add adds what a command line runs.
func (c *command) add(argv []string) {
	program := argv[0]
	c.files = append(c.files, program)
	in, ok := interpreterOf(program)
	if !ok {
		c.open = append(c.open, reads(program))
		return
	}
	at, text, ok := in.operand(argv)
	switch {
	case !ok:
		c.open = append(c.open, "what "+strings.Join(argv[:min(at+1, len(argv))], " ")+" runs in this project")
	case argv[at] == "":
		c.open = append(c.open, "what "+program+" runs in this project: a placeholder decides it")
	case text:
		c.text(program, argv[at])
	default:
		if in.file {
			c.files = append(c.files, local(argv[at]))
		}
		if in.dir {
			c.dirs = append(c.dirs, argv[at])
		}
		c.open = append(c.open, reads(argv[at]))
	}
}

func reads(program string) string { return "what " + program + " reads in this project" }

// operand returns the index of the file or directory that an interpreter runs, or of the text. It is not ok, and at is
// the cause, if the command line has another form than the table knows.
func (in interpreter) operand(argv []string) (at int, text, ok bool) {
	for at = 1; at < len(argv); at++ {
		word := argv[at]
		switch {
		case word == "--":
			return at + 1, text, at+1 < len(argv)
		case strings.HasPrefix(word, "--"):
			if !in.long {
				return at, false, false
			}
			continue
		case word == "-", strings.HasPrefix(word, "+") && in.shell:
			return at, false, false
		case !strings.HasPrefix(word, "-"):
			return at, text, true
		}
		more, hasText, ok := in.letters(word[1:])
		if !ok {
			return at, false, false
		}
		at, text = at+more, text || hasText
	}
	return len(argv), false, false
}

// letters reads the letters of an option: more is how many of the next words are its value.
func (in interpreter) letters(letters string) (more int, text, ok bool) {
	for i, letter := range letters {
		switch {
		case letter == 'c' && in.shell:
			text = true
		case strings.ContainsRune(in.flags, letter):
		case strings.ContainsRune(in.valued, letter) && i == len(letters)-1:
			return 1, text, true
		default:
			return 0, text, strings.ContainsRune(in.valued, letter) && !in.shell // the rest is its value
		}
	}
	return 0, text, true
}

// text adds what the text of sh -c runs, if it is a list of commands without any syntax.
func (c *command) text(shell, text string) {
	var commands [][]string
	var words []string
	for _, w := range append(shellwords.SplitCommands(text), shellwords.Word{Operator: true}) {
		switch {
		case w.Operator && len(words) > 0:
			commands, words = append(commands, words), nil
		case !w.Operator:
			words = append(words, w.Text)
		}
	}
	var all command
	for _, words := range commands {
		if words[0] == "exec" {
			words = words[1:]
		}
		switch {
		case len(words) == 0, slices.Contains([]string{"true", "false", ":", "echo", "set", "exit"}, words[0]):
		case (words[0] == "." || words[0] == "source") && len(words) > 1 && strings.Contains(words[1], "/"):
			all.files = append(all.files, words[1])
			all.open = append(all.open, reads(words[1]))
		default:
			all.add(words)
		}
	}
	if len(commands) == 0 || !plain(text) || slices.ContainsFunc(commands, special) {
		c.open = append(c.open, "what "+shell+" -c runs in this project: its text has more than plain commands")
		return
	}
	c.files, c.dirs, c.open = append(c.files, all.files...), append(c.dirs, all.dirs...), append(c.open, all.open...)
}

// plain reports whether a text for a shell has neither quotes, variables, patterns nor other syntax than lists of words.
func plain(text string) bool {
	for i := range len(text) {
		if !shellwords.IsPlain(text[i]) && !strings.ContainsRune(" \t\n;&|", rune(text[i])) {
			return false
		}
	}
	return true
}

// special reports whether a command begins with a word that means something else to a shell than a program.
func special(words []string) bool {
	return strings.Contains(words[0], "=") || slices.Contains([]string{
		"alias", "builtin", "case", "cd", "command", "do", "done", "elif", "else", "enable", "esac", "eval", "export", "fi", "for", "function",
		"hash", "if", "popd", "pushd", "readonly", "select", "then", "time", "trap", "unalias", "unset", "until", "while",
	}, words[0]) || (words[0] == "." || words[0] == "source") && (len(words) < 2 || !strings.Contains(words[1], "/"))
}

// local returns the name of a file that an interpreter looks up in its directory, in a form that names it there.
func local(name string) string {
	if strings.ContainsAny(name, `/\`) {
		return name
	}
	return "./" + name
}

// Program returns the file to run for the first word of a command line: a name in PATH, or a path relative to the
// project root.
func Program(root, name string) (string, error) {
	if name = filepath.FromSlash(name); strings.ContainsRune(name, filepath.Separator) {
		name = under(root, name)
	}
	return exec.LookPath(name)
}

// argv returns the words of a command line, "" for each that is not known before the start. started says that Args are
// those of a start.
func argv(f *rules.Fact, started bool) []string {
	if f.Source.Trust == "" || f.Source.Argument != "words" || len(f.Args) == 0 {
		return nil
	}
	words := slices.Clone(f.Args)
	for i, known := range f.Known {
		if i < len(words) && (known != "" || !started) {
			words[i] = known
		}
	}
	return words
}
