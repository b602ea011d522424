package loop_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/judge"
)

// project is a project in a temporary directory. Only the test moves its clock, its
// environment is empty, and its decision log is kept in memory.
type project struct {
	recording sync.Mutex // of lines, by several hooks at once
	t         testing.TB
	dir       string
	store     string
	env       map[string]string
	getenv    func(string) string // of env
	now       time.Time
	clock     func() time.Time // of now
	writes    time.Duration    // their number, in seconds
	lines     []string         // of the decision log
}

func newProject(t testing.TB, files map[string]string) *project {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &project{
		t: t, dir: dir, store: filepath.Join(t.TempDir(), "state"), env: map[string]string{},
		now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC),
	}
	p.getenv, p.clock = func(name string) string { return p.env[name] }, func() time.Time { return p.now }
	for name, content := range files {
		p.write(name, content)
	}
	return p
}

func (p *project) path(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }

// write writes a file that is about an hour old, so that reading does not wait for its end, and newer than those before it.
func (p *project) write(name, content string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(p.path(name)), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(p.path(name), []byte(content), 0o644); err != nil {
		p.t.Fatal(err)
	}
	p.writes += time.Second
	old := p.now.Add(p.writes - 2*time.Hour)
	if err := os.Chtimes(p.path(name), old, old); err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) read(name string) string {
	p.t.Helper()
	b, err := os.ReadFile(p.path(name))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(b)
}

// loop makes a loop of a policy text, with the options of the project and others.
func (p *project) loop(policy string, opts ...loop.Option) *loop.Loop {
	p.t.Helper()
	return p.named("policy.yaml", policy, nil, opts...)
}

func (p *project) named(name, policy string, sources []loop.Source, opts ...loop.Option) *loop.Loop {
	p.t.Helper()
	all := []loop.Option{
		loop.Local(),
		loop.WithState(p.store),
		loop.WithSource(judge.Source()),
		loop.WithClock(p.clock),
		loop.WithEnv(p.getenv),
		loop.WithRecorder(recorder(p.record)),
	}
	all = append(append(all, sourced(sources)...), opts...)
	l, diags := loop.Load(p.t.Context(), fstest.MapFS{name: {Data: []byte(policy)}}, name, all...)
	if l == nil {
		p.t.Fatalf("%s", diags.Format())
	}
	return l
}

// stop is an event of a host that sends neither turns nor hook states.
func (p *project) stop() host.Event {
	return host.Event{Name: host.Stop, SessionID: "s", Cwd: p.dir, LoopCount: -1}
}

// turn is an event of a host that names its turns.
func (p *project) turn(name string) host.Event {
	ev := p.stop()
	ev.Turn = name
	return ev
}

// run decides an event and applies what was decided.
func (p *project) run(l *loop.Loop, ev host.Event) *loop.Decision {
	p.t.Helper()
	d, err := l.Run(p.t.Context(), ev)
	if (err != nil) != (d.Err != nil) {
		p.t.Errorf("Apply returns the error %v, the decision has %v", err, d.Err)
	}
	if d.Err != nil && d.Continue() {
		p.t.Errorf("the agent goes on although %v", d.Err)
	}
	return d
}

// said is what a decision says: the reason to continue, or "stop" and the rule.
func said(d *loop.Decision) string {
	if d.Continue() {
		return d.Verdict.Reason
	}
	return strings.TrimSpace("stop " + d.Verdict.Rule)
}

// answer is a hook's answer in the portable form.
type answer struct {
	Decision      string `json:"decision"`
	Reason        string `json:"reason"`
	SystemMessage string `json:"systemMessage"`
	Specific      struct {
		Context string `json:"additionalContext"`
	} `json:"hookSpecificOutput"`
}

// decoded reads an answer, which is nothing or one JSON object with status 0.
func decoded(t testing.TB, a host.Answer) (out answer) {
	t.Helper()
	if a.Status != 0 {
		t.Errorf("status %d", a.Status)
	}
	if len(a.Stdout) > 0 {
		if err := json.Unmarshal(a.Stdout, &out); err != nil {
			t.Fatalf("%v in %s", err, a.Stdout)
		}
	}
	return out
}

// input is a hook input with these fields, of a session in the project.
func (p *project) input(fields map[string]any) []byte {
	p.t.Helper()
	all := map[string]any{"session_id": "s", "cwd": p.dir, "hook_event_name": "Stop"}
	for name, v := range fields {
		all[name] = v
	}
	b, err := json.Marshal(all)
	if err != nil {
		p.t.Fatal(err)
	}
	return b
}

// recorder is a Recorder from a function.
type recorder func(*loop.Record) error

func (f recorder) Record(_ context.Context, r *loop.Record) error { return f(r) }

// record keeps a record as its line of JSON.
func (p *project) record(r *loop.Record) error {
	line, err := json.Marshal(r)
	p.recording.Lock()
	defer p.recording.Unlock()
	p.lines = append(p.lines, string(line))
	return err
}

// readLog takes the lines of the log in ralph's own directory.
func (p *project) readLog() {
	p.t.Helper()
	lines, err := store.Open(p.store).ReadLog(nil, 0)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, line := range lines {
		p.lines = append(p.lines, string(line))
	}
}

// records decodes the decision log.
func (p *project) records() []loop.Record {
	p.t.Helper()
	var all []loop.Record
	for _, line := range p.lines {
		var r loop.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			p.t.Fatalf("%v in %s", err, line)
		}
		all = append(all, r)
	}
	return all
}

func decode(t testing.TB, b []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
}

// entries lists the files beneath a directory, which need not exist.
func entries(t testing.TB, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil
		}
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			names = append(names, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// golden compares with a file, which -update writes.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; go test -update writes it)\n%s", file, diff)
	}
}

var update = flag.Bool("update", false, "write the golden files")

// stable is a record without what differs each time.
func stable(t *testing.T, line, dir string) string {
	t.Helper()
	varies := regexp.MustCompile(`"(start_ns|took_ns)":\d+|"id":"[0-9a-f]{24}"|"digest":"[0-9a-f]{64}"`)
	line = varies.ReplaceAllStringFunc(strings.ReplaceAll(line, dir, "/project"), func(s string) string {
		name, value, _ := strings.Cut(s, ":")
		if value[0] == '"' {
			return name + `:"x"`
		}
		return name + ":1"
	})
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(line), "", "\t"); err != nil {
		t.Fatal(err)
	}
	return out.String() + "\n"
}
