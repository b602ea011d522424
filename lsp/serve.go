package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"maps"
	"slices"
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// Serve answers an editor on a stream, as the Language Server Protocol says, until the editor exits, the stream ends or
// ctx is done. It returns an error if the editor did not say goodbye.
//
// files returns the files below a directory, such as os.DirFS; nil has none but those that are open in the editor. opts
// are those of the loops that use the policies: Serve knows the facts, functions, effects and events that they add.
func Serve(ctx context.Context, rwc io.ReadWriteCloser, files func(dir string) fs.FS, opts ...loop.Option) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	language := loop.Config(opts...)
	language.Deadline = 0 // of a hook, which is not known here
	s := &server{
		ctx: ctx, language: language, saved: files, wake: make(chan struct{}, 1), snap: &snapshot{units: utf16Units, saved: files},
		ready: make(chan struct{}), known: map[location]*known{}, found: map[location]including{}, grammars: map[kind]grammar{}, calls: map[jsonrpc2.ID]context.CancelFunc{}, shown: map[string]shown{}, roots: map[location]*analysis{},
	}
	stream := jsonrpc2.NewBufferedStream(rwc, jsonrpc2.VSCodeObjectCodec{})
	s.conn = jsonrpc2.NewConn(ctx, stream, s, jsonrpc2.SetLogger(log.New(io.Discard, "", 0)))
	close(s.ready)
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.check()
	}()
	<-s.conn.DisconnectNotify()
	cancel()
	<-done
	s.pending.Wait()
	if !s.ended {
		return errors.New("the editor closed the connection without the request shutdown")
	}
	return nil
}

// server serves one editor. Messages are handled in their order, by storing a new snapshot; requests are then answered
// from their snapshot, each in a goroutine of its own.
type server struct {
	ctx      context.Context
	conn     *jsonrpc2.Conn
	language rules.Config
	saved    func(dir string) fs.FS
	wake     chan struct{} // there is something to check
	pending  sync.WaitGroup
	ready    chan struct{} // closed once conn is set

	mu       sync.Mutex
	ended    bool // shutdown was requested
	snap     *snapshot
	known    map[location]*known
	found    map[location]including
	grammars map[kind]grammar
	calls    map[jsonrpc2.ID]context.CancelFunc

	// Of the goroutine that checks.
	roots map[location]*analysis // whose findings are shown
	shown map[string]shown       // by URI
}

// snapshot is what the editor has open. It does not change.
type snapshot struct {
	units   encoding
	folders []string
	saved   func(dir string) fs.FS
	epoch   int // of what is saved: it may be different in the next one
	open    map[string]*document
}

// document is a version of a file in the editor.
type document struct {
	uri     string
	at      location
	version int
	text    *text
}

// with returns the snapshot after a document was opened or changed.
func (s *snapshot) with(d *document) *snapshot {
	next := *s
	next.open = maps.Clone(s.open)
	next.open[d.uri] = d
	return &next
}

// files returns the open files of a root.
func (s *snapshot) files(root string) map[string]*text {
	files := map[string]*text{}
	for _, d := range s.open {
		if d.at.root == root {
			files[d.at.name] = d.text
		}
	}
	return files
}

func (s *snapshot) overlay(root string) *overlay {
	o := &overlay{open: s.files(root)}
	if dir, ok := dirOf(root); ok && s.saved != nil {
		o.saved = s.saved(dir)
	}
	return o
}

// uri returns the URI of a location, as the editor wrote it.
func (s *snapshot) uri(at location) string {
	for _, d := range s.open {
		if d.at == at {
			return d.uri
		}
	}
	return at.uri()
}

// known is the last analysis of a file. mu is held while it is checked: one check at a time for each file.
type known struct {
	mu     sync.Mutex
	last   *analysis
	cancel context.CancelFunc // of the check that runs; guarded by server.mu
	input  *snapshot          // of that check
}

