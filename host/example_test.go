package host_test

import (
	"fmt"

	"github.com/ralph-sdk/ralph/host"
)

// A hook reads the input, decides, and answers in the format of the host that ran it.
func Example() {
	stdin := []byte(`{"hook_event_name":"stop","conversation_id":"c-7","loop_count":1,"workspace_roots":["/home/ada/shop"]}`)

	h, ev, err := host.Read(stdin, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(ev.Host, ev.Name, ev.SessionID, ev.Cwd)

	answer := h.Encode(host.Reply{Event: ev.Name, Continue: true, Reason: "Task 2 is next."})
	fmt.Printf("%s", answer.Stdout)
	// Output:
	// cursor Stop c-7 /home/ada/shop
	// {"followup_message":"Task 2 is next."}
}
