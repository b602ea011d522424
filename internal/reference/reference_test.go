package reference_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/internal/reference"
)

// Numbers are written as people write them.
func TestNumbers(t *testing.T) {
	got := []string{
		reference.Number(7), reference.Number(1000), reference.Number(1234567),
		reference.Size(400), reference.Size(1536), reference.Size(64 << 10), reference.Size(8 << 20), reference.Size(1<<20 + 1),
		reference.Duration(200 * time.Millisecond), reference.Duration(8 * time.Second), reference.Duration(90 * time.Second),
		reference.Duration(10 * time.Minute), reference.Duration(24 * time.Hour), reference.Duration(30 * 24 * time.Hour), reference.Duration(0),
	}
	want := []string{
		"7", "1,000", "1,234,567",
		"400 bytes", "1,536 bytes", "64 KiB", "8 MiB", "1,048,577 bytes",
		"200ms", "8s", "1m30s", "10m", "24h", "720h (30 days)", "0s",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
