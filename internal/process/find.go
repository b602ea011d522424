package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Find returns the full path of a program: by PATH if its name has no slash, of which only absolute entries count, else from dir. The
// error is exec.ErrNotFound if there is none, and another one if a path with a slash names what cannot be started.
func Find(program, dir string) (string, error) {
	if strings.ContainsRune(program, '/') || strings.ContainsRune(program, filepath.Separator) {
		path := program
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		path, err := filepath.Abs(path)
		if err != nil {
			return "", err
		}
		found, err := exec.LookPath(path)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound) {
			return "", fmt.Errorf("%s: %w", path, exec.ErrNotFound)
		}
		return found, err
	}
	for _, entry := range filepath.SplitList(os.Getenv("PATH")) {
		if program == "" || !filepath.IsAbs(entry) {
			continue // a relative one would start what an agent wrote
		}
		if found, err := exec.LookPath(filepath.Join(entry, program)); err == nil {
			return found, nil
		}
	}
	return "", fmt.Errorf("%q in PATH: %w", program, exec.ErrNotFound)
}

// checkBatch returns an error if a program must not get these arguments. On Windows cmd.exe runs batch files and parses their arguments
// again as commands: a quotation mark or an ampersand in a value would begin one.
func checkBatch(goos, program string, args []string) error {
	ext := strings.ToLower(filepath.Ext(strings.TrimRight(program, " ."))) // Windows ignores these
	if goos != "windows" || ext != ".bat" && ext != ".cmd" {
		return nil
	}
	for _, arg := range args {
		if i := strings.IndexAny(arg, "\"%&|<>^!()\r\n\x00"); i >= 0 {
			return fmt.Errorf("%s is a batch file, and an argument has the character %q, which cmd.exe takes for a command: name the program that the batch file starts", filepath.Base(program), arg[i])
		}
	}
	return nil
}
