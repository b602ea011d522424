package lsp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/lsp"
	"github.com/ralph-sdk/ralph/rules"
)

// A program serves the functions that it adds to the language, here deployed. An editor that starts the program would be at the
// other end of its stdin and stdout.
func ExampleServe() {
	here, there := net.Pipe()
	go lsp.Serve(context.Background(), there, nil, loop.WithFunctions(rules.Function{
		Name: "deployed", Doc: "Whether a service runs in its newest version.", Func: func(service string) bool { return false },
	}))

	editor := jsonrpc2.NewConn(context.Background(), jsonrpc2.NewBufferedStream(here, jsonrpc2.VSCodeObjectCodec{}),
		jsonrpc2.HandlerWithError(func(context.Context, *jsonrpc2.Conn, *jsonrpc2.Request) (any, error) { return nil, nil }))
	defer editor.Close()
	call := func(method string, params string) (result json.RawMessage) {
		if err := editor.Call(context.Background(), method, json.RawMessage(params), &result); err != nil {
			panic(err)
		}
		return result
	}
	call("initialize", `{}`)
	editor.Notify(context.Background(), "textDocument/didOpen", json.RawMessage(`{"textDocument": {"uri": "untitled:1", "version": 1,
		"text": "ralph: 1\nrules:\n  - {name: go, when: 'not deployed(\"shop\")', continue: Deploy the shop.}\n"}}`))
	var hover struct{ Contents struct{ Value string } }
	json.Unmarshal(call("textDocument/hover", `{"textDocument": {"uri": "untitled:1"}, "position": {"line": 2, "character": 32}}`), &hover)
	fmt.Println(hover.Contents.Value)
	// Output:
	// ```
	// function deployed
	// ```
	//
	// Whether a service runs in its newest version.
}
