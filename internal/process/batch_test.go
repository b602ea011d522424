package process

import "testing"

// If cmd.exe reads the arguments again, those that it would interpret are refused.
func TestBatch(t *testing.T) {
	for _, c := range []struct {
		goos, program, arg string
		refused            bool
	}{
		{"windows", `C:\npm\npm.cmd`, "run", false},
		{"windows", `C:\npm\npm.cmd`, "a b/c-d_e.f=1", false},
		{"windows", `C:\npm\npm.cmd`, `" & calc & "`, true},
		{"windows", `C:\npm\npm.cmd`, "%PATH%", true},
		{"windows", `C:\npm\npm.cmd`, "two\nlines", true},
		{"windows", `C:\npm\NPM.BAT`, "a|b", true},
		{"windows", `C:\npm\npm.cmd. `, "a|b", true},
		{"windows", `C:\git\git.exe`, `" & calc & "`, false},
		{"linux", "/usr/bin/run.cmd", `" & calc & "`, false},
	} {
		if err := checkBatch(c.goos, c.program, []string{"plain", c.arg}); (err != nil) != c.refused {
			t.Errorf("%s %s %q: %v", c.goos, c.program, c.arg, err)
		}
	}
}
