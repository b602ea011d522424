package looptest_test

import (
	"testing"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/looptest"
)

// A test of a store, which each subtest opens empty.
func ExampleStore() {
	_ = func(t *testing.T) { // func TestStore(t *testing.T)
		looptest.Store(t, func(t *testing.T) loop.Store { return loop.Dir(t.TempDir()) })
	}
}
