package loop_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

func trusted() loop.Option {
	return loop.WithTrust(func(*rules.Fact, []rules.File) error { return nil })
}

// needsShell skips tests whose programs are shell scripts.
func needsShell(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there is no sh")
	}
}

// Two programs that wait for each other both end, if they run at the same time.
func TestProgramsRunAtTheSameTime(t *testing.T) {
	needsShell(t)
	p := newProject(t, map[string]string{"mine": ""})
	if err := exec.Command("mkfifo", p.path("there"), p.path("back")).Run(); err != nil {
		t.Skip("there are no pipes:", err)
	}
	l := p.loop(`
ralph: 1
facts:
  x: {exec: [sh, -c, "echo ping >there; cat back"]}
  y: {exec: [sh, -c, "cat there; echo pong >back"]}
rules: [{name: r, when: x.code + y.code == 0, stop: "${x.stdout}${y.stdout}"}]`, trusted())
	if d := p.run(l, p.stop()); d.Verdict.Reason != "pong\nping" {
		t.Errorf("it says %q, reports %q", d.Verdict.Reason, d.Notices)
	}
}

func TestExec(t *testing.T) {
	needsShell(t)
	p := newProject(t, map[string]string{"check.sh": "#!/bin/sh\necho in $(basename \"$PWD\"), off=$RALPH_OFF\n", "sub/x": ""})
	if err := os.Chmod(p.path("check.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, fact, text, want string }{
		{"output and status", `x: {exec: [sh, -c, "echo out; echo err >&2; exit 3"]}`, `${x.code} ${x.stdout} ${x.stderr}${ok(x)}`, "3 out\n err\ntrue"},
		{"lines", `x: {exec: [printf, 'a\r\nb\n\n']}`, `${len(x.lines)} ${join(x.lines, "+")}`, "2 a+b"},
		{"no lines", `x: {exec: ["true"]}`, `${len(x.lines)}${x.json == nil}`, "0true"},
		{"one hole is one argument", `x: {exec: [printf, "<%s>", "${env.WORDS}", z]}`, `${x.stdout}`, "<a b; echo 'c' $(id) *><z>"},
		{"input", `x: {exec: [cat], stdin: "from ${env.NAME} ${nothing.at_all}"}` + "\n" + `nothing: {json: none.json, schema: {properties: {at_all: {}}}}`, `${x.stdout}`, "from me (?)"},
		{"input that nobody reads", `x: {exec: ["true"], stdin: "${env.LONG}"}`, `${x.code}`, "0"},
		{"a program of the project", `x: {exec: [./check.sh]}`, `${x.stdout}`, "off=1"},
		{"JSON", `x: {exec: [echo, '{"n": 3}']}`, `${x.json.n + 1}`, "4"},
		{"typed JSON", `x: {exec: [echo, '{"done": true}'], schema: {properties: {done: {type: boolean}, why: {type: string, default: nothing}}}}`,
			`${x.json.done ? x.json.why : "?"}`, "nothing"},
		{"no such program", `x: {exec: [no-such-program-anywhere]}`, `${missing(x)} ${problem(x)}`, "true there is no program no-such-program-anywhere"},
		{"a folder is no program", `x: {exec: [./sub]}`, `${missing(x)}`, "true"},
		{"too slow", `x: {exec: [sleep, "60"], timeout: 50ms}`, `${missing(x)} ${problem(x)}`, "true sleep did not end within 50ms"},
		{"a hole that fails", `x: {exec: [echo, "${nothing.at_all}"]}` + "\n" + `nothing: {json: none.json, schema: {properties: {at_all: {}}}}`, `${missing(x)}`, "true"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p.env = map[string]string{"WORDS": "a b; echo 'c' $(id) *", "NAME": "me", "LONG": strings.Repeat("x", 1<<20)}
			got := said(p.run(p.loop(shown(c.fact, c.text), trusted()), p.stop()))
			if got != c.want && !strings.HasSuffix(got, c.want) {
				t.Errorf("it says %q, want %q", got, c.want)
			}
		})
	}
}

