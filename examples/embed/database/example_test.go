package database_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"testing/fstest"

	_ "modernc.org/sqlite"

	"github.com/ralph-sdk/ralph/examples/embed/database"
	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
)

var policies = fstest.MapFS{"tickets.yaml": {Data: []byte(`ralph: 1
facts:
  open:
    query:
      - SELECT id, title FROM ticket WHERE session = ? AND NOT done ORDER BY id
      - ${session_id}
    schema: {properties: {id: {type: integer}, title: {type: string}}}
limits: {continuations: 3}
rules:
  - name: next-ticket
    when: len(open) > 0
    continue: "Work on ticket ${open[0].id}: ${open[0].title}"
`)}}

// open opens a SQLite database. A transaction takes the write lock when it begins,
// and others wait for it.
func open(file string) (*sql.DB, error) {
	return sql.Open("sqlite", "file:"+file+"?_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=journal_mode(wal)")
}

// Facts and memory in one database: any process that opens it continues the loop.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "database")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := open(filepath.Join(dir, "app.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, `
		CREATE TABLE ticket (id INTEGER PRIMARY KEY, session TEXT, title TEXT, done BOOLEAN);
		INSERT INTO ticket VALUES (7, 's1', 'Fix the login', FALSE), (8, 's2', 'Rename the flag', FALSE)`)
	if err != nil {
		log.Fatal(err)
	}

	for restart := range 4 {
		store, err := database.NewStore(ctx, db)
		if err != nil {
			log.Fatal(err)
		}
		l, diags := loop.Load(ctx, policies, "tickets.yaml", loop.WithSource(database.Rows{DB: db}), loop.WithStore(store))
		if l == nil {
			log.Fatal(diags.Err())
		}
		d, err := l.Run(ctx, host.Event{SessionID: "s1"})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(restart, d.Verdict.Action, d.Verdict.Rule, d.Verdict.Reason)
	}
	// Output:
	// 0 continue next-ticket Work on ticket 7: Fix the login
	// 1 continue next-ticket Work on ticket 7: Fix the login
	// 2 continue next-ticket Work on ticket 7: Fix the login
	// 3 stop limits.continuations the limit of 3 continuations per prompt is reached
}
