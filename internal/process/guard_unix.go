//go:build unix

package process

import (
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

const shell = "/bin/sh"

// guard kills the group of a program when this process ends, however it ends. It is a shell that reads a pipe, which closes then. The
// program itself waits at a gate, another pipe, until the guard has started: so it cannot start anything that is not guarded.
type guard struct {
	gate, gateEnd *os.File
	sh            *exec.Cmd // nil before open
	alive         *os.File  // the pipe that closes when this process ends
}

// newGuard changes a command that is not started yet. Without a shell there is no guard: nil.
func newGuard(cmd *exec.Cmd) (*guard, error) {
	if _, err := os.Stat(shell); err != nil {
		return nil, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Args = append([]string{"sh", "-c", `read -r _ <&3 || exit; exec 3<&-; exec "$0" "$@"`, cmd.Path}, cmd.Args[1:]...)
	cmd.Path, cmd.ExtraFiles = shell, []*os.File{r}
	return &guard{gate: w, gateEnd: r}, nil
}

// open starts the guard of a group, then lets the program begin.
func (g *guard) open(group int) error {
	if g == nil {
		return nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	g.alive, g.sh = w, exec.Command(shell, "-c", `read -r _; kill -s KILL -- "-$1"`, "sh", strconv.Itoa(group))
	// In a group of its own, Ctrl-C on the terminal does not end it. In the session of this process, it is none that the program left.
	g.sh.Stdin, g.sh.SysProcAttr = r, &syscall.SysProcAttr{Setpgid: true}
	if err := g.sh.Start(); err != nil {
		return err
	}
	_, err = io.WriteString(g.gate, "\n")
	return err
}

// close ends the guard, before the pipe that it reads. A program that still waits at the gate ends.
func (g *guard) close() {
	if g == nil {
		return
	}
	if g.sh != nil && g.sh.Process != nil {
		_ = g.sh.Process.Kill()
		_ = g.sh.Wait()
	}
	for _, f := range []*os.File{g.gate, g.gateEnd, g.alive} {
		_ = f.Close() // of nil it is an error
	}
}
