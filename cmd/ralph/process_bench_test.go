package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ralph-sdk/ralph/project"
)

// The smallest Go program there is: what a process costs before it does anything.
const helloProgram = `package main

import "os"

func main() { os.Stdout.WriteString("hello\n") }
`

// weighProgram is a program that runs another one and prints how much memory it took
// at most, in bytes. It must be small: some systems count the memory of the process
// that starts another one too, so a test binary would measure itself.
const weighProgram = `package main

import (
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"runtime"
)

func main() {
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdin = os.Stdin
	if err := cmd.Run(); err != nil {
		panic(err)
	}
	usage := reflect.ValueOf(cmd.ProcessState.SysUsage())
	if usage.Kind() != reflect.Pointer || !usage.Elem().FieldByName("Maxrss").IsValid() {
		fmt.Print(0)
		return
	}
	max := usage.Elem().FieldByName("Maxrss").Int()
	if runtime.GOOS != "darwin" {
		max *= 1024
	}
	fmt.Print(max)
}
`

// What a whole hook costs: ralph is built as it is released and run in turn with a
// program that only says hello. x-hello is the median ratio of the two, MiB the
// most memory that a run took.
func BenchmarkProcess(b *testing.B) {
	if testing.Short() {
		b.Skip("builds programs")
	}
	bin := b.TempDir()
	ralph := build(b, bin, "ralph", ".")
	hello := build(b, bin, "hello", source(b, bin, "hello.go", helloProgram))
	weigh := build(b, bin, "weigh", source(b, bin, "weigh.go", weighProgram))

	for _, c := range []struct {
		name  string
		files map[string]string
		args  []string
		want  string // of the answer
	}{
		{"version", nil, []string{"--version"}, "ralph"},
		{"speckit", speckitProject(), []string{"eval", "--policy", "speckit"}, "Task 3/10"},
		{"empty", map[string]string{".ralph/policy.yaml": "ralph: 1\nrules: []\n"}, []string{"eval"}, ""},
		{"rules-1000", manyRules(1000), []string{"eval"}, "rule 999"},
	} {
		b.Run(c.name, func(b *testing.B) {
			p := newProcess(b, ralph, c.files, c.args)
			p.check(b, c.want)
			ratio, _ := compare(b, p, started{path: hello})
			b.ReportMetric(ratio, "x-hello")
			b.ReportMetric(p.weigh(b, weigh), "MiB")
		})
	}

	// A project that a policy is not for costs what no rules cost.
	for _, name := range project.Shipped() {
		b.Run("idle/"+name, func(b *testing.B) {
			p := newProcess(b, ralph, nil, []string{"eval", "--policy", name})
			p.env = append(p.env, "CLAUDE_HOOK_JUDGE_MODE=true") // double-shot-latte is for every other session
			p.check(b, "")
			empty := newProcess(b, ralph, map[string]string{".ralph/policy.yaml": "ralph: 1\nrules: []\n"}, []string{"eval"})
			empty.check(b, "")
			ratio, _ := compare(b, p, empty)
			b.ReportMetric(ratio, "x-empty")
			b.ReportMetric(p.weigh(b, weigh), "MiB")
		})
	}

	// Promises of other sessions are all read: each must cost little beside the process.
	b.Run("promises", func(b *testing.B) {
		files := map[string]string{".claude/completion-state/promises/none": ""}
		none := newProcess(b, ralph, files, []string{"eval", "--policy", "system3"})
		for i := range 1000 {
			files[fmt.Sprintf(".claude/completion-state/promises/%04d.json", i)] = fmt.Sprintf(
				`{"id": "p%d", "summary": "Ship it", "status": "in_progress", "ownership": {"owned_by": "system3-other"}}`, i)
		}
		many := newProcess(b, ralph, files, []string{"eval", "--policy", "system3"})
		none.env, many.env = append(none.env, "CLAUDE_SESSION_ID=orch-1"), append(many.env, "CLAUDE_SESSION_ID=orch-1")
		none.check(b, "")
		many.check(b, "")
		ratio, _ := compare(b, many, none)
		b.ReportMetric(ratio, "x-none")
		b.ReportMetric(many.weigh(b, weigh), "MiB")
	})

	// The end of the session file is all that counts: 500 MB cost what 1 MB does.
	b.Run("transcript", func(b *testing.B) {
		p := newProcess(b, ralph, speckitProject(), []string{"eval", "--policy", "speckit"})
		small, large := p, p
		small.stdin = p.event(transcriptFile(b, 1<<20))
		large.stdin = p.event(transcriptFile(b, 500<<20))
		small.check(b, "Task 3/10")
		large.check(b, "Task 3/10")
		ratio, _ := compare(b, large, small)
		b.ReportMetric(ratio, "x-1MB")
		b.ReportMetric(large.weigh(b, weigh), "MiB")
	})
}

// started is a program that is run, with what it runs on.
type started struct {
	path  string
	args  []string
	env   []string
	dir   string
	stdin string
}

