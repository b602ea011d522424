package lsp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/lsp"
)

// editor is the client of a server, with the files of a workspace.
type editor struct {
	t    testing.TB
	conn *jsonrpc2.Conn

	mu      sync.Mutex
	changed chan struct{} // closed at the next publication
	shown   map[string]published
}

// published is what the server last published for a file.
type published struct {
	Version     *int
	Diagnostics []struct {
		Range           span
		Severity        int
		Code            string
		Source          string
		Message         string
		CodeDescription struct{ Href string }
	}
}

type point struct{ Line, Character int }

type span struct{ Start, End point }

// edit starts a server for a workspace. Names of files are relative to it.
func edit(t testing.TB, files map[string]string, opts ...loop.Option) *editor {
	t.Helper()
	saved := fstest.MapFS{}
	for name, src := range files {
		saved[name] = &fstest.MapFile{Data: []byte(src)}
	}
	return open(t, saved, `{"rootUri": "file:///project", "capabilities": {}}`, opts...)
}

func open(t testing.TB, saved fs.FS, hello string, opts ...loop.Option) *editor {
	t.Helper()
	here, there := net.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- lsp.Serve(context.Background(), there, func(dir string) fs.FS {
			if dir != "/project" {
				return nil
			}
			return saved
		}, opts...)
	}()
	e := &editor{t: t, shown: map[string]published{}, changed: make(chan struct{})}
	e.conn = jsonrpc2.NewConn(context.Background(), jsonrpc2.NewBufferedStream(here, jsonrpc2.VSCodeObjectCodec{}), e)
	e.call("initialize", json.RawMessage(hello), nil)
	e.tell("initialized", object{})
	t.Cleanup(func() {
		e.call("shutdown", nil, nil)
		e.tell("exit", nil)
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return e
}

type object = map[string]any

// Handle stores what the server publishes.
func (e *editor) Handle(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) {
	if req.Method != "textDocument/publishDiagnostics" {
		return
	}
	var p struct {
		URI string
		published
	}
	if err := json.Unmarshal(*req.Params, &p); err != nil {
		panic(err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.shown[strings.TrimPrefix(p.URI, "file:///project/")] = p.published
	close(e.changed)
	e.changed = make(chan struct{})
}

func (e *editor) call(method string, params, result any) {
	e.t.Helper()
	if err := e.conn.Call(context.Background(), method, params, result); err != nil {
		e.t.Fatalf("%s: %v", method, err)
	}
}

func (e *editor) tell(method string, params any) {
	e.t.Helper()
	if err := e.conn.Notify(context.Background(), method, params); err != nil {
		e.t.Fatalf("%s: %v", method, err)
	}
}

func uri(name string) string { return "file:///project/" + name }

func (e *editor) open(name, src string) {
	e.t.Helper()
	e.tell("textDocument/didOpen", object{"textDocument": object{"uri": uri(name), "languageId": "yaml", "version": 1, "text": src}})
}

func (e *editor) change(name string, version int, changes ...object) {
	e.t.Helper()
	e.tell("textDocument/didChange", object{"textDocument": object{"uri": uri(name), "version": version}, "contentChanges": changes})
}

// settled waits until the findings of a version of a file are those that are wanted, and returns the last ones otherwise:
// each on a line, line:col-line:col: severity code: message.
func (e *editor) settled(name string, version int, want string) string {
	e.t.Helper()
	late := time.After(20 * time.Second)
	for {
		e.mu.Lock()
		now, changed := e.shown[name], e.changed
		e.mu.Unlock()
		if now.Version != nil && *now.Version == version && now.String() == want {
			return want
		}
		select {
		case <-changed:
		case <-late:
			return now.String()
		}
	}
}

// version waits until the findings of a version of a file are shown.
func (e *editor) version(name string, version int) {
	e.t.Helper()
	for {
		e.mu.Lock()
		now, changed := e.shown[name], e.changed
		e.mu.Unlock()
		if now.Version != nil && *now.Version == version {
			return
		}
		<-changed
	}
}

func (p published) String() string {
	var lines []string
	for _, d := range p.Diagnostics {
		lines = append(lines, fmt.Sprintf("%d:%d-%d:%d: %d %s: %s", d.Range.Start.Line, d.Range.Start.Character, d.Range.End.Line, d.Range.End.Character, d.Severity, d.Code, d.Message))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
