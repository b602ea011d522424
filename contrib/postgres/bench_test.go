//go:build unix

package postgres_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// BenchmarkDecisions compares decisions of 64 goroutines with their bound: pairs of round trips that the same pool makes, one of them a
// commit. The two take turns, and the fastest part of each counts.
func BenchmarkDecisions(b *testing.B) {
	const goroutines, part = 64, 500 * time.Millisecond
	url := empty(b)
	s, pool := open(b, url), connect(b, url)
	l, err := count(s, func() {})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := pool.Exec(b.Context(), `CREATE TABLE pair (id int, n int); INSERT INTO pair SELECT i, 0 FROM generate_series(0, 63) i; CREATE UNIQUE INDEX ON pair (id)`); err != nil {
		b.Fatal(err)
	}
	rate := func(do func(g, n int) error) float64 {
		var done atomic.Int64
		var all sync.WaitGroup
		begin := time.Now()
		for g := range goroutines {
			all.Go(func() {
				for n := 0; time.Since(begin) < part; n++ {
					if err := do(g, n); err != nil {
						b.Error(err)
						return
					}
					done.Add(1)
				}
			})
		}
		all.Wait()
		return float64(done.Load()) / time.Since(begin).Seconds()
	}
	var decisions, pairs float64
	for range b.N {
		pairs = max(pairs, rate(func(g, _ int) error {
			if _, err := pool.Exec(b.Context(), `SELECT n FROM pair WHERE id = $1`, g); err != nil {
				return err
			}
			_, err := pool.Exec(b.Context(), `UPDATE pair SET n = n + 1 WHERE id = $1`, g)
			return err
		}))
		decisions = max(decisions, rate(func(g, n int) error {
			d, err := l.Decide(b.Context(), loop.Event{Session: fmt.Sprint(g), NewPrompt: n%most == 0})
			if err == nil && d.Outcome != rules.Continued {
				err = fmt.Errorf("%s: %s", d.Outcome, d.Reason)
			}
			return err
		}))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(decisions, "decisions/s")
	b.ReportMetric(pairs, "pairs/s")
	b.ReportMetric(decisions/pairs, "ratio")
}
