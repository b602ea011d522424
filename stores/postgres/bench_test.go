//go:build unix

package postgres_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

// BenchmarkDecisions shows decisions a second, each with its record, of one and two processes, and the share of the slower
// process: a half is fair.
func BenchmarkDecisions(b *testing.B) {
	for _, sessions := range []string{"own", "shared"} {
		for processes := 1; processes <= 2; processes++ {
			for _, goroutines := range []int{1, 8, 64} {
				b.Run(fmt.Sprintf("%s sessions/%d processes/%d goroutines", sessions, processes, goroutines), func(b *testing.B) {
					url := shared.empty(b)
					open(b, connect(b, url))
					var all []rate
					for run := 0; b.Loop(); run++ {
						all = append(all, decide(b, url, sessions, processes, goroutines, run)...)
					}
					report(b, all, processes)
				})
			}
		}
	}
}

const window = 1500 * time.Millisecond

// decide lets processes decide for a time. Each run has new sessions.
func decide(b *testing.B, url, sessions string, processes, goroutines, run int) []rate {
	all := make([]*process, processes)
	for p := range all {
		w := workload{URL: url, Scope: fmt.Sprint(run), Limit: 10_000, Goroutines: goroutines, For: window}
		for g := range goroutines {
			if sessions == "shared" {
				w.Sessions = []string{"s"}
			} else {
				w.Sessions = append(w.Sessions, fmt.Sprintf("s%d-%d", p, g))
			}
		}
		all[p] = w.begin(b)
	}
	for _, p := range all {
		p.send()
	}
	rates := make([]rate, processes)
	for i, p := range all {
		if !p.out.Scan() {
			b.Fatal("a process has ended")
		}
		if err := json.Unmarshal(p.out.Bytes(), &rates[i]); err != nil {
			b.Fatal(err)
		}
	}
	return rates
}

func report(b *testing.B, all []rate, processes int) {
	var sum, failed int
	var p50, p99 time.Duration
	share := 1.0
	for i := 0; i < len(all); i += processes {
		n, least := 0, all[i].Decisions
		for _, r := range all[i : i+processes] {
			n, least = n+r.Decisions, min(least, r.Decisions)
			failed += r.Failed
			p50, p99 = max(p50, r.P50), max(p99, r.P99)
		}
		sum += n
		share = min(share, float64(least)/float64(max(n, 1)))
	}
	b.ReportMetric(0, "ns/op") // a run has a fixed time
	b.ReportMetric(float64(sum)/(window.Seconds()*float64(len(all)/processes)), "decisions/s")
	b.ReportMetric(float64(p50.Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(p99.Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(failed), "failed")
	if processes > 1 {
		b.ReportMetric(share, "least-share")
	}
}
