//go:build unix

package process

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// guard starts a shell that kills a process group when this process ends, however it ends: the pipe that the shell reads closes then.
// Without a shell there is no guard. release ends it.
func guard(group int) (release func()) {
	none := func() {}
	r, w, err := os.Pipe()
	if err != nil {
		return none
	}
	defer r.Close()
	sh := exec.Command("/bin/sh", "-c", `read -r _; kill -s KILL -- "-$1"`, "sh", strconv.Itoa(group))
	sh.Stdin, sh.SysProcAttr = r, &syscall.SysProcAttr{Setsid: true} // Ctrl-C on the terminal does not end it
	if err := sh.Start(); err != nil {
		w.Close()
		return none
	}
	return func() { // in this order: the shell must not read the end of the pipe
		_ = sh.Process.Kill()
		_ = sh.Wait()
		w.Close()
	}
}
