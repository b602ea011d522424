package main

import "testing"

// The hooks of the plugins read their switch byte by byte.
func TestHookReadsOff(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		want      bool
	}{
		{"as the plugins write it", "---\nenabled: false\n---\n", true},
		{"quotes, case and blanks", "---\nspecs_dirs: [a]\nenabled:  \"False\" \n---\nText.\n", true},
		{"never closed", "---\nenabled: false\n", true},
		{"a later block", "---\na: b\n---\ntext\n---\nenabled: false\n---\n", true},
		{"true", "---\nenabled: true\n---\n", false},
		{"the first line counts", "---\nenabled: true\nenabled: false\n---\n", false},
		{"below the block", "---\na: b\n---\nenabled: false\n", false},
		{"a comment", "---\nenabled: false # off\n---\n", false},
		{"line breaks with CR", "---\r\nenabled: false\r\n---\r\n", false},
		{"a byte order mark", "\ufeff---\nenabled: false\n---\n", false},
		{"a blank behind the dashes", "--- \nenabled: false\n---\n", false},
		{"indented", "---\n  enabled: false\n---\n", false},
		{"no file", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := hookReadsOff(tt.src); got != tt.want {
				t.Errorf("hookReadsOff(%q) = %t", tt.src, got)
			}
		})
	}
}
