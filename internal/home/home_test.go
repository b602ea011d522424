package home_test

import (
	"runtime"
	"testing"

	"github.com/ralph-sdk/ralph/internal/home"
)

func TestDir(t *testing.T) {
	for _, test := range []struct {
		name, home, profile string
		want, windows       string
	}{
		{"none", "", "", "", ""},
		{"HOME", "/h", "", "/h", "/h"},
		{"both", "/h", `C:\p`, "/h", `C:\p`},
		{"USERPROFILE", "", `C:\p`, "", `C:\p`},
	} {
		want := test.want
		if runtime.GOOS == "windows" {
			want = test.windows
		}
		getenv := func(name string) string {
			return map[string]string{"HOME": test.home, "USERPROFILE": test.profile}[name]
		}
		if got := home.Dir(getenv); got != want {
			t.Errorf("%s: %q, want %q", test.name, got, want)
		}
	}
}

// Nothing leads out of an environment with another home.
func TestIn(t *testing.T) {
	getenv := home.In("/copy", func(name string) string { return "own " + name })
	for name, want := range map[string]string{"HOME": "/copy", "USERPROFILE": "/copy", "CLAUDE_CONFIG_DIR": "", "CI": "own CI"} {
		if got := getenv(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}
