package main

import (
	"fmt"
	"runtime/metrics"
	"time"
)

// maxHeap is the memory that one decision may take. A state file of 16 MiB takes a fifth of it.
const maxHeap = 1 << 30

// guard calls end once a decision has taken too long or too much memory, whatever it does: an expression cannot be cancelled.
func guard(deadline time.Duration, end func(error)) (stop func()) {
	done := make(chan struct{})
	go func() {
		tick, late := time.NewTicker(20*time.Millisecond), time.After(deadline)
		defer tick.Stop()
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		for {
			select {
			case <-done:
				return
			case <-late:
				end(fmt.Errorf("no decision within %v", deadline.Round(100*time.Millisecond)))
			case <-tick.C:
				if metrics.Read(sample); sample[0].Value.Uint64() > maxHeap {
					end(fmt.Errorf("the decision took more than %d MiB of memory", maxHeap>>20))
				}
			}
		}
	}()
	return func() { close(done) }
}
