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
	if name = filepath.FromSlash(name); strings.ContainsRune(name, filepath.Separator) {
		name = under(root, name)
	}
	return exec.LookPath(name)
}

// under is a path from a directory, or the path itself if it is absolute.
func under(dir, path string) string {
	if path = filepath.FromSlash(path); filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// programs are the files of the project that a command line names, by their path from the directory in which it runs: the
// program, and whatever else exists under the name of one of its words. What the words mean to the program does not matter.
// Words are also looked up in the directories that others name, and in those of PATH that are in the project.
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

// maxLookups bounds the words of a command line, in each of the directories that they name.
const maxLookups = 1 << 18

// words are the names that a command line can have: its arguments, their parts at the marks that join names in options and
// lists, and the ends of options such as -fprog.awk. What the policy wrote, or the user, may be a text for a shell: its
// quoted parts and its words count too. A value may be prose.
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
			text := os.Expand(f.Known[i], func(string) string { return " " }) // what follows a variable such as $PWD
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

// within reports whether a file is in the project or in the directory in which programs run, by its path or by its links.
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

// name is a path from the directory in which programs run, or from the project, so that a worktree knows a file by the same name.
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
