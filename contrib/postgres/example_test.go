//go:build unix

package postgres_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ralph-sdk/ralph/contrib/postgres"
	"github.com/ralph-sdk/ralph/loop"
)

var policies = fstest.MapFS{"review.yaml": {Data: []byte(`ralph: 1
facts: {open: {value: how many comments are open}}
limits: {continuations: 2}
rules:
  - {name: done, when: open == 0, done: no comment is open}
  - {name: next, continue: "Answer the ${open} comments that are open."}
`)}}

// Decisions of one session, which any process on any machine may make.
func Example() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()
	store, err := postgres.Open(ctx, pool)
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := loop.Load(policies, "review.yaml", loop.WithStore(store), loop.WithRecorder(store.Record), loop.WithScope("acme"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		d, err := l.Decide(ctx, loop.Event{Session: "s1", Values: map[string]any{"open": 4}})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(d.Outcome, "-", d.Reason)
	}
	// Output:
	// continued - Answer the 4 comments that are open.
	// continued - Answer the 4 comments that are open.
	// limit - this prompt was continued 2 times
}

// The SQL of docs/scaling.md runs.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/scaling.md")
	if err != nil {
		t.Fatal(err)
	}
	url := empty(t)
	open(t, url)
	blocks := regexp.MustCompile("(?ms)^```sql\n(.*?)^```$").FindAllSubmatch(page, -1)
	if len(blocks) == 0 {
		t.Error("the page has no SQL")
	}
	for _, b := range blocks {
		if _, err := connect(t, url).Exec(t.Context(), string(b[1])); err != nil {
			t.Errorf("%v\n%s", err, b[1])
		}
	}
}
