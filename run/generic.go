package run

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/batch"
)

// Generic runs any command. The prompt is its last argument, or stands in the place of an argument {}; before one that begins with a hyphen
// stands a line end, so that no program takes it for a flag. Its text is all that it prints, as far as that fits, and its outcome is
// its exit status.
func Generic() Adapter { return generic{} }

type generic struct{}

func (generic) Name() string     { return "generic" }
func (generic) Host() string     { return "" }
func (generic) Reports() Reports { return Reports{} }

func (generic) Command(i Invocation) (Command, error) {
	if len(i.Prompt) > maxArgument {
		return Command{}, fmt.Errorf("the prompt has %d bytes, and an argument holds %d at most; have the prompt name a file to read, or name the client, since known clients read their prompt from stdin", len(i.Prompt), maxArgument)
	}
	if len(i.Args) > 0 {
		program := filepath.FromSlash(i.Args[0])
		if filepath.Base(program) != program && !filepath.IsAbs(program) {
			program = filepath.Join(i.Dir, program) // where it is started
		}
		if path, err := exec.LookPath(program); err == nil && batch.Is(path) {
			return Command{}, fmt.Errorf("%s is a batch file, which can be given no prompt: cmd.exe would take parts of it for commands; name the program that it starts, or give --client", i.Args[0])
		}
	}
	prompt := i.Prompt
	if strings.HasPrefix(prompt, "-") { // such as a list, or what a file says: it is no flag
		prompt = "\n" + prompt
	}
	args := slices.Clone(i.Args)
	at := slices.Index(args, "{}")
	if at < 0 {
		return Command{Args: append(args, prompt)}, nil
	}
	args[at] = prompt
	return Command{Args: args}, nil
}

func (generic) Output() Output { return &printed{tail{max: maxText}} }

// printed is the end of all that was printed.
type printed struct{ tail }

func (p *printed) Line(line []byte) (string, Outcome) {
	_, _ = p.Write(line)
	_, _ = p.Write([]byte("\n"))
	return strings.ToValidUTF8(string(line[:min(len(line), maxShort)]), "\ufffd"), ""
}

func (p *printed) Result(Process) Result {
	return Result{Text: strings.TrimSpace(strings.ToValidUTF8(string(p.end()), "\ufffd"))}
}

// maxArgument is how long one argument may be: Linux has the smallest bound, with its final zero.
const maxArgument = 128<<10 - 1
