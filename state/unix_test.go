//go:build unix

package state

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is no file is not read, and nothing waits for it.
func TestReadWhatIsNoFile(t *testing.T) {
	r := project(t, map[string]string{"link": "->pipe"})
	if err := syscall.Mkfifo(filepath.Join(r.Dir(), "pipe"), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Chdir(r.Dir()) // the name of a socket is short
	l, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	want := map[string]string{"pipe": "is a named pipe", "link": "is a named pipe", "socket": "is a socket", "pipe/x": "not exist"}
	if syscall.Mknod(filepath.Join(r.Dir(), "zero"), syscall.S_IFCHR|0o666, 1<<8|5) == nil { // a privilege
		want["zero"] = "is a device"
	}
	for name, want := range want {
		f, err := r.Read(name)
		if _, _, open := OpenRegular(filepath.Join(r.Dir(), name)); open == nil || err == nil || !strings.Contains(err.Error(), want) && !errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrNotExist) != (want == "not exist") {
			t.Errorf("%s: %v, %v; want %q", name, f, err, want)
		}
		if err := r.Apply([]Change{{Path: name, Old: &File{Mode: 0o644}, New: []byte("x")}}, noon); err == nil {
			t.Errorf("%s was changed", name)
		}
	}
	if got, err := r.Glob(t.Context(), "pipe/*"); len(got) > 0 || err != nil {
		t.Errorf("behind a pipe: %q, %v", got, err)
	}
	if _, err := Open("pipe"); err == nil {
		t.Error("a pipe is opened as a directory")
	}
}

func TestNotPermitted(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may do everything")
	}
	files := map[string]string{"secret": "1", "d/a": "1", "e/": ""}
	r := project(t, files)
	old := read(t, r, "d/a")
	for name, mode := range map[string]fs.FileMode{"secret": 0, "d": 0o555} {
		if err := os.Chmod(filepath.Join(r.Dir(), name), mode); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(filepath.Join(r.Dir(), name), 0o777) })
	}
	if _, err := r.Read("secret"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a secret: %v", err)
	}
	for _, c := range []Change{{Path: "d/a", Old: old, New: []byte("2")}, {Path: "d/b", New: []byte("2")}, {Path: "d/a", Old: old}} {
		if err := r.Apply([]Change{c}, noon); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "change d/") {
			t.Errorf("%s in a read-only directory: %v", c.Path, err)
		}
	}
}

// On a full disk the old file stays whole. A limit on the size of files looks the same to a writer; it is set in a process of its own.
func TestDiskFull(t *testing.T) {
	if os.Getenv("STATE_TEST_LIMIT") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestDiskFull$")
		cmd.Env = append(os.Environ(), "STATE_TEST_LIMIT=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	var own syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &own)
	small := own
	small.Cur = 1 << 12
	if err = errors.Join(err, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &small)); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &own) }() // a report of coverage is larger
	r := project(t, map[string]string{"a": "1", "b": "1"})
	large := make([]byte, 1<<14)
	err = r.Apply([]Change{{Path: "a", Old: read(t, r, "a"), New: []byte("2")}, {Path: "b", Old: read(t, r, "b"), New: large}, {Path: "c", New: large}}, noon)
	if !errors.Is(err, syscall.EFBIG) || !strings.Contains(err.Error(), "change b: ") {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff(map[string]string{"a": "1", "b": "1"}, tree(t, r)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
