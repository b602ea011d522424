package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/state"
)

// openProject opens the project of a command that has no event.
func openProject(flag string) (*state.Root, error) {
	dir, err := projectDir(flag)
	if err != nil {
		return nil, err
	}
	return state.OpenRoot(dir)
}

// projectDir is the project of a command that has no event: the flag, else the
// working directory, links resolved as in the log.
func projectDir(flag string) (string, error) {
	if flag == "" {
		var err error
		if flag, err = os.Getwd(); err != nil {
			return "", err
		}
	}
	abs, err := filepath.Abs(flag)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// oneOf checks the value of a flag that takes one of some words.
func oneOf(flag, value string, words ...string) error {
	if slices.Contains(words, value) {
		return nil
	}
	last := len(words) - 1
	return fmt.Errorf("--%s is %s or %s, not %q", flag, strings.Join(words[:last], ", "), words[last], value)
}
