package host_test

import (
	"context"
	"fmt"
	"os"

	"github.com/ralph-sdk/ralph/host"
)

// The marker counts if the agent writes it in its current turn, not if the user asks for it.
func ExampleReadSession() {
	f, err := os.CreateTemp("", "*.jsonl")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.Remove(f.Name())
	fmt.Fprintln(f, `{"type":"user","message":{"content":"Print ALL_DONE on a line of its own when you are done."}}`)
	fmt.Fprintln(f, `{"type":"assistant","message":{"content":[{"type":"text","text":"Two tasks are left.\n\nNot ALL_DONE yet."}]}}`)
	f.Close()

	s, err := host.ReadSession(context.Background(), f.Name(), host.SessionOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(host.Said.In(host.Words(s, ""), "ALL_DONE"))
	fmt.Println(host.Said.In(host.Words(s, "Ready.\n\n**ALL_DONE**"), "ALL_DONE"))
	// Output:
	// false
	// true
}
