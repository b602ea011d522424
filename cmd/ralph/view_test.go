package main

import (
	"strings"
	"testing"
)

// A browser opens where the user sits in front of one.
func TestBrowser(t *testing.T) {
	for _, tt := range []struct {
		system   string
		terminal bool
		env      string
		want     string
	}{
		{"linux", true, "DISPLAY=:0", "xdg-open"},
		{"linux", true, "WAYLAND_DISPLAY=wayland-0", "xdg-open"},
		{"linux", true, "", ""},
		{"linux", false, "DISPLAY=:0", ""},
		{"linux", true, "DISPLAY=:0 CI=true", ""},
		{"linux", true, "DISPLAY=:10 SSH_CONNECTION=1", ""},
		{"linux", true, "DISPLAY=:10 SSH_TTY=/dev/pts/1", ""},
		{"freebsd", true, "DISPLAY=:0", "xdg-open"},
		{"darwin", true, "", "open"},
		{"darwin", true, "SSH_TTY=/dev/pts/1", ""},
		{"windows", true, "", "rundll32 url.dll,FileProtocolHandler"},
		{"windows", false, "", ""},
	} {
		name, args := browser(tt.system, tt.terminal, func(name string) string {
			for v := range strings.FieldsSeq(tt.env) {
				if value, ok := strings.CutPrefix(v, name+"="); ok {
					return value
				}
			}
			return ""
		})
		if got := strings.Join(append([]string{name}, args...), " "); got != tt.want {
			t.Errorf("%s, terminal %t, %s: %q, want %q", tt.system, tt.terminal, tt.env, got, tt.want)
		}
	}
}
