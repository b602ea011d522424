package setup

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ralph-sdk/ralph/internal/workspace"
)

// Program returns the word by which a host finds this program: its name if that leads to it, otherwise its path. note
// is what the user should know about it.
func Program() (program, note string) {
	self, err := os.Executable()
	if err != nil {
		return "ralph", ""
	}
	found, err := exec.LookPath("ralph")
	switch {
	case err == nil && workspace.SameFile(found, self):
		return "ralph", ""
	case keptByNpx(self):
		note = "npx keeps this program only temporarily. Run `npm install -g @ralph-sdk/ralph-loop`, then run `ralph install` again."
	case err == nil && FromNpm(self):
		note = "The entry names the program itself, not the wrapper of npm, so that no hook waits for Node.js."
	case err == nil:
		note = fmt.Sprintf("The first ralph on the PATH is another program, %s, so the entry has the full path of this one.", found)
	default:
		note = "There is no ralph on the PATH, so the entry has the full path of this program."
	}
	return self, note
}

// FromNpm reports whether a program is from an npm package, where the ralph on the PATH is a wrapper that starts it
// with Node.js.
func FromNpm(program string) bool {
	return strings.Contains(filepath.ToSlash(program), "/node_modules/@ralph-sdk/ralph-loop-")
}

func keptByNpx(program string) bool {
	return FromNpm(program) && strings.Contains(filepath.ToSlash(program), "/_npx/")
}
