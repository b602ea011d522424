package policytest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/home"
	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// defaultNow returns the default time of an event.
func defaultNow() time.Time { return time.Date(2026, time.January, 1, 12, 0, 0, 0, time.UTC) }

// run runs one test in a project of its own.
func (s *Suite) run(ctx context.Context, t Test) (r Result) {
	start := time.Now()
	r = Result{Name: t.Name, Pos: t.Pos}
	defer func() { r.Took = time.Since(start) }()
	impossible := func(err error) Result {
		r.Failures = append(r.Failures, Failure{Pos: t.Pos, What: "given", Got: err.Error()})
		return r
	}
	program := s.program
	if len(t.Given.Set) > 0 {
		var diags rules.Diagnostics
		if program, diags = s.load(ctx, t.Given.Set); program == nil {
			return impossible(diags.Err())
		}
	}
	b, err := newBench(t)
	if err != nil {
		return impossible(err)
	}
	defer b.close()
	d, err := b.decide(ctx, program, s.policy, s.cfg.Effects)
	if err != nil {
		return impossible(err)
	}
	r.Record = d.Record(true)
	r.Failures = b.compare(d)
	r.Hints = b.hints(d)
	return r
}

// bench is the environment of one test: a project, a session, a store.
type bench struct {
	test    Test
	dir     string // contains everything
	project string
	home    string // the user's, empty except for what the test gives
	now     time.Time
	world   *world
	applied bool

	program *rules.Program
}

func newBench(t Test) (*bench, error) {
	dir, err := os.MkdirTemp("", "ralph-test-")
	if err != nil {
		return nil, err
	}
	// The project has its resolved name, even if the temporary directory is a link.
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	b := &bench{test: t, dir: dir, project: filepath.Join(dir, "project"), home: filepath.Join(dir, "home"), now: t.Given.Now}
	if b.now.IsZero() {
		b.now = defaultNow()
	}
	if err = errors.Join(os.Mkdir(b.project, 0o755), os.Mkdir(b.home, 0o755), b.write()); err != nil {
		b.close()
	}
	return b, err
}

func (b *bench) close() { os.RemoveAll(b.dir) }

// write creates the files of the project and the home directory.
func (b *bench) write() error {
	for name, src := range b.test.Given.Files {
		dir, rel := b.project, filepath.FromSlash(name)
		if beneathHome, ok := strings.CutPrefix(name, "~/"); ok {
			dir, rel = b.home, filepath.FromSlash(beneathHome)
		}
		if !filepath.IsLocal(rel) {
			return fmt.Errorf("the file %s is not in the project", name)
		}
		file, isDir, at := filepath.Join(dir, rel), strings.HasSuffix(name, "/"), b.now.Add(-src.Age)
		if isDir {
			dir = file
		} else {
			dir = filepath.Dir(file)
		}
		err := os.MkdirAll(dir, 0o755)
		if err == nil && !isDir {
			err = errors.Join(os.WriteFile(file, []byte(src.Text), 0o644), os.Chtimes(file, at, at))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// event returns the decoded hook input of the test.
func (b *bench) event() (host.Event, error) {
	g := b.test.Given
	in := hookInput(b.project)
	in[vocab.HookEventName] = b.test.Event
	session := ""
	if g.Spoken {
		var err error
		if session, err = b.transcript(); err != nil {
			return host.Event{}, err
		}
		in[vocab.TranscriptPath] = session
		if last := lastWords(g.Transcript); last != "" {
			in[vocab.LastAssistantMessage] = last
		}
	}
	maps.Copy(in, g.Input)
	payload, err := json.Marshal(in)
	if err != nil {
		return host.Event{}, err
	}
	h := &host.Host{}
	if g.Host != "" {
		named, ok := host.Lookup(g.Host)
		if !ok {
			return host.Event{}, fmt.Errorf("unknown host %q; expected one of %s", g.Host, strings.Join(host.Names(), ", "))
		}
		h = named
	}
	_, ev, err := host.Read(payload, h)
	ev.Name = b.test.Event
	ev.TranscriptPath, ev.AgentTranscriptPath = session, "" // a path in a test is only a string, see world.Name
	return ev, err
}

// env returns the environment of the loop itself, which leads to no files of this machine. Rules see the test's
// variables, see world.Name.
func (b *bench) env(name string) string {
	given := func(name string) string { return b.test.Given.Env[name] }
	return home.In(b.home, given)(name)
}

// nothing replaces own effects and programs: a test checks which effects a policy has, and does not carry them out.
func nothing(context.Context, loop.Call) error { return nil }

// decide makes the decision and applies it if its effects are on real files.
func (b *bench) decide(ctx context.Context, p *rules.Program, name string, own []rules.EffectDecl) (*loop.Decision, error) {
	b.program = p
	ev, err := b.event()
	if err != nil {
		return nil, err
	}
	ev.NewTurn = false // the test's loop memory belongs to this turn
	if b.world, err = newWorld(b.test.Given, p, b.now); err != nil {
		return nil, err
	}
	memory := b.memory(p, ev)
	opts := []loop.Option{
		loop.WithName(name),
		loop.WithRoot(b.project),
		loop.WithStore(memory),
		loop.WithClock(func() time.Time { return b.now }),
		loop.WithEnv(b.env),
		loop.WithPrivate(),
		loop.WithFacts(b.world.around),
	}
	for _, v := range append(own, rules.EffectDecl{Name: string(rules.RunEffect)}) {
		opts = append(opts, loop.WithEffect(v, nothing))
	}
	l, err := loop.New(p, opts...)
	if err != nil {
		return nil, err
	}
	if given := b.test.Given.Loop; given != nil && given.Seen {
		if err := memory.see(p, l.Preview(ctx, ev).Verdict); err != nil {
			return nil, err
		}
	}
	d := l.Preview(ctx, ev)
	if d.Err != nil && !d.Verdict.Cause.Undecided() || untried(d.Verdict) || b.editsLiterals(d) {
		return d, nil
	}
	b.applied = true
	d, _ = l.Apply(ctx, d) // the error is in the decision
	return d, nil
}

// editsLiterals reports whether the decision changes a file that does not exist, because the test gives its value.
func (b *bench) editsLiterals(d *loop.Decision) bool {
	for _, part := range d.Verdict.Parts {
		for _, e := range part.Effects {
			if _, literal := b.test.Given.Facts[e.Fact]; literal {
				return true
			}
		}
	}
	return false
}

// snapshot returns every file of a project by its path with slashes, including ralph's archive.
func snapshot(dir string) (map[string]string, error) {
	out, files := map[string]string{}, os.DirFS(dir)
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, name)
		out[name] = string(data)
		return err
	})
	return out, err
}
