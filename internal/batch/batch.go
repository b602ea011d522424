// Package batch says which arguments a batch file of Windows can be given. Windows has cmd.exe run it, which reads its
// arguments once more, as commands: a quotation mark or an ampersand in a value would begin one.
package batch

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// Is reports whether this system has cmd.exe run a program.
func Is(program string) bool { return is(runtime.GOOS, program) }

func is(goos, program string) bool {
	ext := strings.ToLower(filepath.Ext(strings.TrimRight(program, " ."))) // which Windows ignores
	return goos == "windows" && (ext == ".bat" || ext == ".cmd")
}

// Check says why a program cannot be given arguments, nil if it can.
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
