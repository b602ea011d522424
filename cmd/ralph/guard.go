package main

import (
	"fmt"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// maxHeap is the memory that one decision may take. A state file of 16 MiB takes a fifth of it.
const maxHeap = 1 << 30

// guard calls end once a decision has taken too long or too much memory, whatever it does: an expression cannot be cancelled. Timers start
// no goroutine in a decision that is over before they fire, as most are.
func guard(deadline time.Duration, end func(error)) (stop func()) {
	const pause = 20 * time.Millisecond
	late := time.AfterFunc(deadline, func() { end(fmt.Errorf("no decision within %v", deadline.Round(100*time.Millisecond))) })
	var stopped atomic.Bool
	var watch func()
	watch = func() {
		if stopped.Load() {
			return
		}
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		if metrics.Read(sample); sample[0].Value.Uint64() > maxHeap {
			end(fmt.Errorf("the decision took more than %d MiB of memory", maxHeap>>20))
		}
		time.AfterFunc(pause, watch)
	}
	time.AfterFunc(pause, watch)
	return func() {
		late.Stop()
		stopped.Store(true)
	}
}