// look returns the analysis of a file in a snapshot, nil if there is none, or if a newer version of the file arrived.
func (s *server) look(ctx context.Context, snap *snapshot, at location) *analysis {
	s.mu.Lock()
	k := s.known[at]
	if k == nil {
		k = &known{}
		s.known[at] = k
	}
	s.mu.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.last != nil && k.last.current(snap) {
		return k.last
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.mu.Lock()
	k.cancel, k.input = cancel, snap
	s.mu.Unlock()
	a := s.analyze(ctx, snap, at)
	s.mu.Lock()
	k.cancel, k.input = nil, nil
	s.mu.Unlock()
	if a != nil {
		k.last = a
	}
	return a
}

// change replaces the snapshot, ends the checks of older versions and wakes the goroutine that checks.
func (s *server) change(edit func(*snapshot)) {
	s.mu.Lock()
	next := *s.snap
	next.open = maps.Clone(s.snap.open)
	if next.open == nil {
		next.open = map[string]*document{}
	}
	edit(&next)
	s.snap = &next
	for at, k := range s.known {
		if k.cancel != nil && k.input.open[k.input.uri(at)] != next.open[next.uri(at)] {
			k.cancel()
		}
	}
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Handle handles a message. It only stores what the editor has, so that the next message is read at once.
func (s *server) Handle(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) {
	<-s.ready
	raw := json.RawMessage("{}")
	if req.Params != nil {
		raw = *req.Params
	}
	var p params
	err := json.Unmarshal(raw, &p)
	switch {
	case err != nil:
	case req.Notif:
		s.notified(req.Method, raw, p)
		return
	case req.Method == "initialize":
		err = conn.Reply(ctx, req.ID, s.initialize(raw))
	case req.Method == "shutdown":
		s.mu.Lock()
		s.ended = true
		s.mu.Unlock()
		err = conn.Reply(ctx, req.ID, nil)
	default:
		s.request(ctx, req, p)
		return
	}
	if err != nil && !req.Notif {
		_ = conn.ReplyWithError(ctx, req.ID, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: err.Error()})
	}
}

// request answers a request in a goroutine of its own.
func (s *server) request(ctx context.Context, req *jsonrpc2.Request, p params) {
	answer := s.answers()[req.Method]
	if answer == nil {
		_ = s.conn.ReplyWithError(ctx, req.ID, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "unknown method " + req.Method})
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	s.mu.Lock()
	snap := s.snap
	s.calls[req.ID] = cancel
	s.mu.Unlock()
	s.pending.Add(1)
	go func() {
		defer s.pending.Done()
		defer cancel()
		result, failed := s.answer(ctx, snap, p, answer)
		s.mu.Lock()
		delete(s.calls, req.ID)
		s.mu.Unlock()
		if failed != nil {
			_ = s.conn.ReplyWithError(ctx, req.ID, failed)
			return
		}
		_ = s.conn.Reply(ctx, req.ID, result)
	}()
}

// The errors of the protocol.
const (
	requestCancelled = -32800
	contentModified  = -32801
	requestFailed    = -32803
)

// answer calls a method about the file that is asked about. A bug is an error of that request.
func (s *server) answer(ctx context.Context, snap *snapshot, p params, method func(context.Context, *view, params) (any, error)) (result any, failed *jsonrpc2.Error) {
	defer func() {
		if r := recover(); r != nil {
			result, failed = nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: fmt.Sprintf("internal error: %v", r)}
		}
	}()
	d := snap.open[p.TextDocument.URI]
	if d == nil {
		return nil, nil
	}
	a := s.look(ctx, snap, d.at)
	switch {
	case ctx.Err() != nil:
		return nil, &jsonrpc2.Error{Code: requestCancelled, Message: "the request was cancelled"}
	case a == nil:
		return nil, &jsonrpc2.Error{Code: contentModified, Message: "the file has changed"}
	}
	result, err := method(ctx, &view{server: s, snap: snap, doc: d, a: a}, p)
	if err != nil {
		return nil, &jsonrpc2.Error{Code: requestFailed, Message: err.Error()}
	}
	return result, nil
}

// view is a file that a request is about.
type view struct {
	server *server
	snap   *snapshot
	doc    *document
	a      *analysis
}

