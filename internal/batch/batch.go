// Package batch checks arguments for batch files on Windows. cmd.exe runs them and parses arguments again as commands:
// a quotation mark or an ampersand in a value would begin one. Start with [Check].
package batch

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// Is reports whether cmd.exe runs a program on this system.
func Is(program string) bool { return is(runtime.GOOS, program) }

func is(goos, program string) bool {
	ext := strings.ToLower(filepath.Ext(strings.TrimRight(program, " ."))) // Windows ignores these
	return goos == "windows" && (ext == ".bat" || ext == ".cmd")
}

// Check returns an error if a program must not receive arguments.
func Check(program string, args []string) error { return check(runtime.GOOS, program, args) }

func check(goos, program string, args []string) error {
	if !is(goos, program) {
		return nil
	}
	for _, arg := range args {
		if i := strings.IndexAny(arg, "\"%&|<>^!()\r\n\x00"); i >= 0 {
			return fmt.Errorf("%s is a batch file, and an argument has the character %q, which cmd.exe takes for a command: name the program that the batch file starts", filepath.Base(program), arg[i])
		}
	}
	return nil
}