// A judge that is a command: its output is typed. Output that does not fit cannot be
// read, while the status still can.
func TestExecAsJudge(t *testing.T) {
	needsShell(t)
	policy := `
ralph: 1
limits: {continuations: 10}
facts:
  verdict:
    exec: [sh, -c, "${env.PRINTS}"]
    schema: {properties: {go: {type: boolean}, why: {type: string, default: ""}}, required: [go]}
rules:
  - name: failed
    when: verdict.code != 0
    stop: it failed
  - name: more
    when: verdict.json.go
    continue: "Go on ${verdict.json.why}"
`
	policy = strings.Replace(policy, `"${env.PRINTS}"`, `"cat verdict"`, 1)
	for output, want := range map[string]string{
		`{"go": true, "why": "now"}`: "Go on now", `{"go": false}`: "stop", `{"go": "maybe"}`: "stop", `{"why": "x"}`: "stop",
		`I say: go`: "stop", ``: "stop", `[]`: "stop", `{"go": true`: "stop",
	} {
		p := newProject(t, map[string]string{"verdict": output})
		d := p.run(p.loop(policy, trusted()), p.stop())
		if diff := cmp.Diff(want, said(d)); diff != "" {
			t.Errorf("%s: %s", output, diff)
		}
		if want == "stop" && output != `{"go": false}` && len(d.Notices) == 0 {
			t.Errorf("%s: nobody is told that the answer is of no use", output)
		}
	}
	p := newProject(t, nil)
	if got := said(p.run(p.loop(policy, trusted()), p.stop())); got != "stop failed" {
		t.Errorf("without the file it says %q", got)
	}
}

// What prints without end is read to the bound and ended at the deadline.
func TestExecWithoutEnd(t *testing.T) {
	needsShell(t)
	p := newProject(t, nil)
	l := p.loop(shown(`x: {exec: [sh, -c, "yes out; "], timeout: 300ms}
y: {exec: [sh, -c, "head -c 3000000 /dev/zero | tr '\\0' a; echo b"]}`, `${missing(x)} ${len(y.stdout)} ${cut(y.stdout, -3)} ${problem(y)}`), trusted())
	if got, want := said(p.run(l, p.stop())), fmt.Sprintf("true %d …b\n stdout is its last 1 MiB", 1<<20); got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
}

// Nothing that a program starts outlives it, whether it ends by itself or at its deadline, and it delays no decision.
func TestExecLeavesNothing(t *testing.T) {
	needsShell(t)
	for _, c := range []struct {
		name, script string
		linux        bool // only Linux can find it
	}{
		{"a child", `sh -c 'echo $$ >new; mv new child; exec sleep 300' &`, false},
		{"a session of its own", `setsid sh -c 'echo $$ >new; mv new child; exec sleep 300' &`, true},
		{"a daemon", `(setsid sh -c 'sh -c "echo \$\$ >new; mv new child; exec sleep 300" &' &)`, true},
	} {
		for _, then := range []struct{ name, script, text, want string }{
			{"ends", "echo done", `${x.stdout}`, "done"},
			{"is late", "sleep 300", `${missing(x)}`, "true"},
		} {
			t.Run(c.name+", the program "+then.name, func(t *testing.T) {
				if _, err := exec.LookPath("setsid"); c.linux && (err != nil || runtime.GOOS != "linux") {
					t.Skip("only on Linux")
				}
				p := newProject(t, map[string]string{"start.sh": c.script + "\nuntil test -e child; do sleep 0.01; done\n" + then.script + "\n"})
				l := p.loop(shown(`x: {exec: [sh, start.sh], timeout: 2s}`, then.text), trusted())
				if got := said(p.run(l, p.stop())); got != then.want {
					t.Errorf("it says %q, want %q", got, then.want)
				}
				pid, err := strconv.Atoi(strings.TrimSpace(p.read("child")))
				if err != nil {
					t.Fatal(err)
				}
				if child, err := os.FindProcess(pid); err == nil && child.Signal(syscall.Signal(0)) == nil {
					t.Errorf("%d still runs", pid)
					_ = child.Kill()
				}
			})
		}
	}
}
