package examples_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/judge"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
)

// files are the files of a project by their path, with slashes.
type files map[string]string

// event are the fields of a hook input that a test cares about.
type event map[string]any

// project is a project in a temporary directory, with a shipped policy and a clock that
// only the test moves.
type project struct {
	t       testing.TB
	dir     string
	program *rules.Program
	loop    *loop.Loop
	now     time.Time
	env     map[string]string
}

// newProject writes the files and loads the policy. set has values of its params.
func newProject(t testing.TB, policy string, set map[string]string, content files) *project {
	t.Helper()
	cfg := loop.Config()
	cfg.Set = set
	program, findings := rules.Load(t.Context(), examples.FS, policy+"/"+policy+".yaml", cfg)
	if program == nil {
		t.Fatal(findings)
	}
	p := &project{t: t, dir: t.TempDir(), program: program, now: time.Now(), env: map[string]string{}}
	l, err := loop.New(program,
		loop.WithName(policy),
		loop.WithRoot(p.dir),
		loop.WithSource(judge.Source()),
		loop.WithStore(loop.InMemory()),
		loop.WithClock(func() time.Time { return p.now }),
		loop.WithEnv(p.getenv),
	)
	if err != nil {
		t.Fatal(err)
	}
	p.loop = l
	p.write(content)
	return p
}

func (p *project) getenv(name string) string { return p.env[name] }

// write writes files that were last changed some minutes ago.
func (p *project) write(content files) {
	p.t.Helper()
	for name, text := range content {
		path := filepath.Join(p.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			p.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			p.t.Fatal(err)
		}
		p.age(name, 10*time.Minute)
	}
}

// age sets how long ago a file was last changed.
func (p *project) age(name string, d time.Duration) {
	p.t.Helper()
	at := p.now.Add(-d)
	if err := os.Chtimes(filepath.Join(p.dir, filepath.FromSlash(name)), at, at); err != nil {
		p.t.Fatal(err)
	}
}

// read returns every file of the project. Archived files appear in .ralph/archive,
// without the directory named after the time.
func (p *project) read() files {
	p.t.Helper()
	out := files{}
	err := filepath.WalkDir(p.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(p.dir, path)
		name := archived.ReplaceAllString(filepath.ToSlash(rel), ".ralph/archive/")
		if name != ".ralph/archive/.gitignore" {
			out[name] = string(data)
		}
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return out
}

var archived = regexp.MustCompile(`^\.ralph/archive/[0-9TZ-]+/`)

// stop sends a Stop event through the whole line, from the bytes of the hook input
// to the decision that is answered. more changes fields of the first stop of a
// prompt; nil removes one.
func (p *project) stop(more event) *loop.Decision {
	p.t.Helper()
	in := event{
		"session_id": "s1", "hook_event_name": "Stop", "cwd": p.dir, "permission_mode": "default",
		"stop_hook_active": false, "last_assistant_message": "Done for now.",
	}
	maps.Copy(in, more)
	maps.DeleteFunc(in, func(_ string, v any) bool { return v == nil })
	data, err := json.Marshal(in)
	if err != nil {
		p.t.Fatal(err)
	}
	_, ev, err := host.Read(data, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	d, err := p.loop.Run(p.t.Context(), ev)
	if err != nil && !d.Verdict.Cause.Undecided() {
		p.t.Fatal(err)
	}
	return d
}

// run runs an agent that answers each prompt, and returns how the run ends.
func (p *project) run(answer func(prompt string) string, opts ...run.Option) (end run.Event) {
	p.t.Helper()
	agent := run.Func("agent", func(_ context.Context, i run.Invocation) (run.Result, error) {
		return run.Result{Text: answer(i.Prompt)}, nil
	})
	opts = append(opts, run.WithDir(p.dir), run.WithLoop(loop.WithSource(judge.Source()), loop.WithEnv(p.getenv)))
	r, err := run.New(p.program, agent, opts...)
	if err != nil {
		p.t.Fatal(err)
	}
	for end = range r.Run(p.t.Context()) {
	}
	return end
}

// The records of a session file, as Claude Code writes them.

func session(records ...any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for _, r := range records {
		if err := enc.Encode(r); err != nil {
			panic(err)
		}
	}
	return b.String()
}

func person(text string) event {
	return event{"type": "user", "isSidechain": false, "message": event{"role": "user", "content": text}}
}

func agent(text string) event {
	content := []any{event{"type": "text", "text": text}}
	return event{"type": "assistant", "isSidechain": false, "message": event{"role": "assistant", "content": content}}
}
