//go:build js && wasm

// Command wasm is the engine of the playground in a Worker. ralph(id, name, question) asks it, and it answers with
// postMessage({id, answer}) or postMessage({id, problem}).
package main

import (
	"context"
	"fmt"
	"syscall/js"

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
	// The browser compiles what runs first, which takes longer than any question may.
	var e engine.Engine
	ctx := context.Background()
	e.Load(ctx, engine.Files{Policy: "p.yaml", Files: map[string]string{"p.yaml": "ralph: 1\nrules: [{name: r, stop: stops}]\n"}})
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

func answer(e *engine.Engine, q question) (answer []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the engine failed: %v", v)
		}
	}()
	return e.Answer(context.Background(), q.name, q.text)
}
