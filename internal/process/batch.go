package process

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// On Windows cmd.exe runs batch files and parses their arguments again as commands: a quotation mark or an ampersand in a
// value would begin one.

// Batch reports whether cmd.exe runs a program on this system.
func Batch(program string) bool { return batch(runtime.GOOS, program) }

func batch(goos, program string) bool {
	ext := strings.ToLower(filepath.Ext(strings.TrimRight(program, " ."))) // Windows ignores these
	return goos == "windows" && (ext == ".bat" || ext == ".cmd")
}

// checkBatch returns an error if a program must not receive arguments.
func checkBatch(goos, program string, args []string) error {
	if !batch(goos, program) {
		return nil
	}
	for _, arg := range args {
		if i := strings.IndexAny(arg, "\"%&|<>^!()\r\n\x00"); i >= 0 {
			return fmt.Errorf("%s is a batch file, and an argument has the character %q, which cmd.exe takes for a command: name the program that the batch file starts", filepath.Base(program), arg[i])
		}
	}
	return nil
}
