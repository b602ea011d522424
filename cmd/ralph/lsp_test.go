package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
)

// What an editor reads is what the server writes: the answers, in their order, without a change.
func TestLSP(t *testing.T) {
	var in, out, stderr bytes.Buffer
	for _, message := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`,
		`{"jsonrpc":"2.0","id":2,"method":"shutdown"}`,
		`{"jsonrpc":"2.0","method":"exit"}`,
	} {
		fmt.Fprintf(&in, "Content-Length: %d\r\n\r\n%s", len(message), message)
	}
	a := &app{stdin: &in, stdout: &out, stderr: &stderr, getenv: func(string) string { return "" }}
	if status := a.run(t.Context(), []string{"lsp"}); status != exitOK || stderr.Len() > 0 {
		t.Fatalf("status %d, stderr %q", status, &stderr)
	}
	var answers []string
	for out.Len() > 0 {
		var n int
		if _, err := fmt.Fscanf(&out, "Content-Length: %d\r\n\r\n", &n); err != nil {
			t.Fatal(err)
		}
		message, _ := io.ReadAll(io.LimitReader(&out, int64(n)))
		answers = append(answers, string(message))
	}
	if len(answers) != 2 || !strings.Contains(answers[0], `"positionEncoding":"utf-16"`) || !strings.Contains(answers[1], `"id":2`) {
		t.Errorf("it answered %q", answers)
	}
}
