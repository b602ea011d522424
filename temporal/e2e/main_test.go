package e2e

import (
	"testing"

	"go.temporal.io/server/temporaltest"
)

func TestStart(t *testing.T) {
	ts := temporaltest.NewServer(temporaltest.WithT(t))
	_ = ts
}
