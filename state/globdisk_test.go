package state

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Files are read the same on disks that are watched and on those that are not, and
// the time for all of them ends for both.
func TestReadAllFromOtherDisk(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("n/%03d.txt", i)] = "x"
	}
	p := newProject(t, files)
	var seen [][]string
	for _, local := range []bool{true, false} {
		p.local = local
		read := func(timeout time.Duration) ([]string, error) {
			f := File{Path: "n/*.txt", Format: Text, Timeout: timeout}
			all, _, err := ReadAll(t.Context(), p.Root, f, 0, func(d Doc) string { return d.Path + d.Text })
			return all, err
		}
		all, err := read(time.Minute)
		if err != nil || len(all) != len(files) {
			t.Errorf("on this machine %v: %d files, %v", local, len(all), err)
		}
		seen = append(seen, all)
		if all, err := read(1); err == nil || !strings.Contains(err.Error(), "took longer than 1ns to read") || all != nil {
			t.Errorf("on this machine %v, late: %d files, %v", local, len(all), err)
		}
	}
	if diff := cmp.Diff(seen[0], seen[1]); diff != "" {
		t.Errorf("(-here +elsewhere)\n%s", diff)
	}
}
