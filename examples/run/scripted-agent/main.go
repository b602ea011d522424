// Command scripted-agent plays a coding agent from a script, so that loops can be tried without a model.
//
//	ralph run --prompt PROMPT.md --promise DONE -- scripted-agent agent.txt
//
// The script has a part for each iteration, separated by lines of three hyphens; after the last part, that one is played
// again. A line is a verb and its words:
//
//	say TEXT           print the text
//	tick FILE          tick the first open box of a task list
//	append FILE TEXT   add a line to a file
//	exit N             end with this status, at once
//	hang               do nothing until it is ended
//
// The last argument is the prompt, and say replaces {prompt} with it. The number of the next part is in a file beside the
// script, with .next added to its name.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

func main() {
	status, err := play(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "scripted-agent:", err)
		os.Exit(1)
	}
	os.Exit(status)
}

// play plays the next part of the script, and returns the exit status that it names.
func play(args []string, out io.Writer) (status int, err error) {
	if len(args) != 2 {
		return 0, errors.New("expected a script and a prompt")
	}
	src, err := os.ReadFile(args[0])
	if err != nil {
		return 0, err
	}
	part, err := next(args[0]+".next", strings.Split("\n"+string(src), "\n---\n"))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(part) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		file, text, _ := strings.Cut(rest, " ")
		switch verb {
		case "":
		case "say":
			_, err = fmt.Fprintln(out, strings.ReplaceAll(rest, "{prompt}", args[1]))
		case "tick":
			err = tick(rest)
		case "append":
			err = add(file, text)
		case "exit":
			return strconv.Atoi(rest)
		case "hang":
			time.Sleep(24 * time.Hour)
		default:
			err = fmt.Errorf("unknown verb %q, expected say, tick, append, exit or hang", verb)
		}
		if err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// next returns the part that is next, and counts it.
func next(file string, parts []string) (string, error) {
	b, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	if err := os.WriteFile(file, []byte(strconv.Itoa(n+1)+"\n"), 0o644); err != nil {
		return "", err
	}
	return parts[max(min(n, len(parts)-1), 0)], nil
}

// tick ticks the first open box.
func tick(file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(strings.Replace(string(b), "- [ ]", "- [x]", 1)), 0o644)
}

func add(file, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, text)
	return errors.Join(err, f.Close())
}
