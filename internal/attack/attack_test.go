// Package attack tries to break ralph's promises from outside, as a hostile repository, agent, model or host could.
//
// Each file of testdata is a scene: a project, what is done in it, and what must come of it. A line "try VALUE" is one
// attack; a scene without such a line is one too. So a new attack is a line, or a small file. [scene] describes the other
// lines. What holds for every attack is in [assault.breaches], and a scene need not repeat it.
package attack_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// program is the ralph that is attacked.
var program string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "ralph-attack-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "ralph")
	if out, err := exec.Command("go", "build", "-o", program, "../../cmd/ralph").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// Nothing that a project, an input, a session file, a model or ralph's own files hold breaks a promise.
func TestAttacks(t *testing.T) {
	needUnix(t)
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	attacks := 0
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := parse(string(src))
		if err != nil {
			t.Errorf("%s:%v", file, err)
			continue
		}
		for i, value := range s.try {
			attacks++
			t.Run(fmt.Sprintf("%s/%d", strings.TrimSuffix(filepath.Base(file), ".txtar"), i+1), func(t *testing.T) {
				t.Parallel()
				a := newAssault(t, s, value)
				for _, breach := range a.carryOut() {
					t.Errorf("try %.80s\n%s", value, breach)
				}
			})
		}
	}
	if attacks < 60 {
		t.Errorf("only %d attacks were found", attacks)
	}
}

// The breaches that are looked for are seen where they are: the user allowed them here, or the attack does itself what
// it must not reach.
func TestBreachesAreSeen(t *testing.T) {
	needUnix(t)
	const approved = "prepare ralph trust --yes .ralph/policy.yaml\nrun ralph eval\n-- .ralph/policy.yaml --\nralph: 1\nfacts: {it: {exec: [%s]}}\nrules: [{name: r, when: ok(it), %s}]\n"
	for name, c := range map[string]struct{ scene, want string }{
		"a program ran":             {fmt.Sprintf(approved, "touch, '@MARK'", "stop: s"), "the canary ran"},
		"the agent is held":         {fmt.Sprintf(approved, "true", "continue: on"), "the agent may not stop"},
		"it may stop":               {"want continue\n" + fmt.Sprintf(approved, "true", "stop: s"), "the agent may stop"},
		"a secret in the answer":    {fmt.Sprintf(approved, "cat, '@OUT/secret.txt'", "stop: s, notice: '${it.stdout}'"), "the secret is in stdout"},
		"a secret in ralph's files": {fmt.Sprintf(approved, "cat, '@OUT/secret.txt'", "stop: '${it.stdout}'"), "the secret is in STATE/"},
		"a file outside is changed": {fmt.Sprintf(approved, "touch, '@OUT/new'", "stop: s"), "OUT/new was made"},
		"one of the project":        {fmt.Sprintf(approved, "rm, gone", "stop: s") + "-- gone --\n", "PROJECT/gone was removed"},
		"one is rewritten":          {fmt.Sprintf(approved, "cp, .ralph/policy.yaml, old", "stop: s") + "-- old --\n", "PROJECT/old was changed"},
		"status 2":                  {"run ralph eval --answer exit-code\n-- .ralph/policy.yaml --\nralph: 1\nrules: [{name: r, continue: on}]\n", "status 2"},
		"a word to the terminal":    {"run printf \\033]0;\n", "has for the terminal"},
		"no JSON":                   {"run ralph eval --help\n", "not one JSON object"},
		"too slow":                  {"run sleep 1000\nwithin 1ms\n", "did not end within 1ms"},
		"killed by a signal":        {"run sh -c kill${IFS}-9${IFS}$$\n", "a signal ended it"},
		"too much memory":           {"memory 64\nrun ralph eval\n", "out of memory"},
		"not said":                  {"says something\nrun ralph eval\n", `nothing says "something"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := parse(c.scene)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(newAssault(t, s, "").carryOut(), "\n"); !strings.Contains(got, c.want) {
				t.Errorf("breaches %q, want %q among them", got, c.want)
			}
		})
	}
}

func needUnix(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the scenes are set with a shell of Unix")
	}
}
