package database

import (
	"context"
	"database/sql"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
)

// Rows is the source query. Its first argument is the query, the others are the
// values of its placeholders; the fact is the list of rows:
//
//	facts:
//	  open:
//	    query:
//	      - SELECT id, title FROM ticket WHERE session = ? AND NOT done ORDER BY id
//	      - ${session_id}
//	    schema: {properties: {id: {type: integer}, title: {type: string}}}
type Rows struct{ DB *sql.DB }

// Kind declares the source. The schema describes a row, and the value is a list.
func (Rows) Kind() rules.SourceKind {
	return rules.SourceKind{
		Name: "query", Doc: "The rows of a SQL query; values are arguments behind it.", Argument: "words", Schema: true,
		Value: rules.SourceValue{
			Around: func(row *schema.Schema) *schema.Schema { return &schema.Schema{Kind: schema.Array, Elem: row} },
		},
	}
}

// Gather runs the query. One that fails leaves the fact missing, with the reason.
func (r Rows) Gather(ctx context.Context, q loop.Query) rules.Value {
	list, err := r.query(ctx, q.Args)
	if err != nil {
		return rules.Value{Status: rules.Missing, Problem: "the query failed: " + err.Error()}
	}
	return rules.ValueOf(q.Fact, list)
}

func (r Rows) query(ctx context.Context, args []string) ([]map[string]any, error) {
	values := make([]any, len(args)-1)
	for i, a := range args[1:] {
		values[i] = a
	}
	rows, err := r.DB.QueryContext(ctx, args[0], values...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	list := []map[string]any{}
	for rows.Next() {
		cells, at := make([]any, len(columns)), make([]any, len(columns))
		for i := range cells {
			at[i] = &cells[i]
		}
		if err := rows.Scan(at...); err != nil {
			return nil, err
		}
		row := map[string]any{}
		for i, name := range columns {
			row[name] = cells[i]
		}
		list = append(list, row)
	}
	return list, rows.Err()
}
