package amount_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/internal/amount"
)

func TestOf(t *testing.T) {
	got := []string{amount.Of(0, "task"), amount.Of(1, "task"), amount.Of(2, "task"), amount.Of(1, "process"), amount.Of(3, "process")}
	if diff := cmp.Diff([]string{"0 tasks", "1 task", "2 tasks", "1 process", "3 processes"}, got); diff != "" {
		t.Errorf("amounts (-want +got)\n%s", diff)
	}
}

func TestTime(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0s": 0, "200ms": 200 * time.Millisecond, "8s": 8 * time.Second, "10s": 10 * time.Second, "1m30s": 90 * time.Second,
		"5m": 5 * time.Minute, "10m": 10 * time.Minute, "1h10m": 70 * time.Minute, "1h0m10s": time.Hour + 10*time.Second, "24h": 24 * time.Hour,
	} {
		if got := amount.Time(d); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
