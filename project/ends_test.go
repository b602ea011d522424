package project_test

import (
	"context"
	"testing"
	"time"

	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/run"
)

// A run whose rate limit resets after its time gets as much time again from then on.
func TestAdviceBeyondAReset(t *testing.T) {
	dir := t.TempDir()
	p, err := project.Open(project.Config{Dir: dir, State: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	resets := now.Add(3 * time.Hour)
	for _, tt := range []struct {
		name   string
		resets *time.Time
		want   string
	}{
		{"known", &resets, "run `ralph run --resume=r-1 --for 4h10m` to continue"},
		{"unknown", nil, "run `ralph run --resume=r-1 --for 1h10m` to continue"},
	} {
		i := run.Info{ID: "r-1", Root: dir, Ended: run.NoReset, Latest: now, Resets: tt.resets}
		i.Limits.Elapsed, i.Totals.Elapsed, i.Totals.Iterations = time.Hour, 10*time.Minute, 1
		if got := p.Advice(context.Background(), i); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}