// newProcess prepares a project with these files, and ralph in it.
func newProcess(b *testing.B, ralph string, files map[string]string, args []string) started {
	b.Helper()
	dir := b.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	p := started{path: ralph, args: args, dir: dir, env: append(os.Environ(), "RALPH_STATE_DIR="+b.TempDir(), "RALPH_OFF=", "CLAUDE_PROJECT_DIR=")}
	p.stdin = p.event("")
	return p
}

func (p started) event(transcript string) string {
	b, err := json.Marshal(map[string]any{
		"session_id": "s-1", "hook_event_name": "Stop", "cwd": p.dir, "permission_mode": "default",
		"stop_hook_active": false, "transcript_path": transcript,
	})
	if err != nil {
		panic(err) // texts always encode
	}
	return string(b)
}

func (p started) command() *exec.Cmd {
	cmd := exec.Command(p.path, p.args...)
	cmd.Env, cmd.Dir, cmd.Stdin = p.env, p.dir, strings.NewReader(p.stdin)
	return cmd
}

// check makes sure that the benchmark measures what it should.
func (p started) check(b *testing.B, want string) {
	b.Helper()
	out, err := p.command().Output()
	if err != nil || want == "" && len(out) > 0 || !strings.Contains(string(out), want) {
		b.Fatalf("%v: answer %q, want %q in it", err, out, want)
	}
}

func (p started) run(b *testing.B) time.Duration {
	cmd := p.command()
	start := time.Now()
	if err := cmd.Run(); err != nil {
		b.Fatal(err)
	}
	return time.Since(start)
}

// weigh returns the most memory that five runs took, in MiB.
func (p started) weigh(b *testing.B, weigh string) float64 {
	b.Helper()
	most := 0.0
	for range 5 {
		w := p
		w.path, w.args = weigh, append([]string{p.path}, p.args...)
		out, err := w.command().Output()
		if err != nil {
			b.Fatal(err)
		}
		bytes, err := strconv.ParseFloat(string(out), 64)
		if err != nil {
			b.Fatal(err)
		}
		most = max(most, bytes/(1<<20))
	}
	return most
}

// compare runs two programs in turn, so that changes in the machine's speed affect both,
// and returns the median of the ratios and the median time of the first.
func compare(b *testing.B, p, base started) (ratio float64, median time.Duration) {
	b.Helper()
	p.run(b) // both are in the system's caches then
	base.run(b)
	var ratios []float64
	var times []time.Duration
	for b.Loop() {
		t := p.run(b)
		times = append(times, t)
		ratios = append(ratios, float64(t)/float64(base.run(b)))
	}
	slices.Sort(ratios)
	slices.Sort(times)
	b.ReportMetric(0, "ns/op") // both together: it would say nothing
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "ms")
	return ratios[len(ratios)/2], times[len(times)/2]
}

// build builds a program as releases are built.
func build(b *testing.B, dir, name, what string) string {
	b.Helper()
	out := filepath.Join(dir, name+".exe")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", out, what)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if msg, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, msg)
	}
	return out
}

func source(b *testing.B, dir, name, code string) string {
	b.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(code), 0o644); err != nil {
		b.Fatal(err)
	}
	return path
}

func speckitProject() map[string]string {
	return map[string]string{
		".specify/.current-feature":               "demo\n",
		".specify/specs/demo/.speckit-state.json": `{"phase": "execution", "taskIndex": 2, "totalTasks": 10, "globalIteration": 3}`,
		".specify/specs/demo/tasks.md":            strings.Repeat("- [ ] a task\n", 10),
	}
}

// manyRules is a policy of which the last rule holds.
func manyRules(n int) map[string]string {
	var b strings.Builder
	b.WriteString("ralph: 1\nfacts:\n  state:\n    json: state.json\n    inline: true\n" +
		"    schema: {properties: {phase: {type: string, default: none}, taskIndex: {type: integer, default: 0}}}\nrules:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - name: rule-%d\n    when: phase == \"execution\" and taskIndex == %d\n    continue: this is rule %d\n", i, i, i)
	}
	return map[string]string{
		".ralph/policy.yaml": b.String(),
		"state.json":         fmt.Sprintf(`{"phase": "execution", "taskIndex": %d}`, n-1),
	}
}

// transcriptFile writes a session file of this size, of which only the last part is real.
func transcriptFile(b *testing.B, size int64) string {
	b.Helper()
	var tail strings.Builder
	tail.WriteString("\n" + `{"type":"user","message":{"role":"user","content":"go"}}` + "\n")
	for range 200 {
		tail.WriteString(`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"` +
			strings.Repeat("working on it ", 100) + `"}]}}` + "\n")
	}
	path := filepath.Join(b.TempDir(), "session.jsonl")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte(tail.String()), size-int64(tail.Len())); err != nil {
		b.Fatal(err)
	}
	return path
}
