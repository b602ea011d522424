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
	unlock, err := s.Lock(context.Background(), []string{store.MemoryLock("session and policy")})
	if err != nil {
		log.Fatal(err)
	}
	defer unlock()

	memory, version, err := s.LoadMemory("session and policy")
	if err != nil {
		log.Print(err) // told, and the loop goes on with an empty memory
	}
	memory.Continuations++
	fmt.Println(s.SaveMemory("session and policy", memory, version))
	fmt.Println(s.SaveMemory("session and policy", memory, version))
	// Output:
	// <nil>
	// session and policy: changed since it was read
}
