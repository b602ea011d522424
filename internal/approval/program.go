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

// maxProgram bounds the size of a project's program.
const maxProgram = 256 << 20

// Program returns the file to run for the first word of a command line: a name in PATH, or a path relative to the
// project root.
func Program(root, name string) (string, error) {
	if name = filepath.FromSlash(name); strings.ContainsRune(name, filepath.Separator) {
		name = under(root, name)
	}
	return exec.LookPath(name)
}

// under returns a path joined to a directory, or the path if it is absolute.
func under(dir, path string) string {
	if path = filepath.FromSlash(path); filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// programs returns the files of the project that a command line names, by their path from the directory in which it
// runs: the program, and every existing file with the name of a word, whatever the word means to the program. It also
// looks words up in directories that others name, and in directories of PATH in the project.
func (p Policy) programs(f *rules.Fact) (all []store.Covered, err error) {
	if f.Source.Trust == "" || !f.Source.Argv || len(f.Args) == 0 {
		return nil, nil
	}
	names, dirs := words(f), []string{p.dir()}
	if program, err := Program(p.dir(), f.Args[0]); err == nil {
		names = append(names, program)
	}
	for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), names...) {
		dir = under(p.dir(), dir)
		if info, err := os.Stat(dir); err == nil && info.IsDir() && p.within(dir) && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	if len(names)*len(dirs) > maxLookups {
		return nil, fmt.Errorf("the command line of %s has too many words", f.Args[0])
	}
	seen := map[string]bool{}
	for _, dir := range dirs {
		for _, name := range names {
			path := under(dir, name)
			info, err := os.Stat(path)
			if err != nil || info.IsDir() || seen[path] || filepath.IsAbs(name) && !p.within(path) {
				continue
			}
			seen[path] = true
			c := store.Covered{Name: p.name(path)}
			if c.Digest, err = digestOf(path); err != nil {
				return nil, fmt.Errorf("%s cannot be read: %w", c.Name, err)
			}
			all = append(all, c)
		}
	}
	return all, nil
}

// maxLookups bounds the words of a command line times the directories that they name.
const maxLookups = 1 << 18

// words returns the possible file names in a command line: its arguments, their parts at separators in options and
// lists, and the ends of options such as -fprog.awk. Text that the policy or the user wrote may be a shell command, so
// its words and quoted parts also count; a value may be prose.
func words(f *rules.Fact) (all []string) {
	seen := map[string]bool{}
	add := func(word string) {
		if word != "" && !seen[word] {
			seen[word] = true
			all = append(all, word)
		}
	}
	split := func(arg, marks string) {
		for word := range strings.FieldsFuncSeq(arg, func(r rune) bool { return strings.ContainsRune(marks, r) }) {
			add(word)
			add(strings.TrimLeft(word, "/"))
			for i := 2; i < len(word) && word[0] == '-'; i++ {
				add(word[i:])
			}
		}
	}
	const joins, quotes, shell = "=:,@", "\"'`", " \t\r\n;|&<>(){}[]*?$\\#"
	for i := range max(len(f.Args), len(f.Known)) {
		if i < len(f.Known) && f.Known[i] != "" {
			add(f.Known[i])
			text := os.Expand(f.Known[i], func(string) string { return " " }) // the rest after a variable such as $PWD
			for _, marks := range []string{joins, quotes, shell, shell + quotes, shell + quotes + joins} {
				split(text, marks)
			}
			continue
		}
		add(f.Args[i])
		split(f.Args[i], joins)
	}
	return all
}

// within reports whether a file is in the project or in the programs' directory, by its path or by its links.
func (p Policy) within(path string) bool {
	resolved, err := filepath.EvalSymlinks(path)
	return slices.ContainsFunc([]string{p.dir(), p.Root}, func(dir string) bool {
		return isIn(dir, path) || err == nil && isIn(dir, resolved)
	})
}

func isIn(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// name returns a path relative to the programs' directory, or the project, so that a file has the same name in a
// worktree.
func (p Policy) name(path string) string {
	dir := p.dir()
	if !isIn(dir, path) && isIn(p.Root, path) {
		dir = p.Root
	}
	if rel, err := filepath.Rel(dir, path); err == nil {
		path = rel
	}
	return filepath.ToSlash(path)
}

// digestOf returns the digest of a file.
func digestOf(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", errors.Unwrap(err) // without the path, which may be outside of the project
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("it is not a regular file")
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

// dir returns where programs run.
func (p Policy) dir() string { return cmp.Or(p.Dir, p.Root) }
