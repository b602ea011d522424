package process_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/internal/process"
)

// Programs of a policy start without the variables that make an interpreter load a file.
func TestClean(t *testing.T) {
	for _, c := range []struct {
		variable string
		dropped  bool
	}{
		{"BASH_ENV=./evil.sh", true},
		{"ENV=./evil.sh", true},
		{"env=production", true}, // Windows ignores case
		{"ENVIRONMENT=production", false},
		{"PYTHONSTARTUP=evil.py", true},
		{"PYTHONPATH=src", false},
		{"PATH=/usr/bin", false},
		{"PERL5OPT=-Mevil", true},
		{"RUBYOPT=-r./evil", true},
		{"LD_PRELOAD=./evil.so", true},
		{"NODE_OPTIONS=--max-old-space-size=4096 --require ./evil.js", true},
		{"NODE_OPTIONS=--require=./evil.js", true},
		{"NODE_OPTIONS=-r./evil.js", true},
		{"NODE_OPTIONS=--import ./evil.mjs", true},
		{"NODE_OPTIONS=--loader=./evil.mjs", true},
		{"NODE_OPTIONS=--max-old-space-size=4096", false},
		{"NODE_OPTIONS=--require-module", false},
		{"JAVA_TOOL_OPTIONS=-Xmx1g -javaagent:evil.jar", true},
		{"JAVA_TOOL_OPTIONS=-Xmx1g", false},
		{`NODE_OPTIONS="--require" ./evil.js`, true},
		{`NODE_OPTIONS=--re"qui"re ./evil.js`, true},
		{"NODE_OPTIONS=--experimental_loader ./evil.mjs", true},
		{`JAVA_TOOL_OPTIONS=-java'agent:'evil.jar`, true},
		{"JDK_JAVA_OPTIONS=@evil", true},
		{"GIT_SSH_COMMAND=evil", true},
		{"GIT_EXTERNAL_DIFF=evil", true},
		{"GIT_CONFIG_GLOBAL=evil", true},
		{"GIT_CONFIG_KEY_0=core.pager", true},
		{"GIT_DIR=elsewhere", true},
		{"GIT_AUTHOR_NAME=A", false},
		{"GIT_COMMIT=1234", false},
		{"NO_VALUE", false},
		{"=C:=C:\\project", false},
		{"", false},
	} {
		kept, dropped := process.Clean([]string{c.variable})
		if (len(dropped) == 1) != c.dropped || len(kept)+len(dropped) != 1 {
			t.Errorf("%s: kept %q, dropped %q", c.variable, kept, dropped)
		}
	}
	kept, dropped := process.Clean([]string{"B=2", "GIT_DIR=x", "ENV=x", "A=1", "ENV=y"})
	if diff := cmp.Diff([][]string{{"B=2", "A=1"}, {"ENV", "GIT_DIR"}}, [][]string{kept, dropped}); diff != "" {
		t.Errorf("kept and dropped (-want +got)\n%s", diff)
	}
}
