package view_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/view"
)

// policy continues while the checklist has open items.
const policy = `ralph: 1
description: Works through TODO.md
facts:
  todo: {checklist: TODO.md}
rules:
  - include: ralph:guards/waiting
  - name: next
    when: any(todo, not .done) # in order
    continue: "Next: ${find(todo, not .done).text}"
  - name: done
    stop: every item is done
    success: true
`

// world is a project whose decisions are shown.
type world struct {
	t          *testing.T
	dir, state string
	project    *project.Project
	loop       *loop.Loop
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), state: t.TempDir()}
	var err error
	if w.dir, err = filepath.EvalSymlinks(w.dir); err != nil {
		t.Fatal(err)
	}
	w.write("TODO.md", "- [ ] one\n")
	w.write(".ralph/policy.yaml", policy)
	if w.project, err = project.Open(project.Config{Dir: w.dir, State: w.state, Env: func(name string) string { return map[string]string{"RALPH_STATE_DIR": w.state}[name] }}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.project.Close() })
	w.load(policy)
	return w
}

func (w *world) write(name, text string) {
	w.t.Helper()
	name = filepath.Join(w.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// load loads a policy as .ralph/policy.yaml.
func (w *world) load(src string) {
	w.t.Helper()
	const name = ".ralph/policy.yaml"
	l, findings := loop.Load(w.t.Context(), fstest.MapFS{name: {Data: []byte(src)}}, name,
		loop.WithName(name), loop.WithRoot(w.dir), loop.WithState(w.state), loop.WithEnv(func(string) string { return "" }))
	if l == nil {
		w.t.Fatal(findings.Err())
	}
	w.loop = l
}

// decide makes a decision, and returns its ID.
func (w *world) decide(session string) string {
	w.t.Helper()
	d, err := w.loop.Run(w.t.Context(), host.Event{Host: host.ClaudeCode, Name: host.Stop, SessionID: session, Cwd: w.dir})
	if err != nil {
		w.t.Fatal(err)
	}
	return d.Record(false).ID
}

// append adds a line to the log as another process does.
func (w *world) append(line string) {
	w.t.Helper()
	if err := store.Open(w.state).AppendLog([]byte(line)); err != nil {
		w.t.Fatal(err)
	}
}

// line is a decision in the log.
func (w *world) line(id string, more ...string) string {
	fields := append([]string{`"v":1`, `"id":` + quoted(id), `"time":"2026-11-23T10:00:00Z"`, `"root":` + quoted(w.dir), `"policy":".ralph/policy.yaml"`, `"event":"Stop"`}, more...)
	return "{" + strings.Join(fields, ",") + "}"
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// browser is one that opened the page.
type browser struct {
	t    *testing.T
	url  string // of the server
	http *http.Client
}

// serve shows the world in a browser.
func (w *world) serve(c view.Config) *browser {
	w.t.Helper()
	if c.Project == nil {
		c.Project = w.project
	}
	s, err := view.New(c)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- s.Serve(ctx) }()
	w.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Error(err)
		}
	})
	return w.open(s)
}

// open opens the page of a server.
func (w *world) open(s *view.Server) *browser {
	w.t.Helper()
	jar, _ := cookiejar.New(nil) // it cannot fail
	base, _, _ := strings.Cut(s.URL(), "/?")
	b := &browser{t: w.t, url: base, http: &http.Client{Jar: jar, Timeout: time.Minute}}
	if r, body := b.get("/" + strings.TrimPrefix(s.URL(), base+"/")); r.StatusCode != http.StatusOK || r.Request.URL.String() != base+"/" {
		w.t.Fatalf("%s at %s: %s", r.Status, r.Request.URL, body)
	}
	return b
}

func (b *browser) get(path string) (*http.Response, string) {
	b.t.Helper()
	r, err := b.http.Get(b.url + path)
	if err != nil {
		b.t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return r, string(body)
}

// ask reads JSON.
func (b *browser) ask(path string, into any) {
	b.t.Helper()
	r, body := b.get(path)
	if r.StatusCode != http.StatusOK || r.Header.Get("Content-Type") != "application/json" {
		b.t.Fatalf("%s: %s %s", path, r.Status, body)
	}
	if err := json.Unmarshal([]byte(body), into); err != nil {
		b.t.Fatalf("%s: %v in %.200s", path, err, body)
	}
}

// A row is what tests read of one.
type row struct {
	N                                int
	ID, Policy, Digest, Outcome, Run string
	Session, Said, By, Root          string
	Continuations, Limit             int
}

type rows struct {
	Rows               []row
	First, Last, Total int
	Reading            bool
}

// all reads all rows, the oldest first, once the server has read the log.
func (b *browser) all() []row {
	b.t.Helper()
	var latest rows
	for latest.Reading = true; latest.Reading; {
		latest = rows{}
		b.ask("/api/decisions", &latest)
	}
	list := latest.Rows
	for len(list) < latest.Total {
		var more rows
		b.ask(fmt.Sprint("/api/decisions?before=", list[0].N), &more)
		if len(more.Rows) == 0 {
			b.t.Fatalf("%d rows of %d", len(list), latest.Total)
		}
		list = append(more.Rows, list...)
	}
	return list
}

func query(name, value string) string { return "?" + url.Values{name: {value}}.Encode() }

// A server ends when the page was not open for long enough, and not while it is.
func TestIdle(t *testing.T) {
	w := newWorld(t)
	s, err := view.New(view.Config{Project: w.project, Idle: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- s.Serve(t.Context()) }()
	b := w.open(s)
	ctx, cancel := context.WithCancel(t.Context())
	page := b.stream(ctx, 0, "")
	for i := range 4 { // each is seen by the next look at the log, 200 ms later
		w.decide("s1")
		page.until(i + 1)
	}
	if r, _ := b.get("/api/page"); r.StatusCode != http.StatusOK {
		t.Errorf("with an open page it answers %s", r.Status)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
