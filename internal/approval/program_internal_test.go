package approval

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A file that changes after it was compared, while others are, is seen.
func TestChangedMeanwhile(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"written": func(path string) error { return os.WriteFile(path, []byte("longer"), 0o755) },
		"written in place": func(path string) error {
			if err := os.WriteFile(path, []byte("new"), 0o755); err != nil {
				return err
			}
			return os.Chtimes(path, time.Time{}, time.Unix(1e9, 0))
		},
		"replaced": func(path string) error {
			if err := os.WriteFile(path+".new", []byte("old"), 0o755); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		},
		"removed": os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "check.sh")
			if err := os.WriteFile(path, []byte("old"), 0o755); err != nil {
				t.Fatal(err)
			}
			c := &comparison{Policy: Policy{Root: filepath.Dir(path)}}
			_, err := c.digest(path)
			if err == nil {
				err = c.changed()
			}
			if err != nil {
				t.Fatalf("unchanged: %v", err)
			}
			if err := change(path); err != nil {
				t.Fatal(err)
			}
			if err := c.changed(); err == nil || err.Error() != "check.sh changed while it was compared" {
				t.Errorf("it says %v", err)
			}
		})
	}
}
