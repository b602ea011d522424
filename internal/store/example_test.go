package store_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/ralph-sdk/ralph/internal/store"
)

// The memory of a loop is compared before it is replaced.
func ExampleStore_SaveMemory() {
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	s := store.Open(dir)
	unlock, err := s.Lock(context.Background(), []string{store.MemoryLock(store.MemoryKey{Root: "session and policy"})})
	if err != nil {
		log.Fatal(err)
	}
	defer unlock()

	_, version, err := s.LoadMemory(store.MemoryKey{Root: "session and policy"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.SaveMemory(store.MemoryKey{Root: "session and policy"}, []byte(`{"v":1,"streak":1}`), version))
	fmt.Println(s.SaveMemory(store.MemoryKey{Root: "session and policy"}, []byte(`{"v":1,"streak":1}`), version))
	// Output:
	// <nil>
	// the memory changed since it was read
}
