package looptest_test

import (
	"io"
	"log/slog"
	"testing"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/looptest"
)

func TestInMemory(t *testing.T) {
	looptest.Store(t, func(*testing.T) loop.Store { return loop.InMemory() })
}

func TestLocalStore(t *testing.T) {
	looptest.Store(t, func(t *testing.T) loop.Store { return loop.LocalStore(t.TempDir()) })
}

func TestRecords(t *testing.T) {
	looptest.Recorder(t, func(*testing.T) (loop.Recorder, func() []*loop.Record) {
		records := new(looptest.Records)
		return records, records.All
	})
}

func TestSlogRecorder(t *testing.T) {
	looptest.Recorder(t, func(*testing.T) (loop.Recorder, func() []*loop.Record) {
		return loop.SlogRecorder(slog.New(slog.NewJSONHandler(io.Discard, nil))), nil
	})
}
