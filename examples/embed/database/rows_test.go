package database_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/examples/embed/database"
	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
)

// A value is an argument of the query, whatever it holds, and a query that fails is an
// error.
func TestRows(t *testing.T) {
	for _, test := range []struct{ name, schema, session, reason string }{
		{"found", `CREATE TABLE ticket (id INTEGER, session TEXT, title TEXT, done BOOLEAN);
			INSERT INTO ticket VALUES (7, 's1', 'a', TRUE), (9, 's1', 'c', FALSE), (8, 's1', 'b', FALSE)`, "s1", "Work on ticket 8: b"},
		{"quotes", `CREATE TABLE ticket (id INTEGER, session TEXT, title TEXT, done BOOLEAN);
			INSERT INTO ticket VALUES (7, 's1', 'a', FALSE)`, `' OR '1' = '1`, ""},
		{"no table", "", "s1", "the query failed: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			db, err := open(filepath.Join(t.TempDir(), "app.db"))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.ExecContext(t.Context(), test.schema); err != nil {
				t.Fatal(err)
			}
			l, diags := loop.Load(t.Context(), policies, "tickets.yaml", loop.WithSource(database.Rows{DB: db}))
			if l == nil {
				t.Fatal(diags.Err())
			}
			d := l.Preview(t.Context(), host.Event{SessionID: test.session})
			if got := d.Verdict.Reason; (got == "") != (test.reason == "") || !strings.Contains(got, test.reason) {
				t.Errorf("the reason is %q, want %q", got, test.reason)
			}
		})
	}
}
