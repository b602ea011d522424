package approval

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/rules"
)

// maxProgram is how large a program of a project may be.
const maxProgram = 256 << 20

// Program finds the file to run for the first word of a command line: a name in PATH,
// or a path that counts from the root of the project.
func Program(root, name string) (string, error) {
	name = filepath.FromSlash(name)
	if isPath(name) && !filepath.IsAbs(name) {
		name = filepath.Join(root, name)
	}
	return exec.LookPath(name)
}

func isPath(name string) bool {
	return strings.ContainsRune(filepath.FromSlash(name), filepath.Separator)
}

// programs are the files of the project that a fact runs, each by the word that names
// it: the program, if it is a path or lies in the project, and the script that a shell
// or an interpreter is handed first. What is not there now is not run.
func (p Policy) programs(f *rules.Fact) ([]store.Covered, error) {
	if f.Source.Trust == "" || !f.Source.Argv || len(f.Args) == 0 {
		return nil, nil
	}
	var all []store.Covered
	add := func(name, path string) error {
		sum, err := digestOf(path)
		if err != nil {
			return fmt.Errorf("%s cannot be read: %w", name, err)
		}
		all = append(all, store.Covered{Name: name, Digest: sum})
		return nil
	}
	if path, err := Program(p.dir(), f.Args[0]); err == nil {
		if isPath(f.Args[0]) && !filepath.IsAbs(f.Args[0]) || p.within(path) {
			if err := add(f.Args[0], path); err != nil {
				return nil, err
			}
		}
	}
	if name := script(f.Args); name != "" {
		path := filepath.FromSlash(name)
		if !filepath.IsAbs(path) {
			path = filepath.Join(p.dir(), path)
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			if err := add(name, path); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// within reports whether a file lies in the project, by its path or by its links.
func (p Policy) within(path string) bool {
	inside := func(path string) bool {
		rel, err := filepath.Rel(p.dir(), path)
		return err == nil && filepath.IsLocal(rel)
	}
	resolved, err := filepath.EvalSymlinks(path)
	return inside(path) || err == nil && inside(resolved)
}

// script is the first argument of an interpreter that is no option, "" if the program
// is none or if an event determines the argument.
func script(args []string) string {
	program := strings.TrimSuffix(strings.ToLower(filepath.Base(filepath.FromSlash(args[0]))), ".exe")
	known := []string{
		"sh", "bash", "dash", "ash", "ksh", "zsh", "fish", "pwsh", "powershell", "cmd",
		"node", "bun", "deno", "tsx", "python", "python3", "ruby", "perl", "php", "lua", "tclsh", "rscript",
	}
	if !slices.Contains(known, program) {
		return ""
	}
	for _, arg := range args[1:] {
		switch {
		case strings.HasPrefix(arg, "-"):
		case strings.Contains(arg, "${"):
			return ""
		default:
			return arg
		}
	}
	return ""
}

// digestOf is the digest of what a program's file holds.
func digestOf(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", errors.Unwrap(err) // without the path, which may be outside of the project
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("it is no regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return "", errors.Unwrap(err)
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, maxProgram+1))
	if err == nil && n > maxProgram {
		err = fmt.Errorf("it is larger than %d MiB", maxProgram>>20)
	}
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// dir is where programs run.
func (p Policy) dir() string { return cmp.Or(p.Dir, p.Root) }