// answers returns the requests about a file.
func (s *server) answers() map[string]func(context.Context, *view, params) (any, error) {
	return map[string]func(context.Context, *view, params) (any, error){
		"textDocument/hover": hover, "textDocument/completion": completion, "textDocument/definition": definition,
		"textDocument/references": references, "textDocument/prepareRename": prepareRename, "textDocument/rename": rename,
		"textDocument/documentSymbol": symbols, "textDocument/codeAction": actions, "textDocument/codeLens": lenses,
		"textDocument/semanticTokens/full": tokens,
	}
}

// notified handles a notification.
func (s *server) notified(method string, raw json.RawMessage, p params) {
	uri := p.TextDocument.URI
	switch method {
	case "textDocument/didOpen":
		s.change(func(next *snapshot) {
			next.open[uri] = &document{uri, locate(uri, next.folders), p.TextDocument.Version, newText(p.TextDocument.Text, next.units)}
		})
	case "textDocument/didChange":
		s.change(func(next *snapshot) {
			old := next.open[uri]
			if old == nil {
				return
			}
			d := *old
			d.version = p.TextDocument.Version
			for _, c := range p.ContentChanges {
				d.text = d.text.changed(c)
			}
			next.open[uri] = &d
		})
	case "textDocument/didClose":
		s.change(func(next *snapshot) {
			delete(next.open, uri)
			next.epoch++
		})
	case "textDocument/didSave", "workspace/didChangeWatchedFiles":
		s.change(func(next *snapshot) { next.epoch++ })
	case "$/cancelRequest":
		var cancel struct{ ID jsonrpc2.ID }
		if json.Unmarshal(raw, &cancel) == nil {
			s.mu.Lock()
			if stop := s.calls[cancel.ID]; stop != nil {
				stop()
			}
			s.mu.Unlock()
		}
	case "exit":
		_ = s.conn.Close()
	}
}

// initialize agrees with the editor on what both can do.
func (s *server) initialize(raw json.RawMessage) any {
	var p struct {
		RootURI          string `json:"rootUri"`
		WorkspaceFolders []struct{ URI string }
		Capabilities     struct {
			General struct {
				PositionEncodings []encoding
			}
		}
	}
	_ = json.Unmarshal(raw, &p) // what cannot be read has its default
	units := utf16Units
	for _, offered := range p.Capabilities.General.PositionEncodings {
		if offered == utf8Units || offered == utf16Units || offered == utf32Units {
			units = offered
			break
		}
	}
	s.change(func(next *snapshot) {
		next.units = units
		for _, f := range p.WorkspaceFolders {
			next.folders = append(next.folders, f.URI)
		}
		if len(next.folders) == 0 && p.RootURI != "" {
			next.folders = append(next.folders, p.RootURI)
		}
	})
	return map[string]any{
		"serverInfo":   map[string]any{"name": "ralph"},
		"capabilities": capabilities(units),
	}
}

// capabilities returns what the server can do.
func capabilities(units encoding) map[string]any {
	return map[string]any{
		"positionEncoding": units,
		"textDocumentSync": map[string]any{"openClose": true, "change": 2, "save": true},
		"hoverProvider":    true, "definitionProvider": true, "referencesProvider": true, "documentSymbolProvider": true,
		"completionProvider":     map[string]any{"triggerCharacters": []string{".", "\"", "{", " ", "(", "/"}},
		"renameProvider":         map[string]any{"prepareProvider": true},
		"codeActionProvider":     map[string]any{"codeActionKinds": []string{"quickfix"}},
		"codeLensProvider":       map[string]any{},
		"semanticTokensProvider": map[string]any{"legend": map[string]any{"tokenTypes": tokenKinds(), "tokenModifiers": []string{}}, "full": true},
	}
}

// params has what the requests and notifications about a file have.
type params struct {
	TextDocument struct {
		URI     string
		Version int
		Text    string
	}
	ContentChanges []change
	Position       position
	Range          span
	NewName        string
	Context        struct {
		IncludeDeclaration bool
		Diagnostics        []diagnostic
	}
}

// sorted returns the open documents by their URIs.
func (s *snapshot) sorted() []*document {
	docs := slices.Collect(maps.Values(s.open))
	slices.SortFunc(docs, func(a, b *document) int { return cmp.Compare(a.uri, b.uri) })
	return docs
}
