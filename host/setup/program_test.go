package setup

import "testing"

func TestFromNpm(t *testing.T) {
	for _, tt := range []struct {
		program   string
		npm, kept bool
	}{
		{program: "/usr/local/bin/ralph"},
		{program: "/home/u/src/node_modules/other/bin/ralph"},
		{program: "/usr/lib/node_modules/@ralph-sdk/ralph-loop/node_modules/@ralph-sdk/ralph-loop-linux-x64/bin/ralph", npm: true},
		{program: "/home/u/.npm/_npx/0f1e/node_modules/@ralph-sdk/ralph-loop-linux-x64/bin/ralph", npm: true, kept: true},
	} {
		if npm, kept := FromNpm(tt.program), keptByNpx(tt.program); npm != tt.npm || kept != tt.kept {
			t.Errorf("%s: from npm %t, kept by npx %t", tt.program, npm, kept)
		}
	}
}
