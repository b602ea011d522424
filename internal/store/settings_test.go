package store

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMade(t *testing.T) {
	s := Open(filepath.Join(t.TempDir(), "ralph"))
	steps := []struct {
		name string
		do   func() error
		want []string
	}{
		{"nothing is kept", func() error { return s.SaveMade("/a", nil) }, nil},
		{"kept", func() error { return s.SaveMade("/a", []string{"hooks", "hooks.Stop"}) }, []string{"hooks", "hooks.Stop"}},
		{"of another file", func() error { return s.SaveMade("/b", []string{"hooks"}) }, []string{"hooks", "hooks.Stop"}},
		{"replaced", func() error { return s.SaveMade("/a", []string{"hooks.Stop"}) }, []string{"hooks.Stop"}},
		{"garbage", func() error {
			return os.WriteFile(s.path(settingsDir, fileName("/a", settingsSuffix)), []byte("garbage"), 0o600)
		}, nil},
		{"forgotten", func() error { return s.SaveMade("/a", nil) }, nil},
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			t.Errorf("%s: %v", step.name, err)
		}
		if diff := cmp.Diff(step.want, s.Made("/a")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
	if err := Open("").SaveMade("/a", []string{"hooks"}); err == nil || Open("").Made("/a") != nil {
		t.Errorf("without a directory: error %v", err)
	}
}
