package syserr_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/internal/syserr"
)

// The words are for people, and no path of the system's is among them.
func TestReason(t *testing.T) {
	tests := []struct {
		err  error
		want string
	}{
		{fs.ErrNotExist, "it does not exist"},
		{fmt.Errorf("a: %w", &fs.PathError{Op: "open", Path: "/secret", Err: fs.ErrPermission}), "permission denied"},
		{&fs.PathError{Op: "open", Path: "/secret", Err: &os.LinkError{Op: "link", Old: "/secret", New: "/b", Err: &os.SyscallError{Syscall: "link", Err: errors.New("odd")}}}, "odd"},
		{errors.New("anything else"), "anything else"},
	}
	for _, test := range tests {
		if got := syserr.Reason(test.err); got != test.want {
			t.Errorf("Reason(%v) = %q, want %q", test.err, got, test.want)
		}
	}
}

func TestPath(t *testing.T) {
	long := strings.Repeat("é", 100) + "/end"
	for path, want := range map[string]string{
		"a/b": "a/b",
		long:  strings.Repeat("é", 40) + "…" + strings.Repeat("é", 26) + "/end",
	} {
		if got := syserr.Path(path); got != want {
			t.Errorf("Path(%q) = %q, want %q", path, got, want)
		}
	}
}
