package loop_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// jsonLines writes each decision with its whole trace as a line of JSON.
type jsonLines struct{ *json.Encoder }

func (w jsonLines) Record(_ context.Context, r *loop.Record) error { return w.Encode(r) }

// A record holds the whole trace and has one JSON form, which reads back.
func ExampleRecord() {
	ctx := context.Background()
	program, _ := rules.LoadBytes(ctx, "once.yaml", []byte(`ralph: 1
rules:
  - name: check
    when: not stop_hook_active
    continue: Run the tests again.
`), loop.Config())
	var lines bytes.Buffer
	l, err := loop.New(program, loop.WithRecorder(jsonLines{json.NewEncoder(&lines)}))
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := l.Run(ctx, host.Event{SessionID: "s1"}); err != nil {
		fmt.Println(err)
		return
	}
	var r loop.Record
	if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
		fmt.Println(err)
		return
	}
	for _, step := range r.Trace.Steps {
		fmt.Println(step.Pos, step.Rule, step.Outcome)
		for _, o := range step.Operands {
			fmt.Printf("  %s is %v\n", o.Text, o.Value)
		}
	}
	// Output:
	// once.yaml:3:5 check holds
	//   not stop_hook_active is true
}
