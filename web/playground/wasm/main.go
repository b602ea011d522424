//go:build js && wasm

// Command wasm is the engine of the playground in a Worker. ralph(id, name, question) asks it, and it answers with
// postMessage({id, answer}) or postMessage({id, problem}).
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"syscall/js"
	"testing/fstest"

	"github.com/ralph-sdk/ralph/lsp"
	"github.com/ralph-sdk/ralph/web/playground/engine"
)

type question struct {
	id   js.Value
	name string
	text []byte
}

func main() {
	// A function of JavaScript must not wait, so it only hands over the question.
	questions := make(chan question, 16)
	js.Global().Set("ralph", js.FuncOf(func(_ js.Value, args []js.Value) any {
		questions <- question{args[0], args[1].String(), []byte(args[2].String())}
		return nil
	}))
	editor := newEditor()
	go func() { _ = lsp.Serve(context.Background(), editor, editor.files, engine.Options()...) }() // it ends with the Worker
	// The browser compiles what runs first, which takes longer than any question may.
	var e engine.Engine
	ctx := context.Background()
	e.Load(engine.Files{Policy: "p.yaml", Files: map[string]string{"p.yaml": "ralph: 1\nrules: [{name: r, stop: stops}]\n"}})
	e.Decide(ctx, engine.Situation{})
	js.Global().Call("postMessage", map[string]any{"ready": true})
	for q := range questions {
		message := map[string]any{"id": q.id}
		if answer, err := answer(&e, q); err != nil {
			message["problem"] = err.Error()
		} else {
			message["answer"] = string(answer)
		}
		js.Global().Call("postMessage", message)
	}
}

// editor is the connection of the language server to the page: ralphWords(message) and postMessage({words: message}), where
// a message is JSON, without the head that the protocol has on a stream.
type editor struct {
	*io.PipeReader
	out []byte // what is not a whole message yet
}

func newEditor() *editor {
	r, w := io.Pipe()
	messages := make(chan string, 64)
	js.Global().Set("ralphWords", js.FuncOf(func(_ js.Value, args []js.Value) any {
		messages <- args[0].String()
		return nil
	}))
	go func() {
		for m := range messages {
			_, _ = fmt.Fprintf(w, "Content-Length: %d\r\n\r\n%s", len(m), m) // the reader does not end
		}
	}()
	return &editor{PipeReader: r}
}

// files returns no files: the page opens all texts in the editor.
func (*editor) files(string) fs.FS { return fstest.MapFS{} }

func (e *editor) Write(b []byte) (int, error) {
	e.out = append(e.out, b...)
	for {
		head, rest, whole := bytes.Cut(e.out, []byte("\r\n\r\n"))
		var length int
		if _, err := fmt.Sscanf(string(head), "Content-Length: %d", &length); !whole || err != nil || len(rest) < length {
			return len(b), nil
		}
		js.Global().Call("postMessage", map[string]any{"words": string(rest[:length])})
		e.out = bytes.Clone(rest[length:])
	}
}

func answer(e *engine.Engine, q question) (answer []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the engine failed: %v", v)
		}
	}()
	return e.Answer(context.Background(), q.name, q.text)
}
