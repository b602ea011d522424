package embed_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing/fstest"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// A function and a source of the program. An error that is fs.ErrNotExist makes the fact missing, any other makes it invalid.
func Example_source() {
	files := fstest.MapFS{"ci.yaml": {Data: []byte(`ralph: 1
facts:
  ci: {pipeline: "${cwd}", timeout: 20ms}
rules:
  - name: green
    when: ci.status == "passed"
    done: the pipeline passed
  - name: red
    when: ci.status == "failed" and office_hours()
    continue: "The pipeline failed: ${ci.job}"
`)}}
	down := errors.New("the CI server is down")
	answer := func(ctx context.Context, project string) (any, error) {
		switch project {
		case "shop":
			return map[string]any{"status": "failed", "job": "lint"}, nil
		case "new":
			return nil, fs.ErrNotExist
		case "far":
			<-ctx.Done() // it is slow, and its own timeout ends it
			return nil, ctx.Err()
		}
		return nil, down
	}
	l, err := loop.Load(files, "ci.yaml",
		loop.WithSource("pipeline", func(ctx context.Context, _ loop.Event, q rules.Query) (any, error) { return answer(ctx, q.Args[0]) }),
		loop.WithFunction("office_hours", func() bool { return true }))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, project := range []string{"shop", "new", "far", "old"} {
		d, _ := l.Decide(context.Background(), loop.Event{Session: project, Dir: project})
		fmt.Println(project, d.Outcome, d.Rule, errors.Is(d.Err, down))
	}
	// Output:
	// shop continued red false
	// new idle  false
	// far failed green false
	// old failed green true
}
