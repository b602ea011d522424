package run

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/process"
)

// Generic returns an adapter for any command. The prompt replaces an argument {}, or is the last argument; if it begins
// with a hyphen, a newline precedes it so that no program takes it for a flag. The text of the result is the end of the
// output, and its outcome is the exit status.
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
			program = filepath.Join(i.Dir, program) // relative to its working directory
		}
		if path, err := exec.LookPath(program); err == nil && process.Batch(path) {
			return Command{}, fmt.Errorf("%s is a batch file, which can be given no prompt: cmd.exe would take parts of it for commands; name the program that it starts, or give --client", i.Args[0])
		}
	}
	prompt := i.Prompt
	if strings.HasPrefix(prompt, "-") { // such as a list or the content of a file; it must not look like a flag
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

// printed keeps the end of the output.
type printed struct{ tail }

func (p *printed) Line(line []byte) (string, Outcome) {
	_, _ = p.Write(line)
	_, _ = p.Write([]byte("\n"))
	return strings.ToValidUTF8(string(line[:min(len(line), maxShown)]), "\ufffd"), ""
}

func (p *printed) Result(Process) Result {
	return Result{Text: strings.TrimSpace(strings.ToValidUTF8(string(p.end()), "\ufffd"))}
}

// maxArgument is the maximum size of an argument on Linux, the smallest of all systems, without the final zero.
const maxArgument = 128<<10 - 1

// maxShown bounds how much of a line is read for what an agent is doing.
const maxShown = 4 << 10
