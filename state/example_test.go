package state_test

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-sdk/ralph/state"
)

// A counter in front matter goes up; a second writer that has not seen this is refused.
func Example() {
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	os.WriteFile(filepath.Join(dir, "loop.md"), []byte("---\niteration: 1 # of ten\n---\nDo it.\n"), 0o600)

	r, err := state.Open(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	f, _ := r.Read("loop.md")
	fields, _ := state.ParseFrontMatter(f.Bytes)
	b, _ := state.SetFrontMatter(f.Bytes, []any{"iteration"}, fields["iteration"].(int)+1)
	change := []state.Change{{Path: f.Path, Old: f, New: b}}
	fmt.Println(r.Apply(change, time.Now()))
	fmt.Println(r.Apply(change, time.Now()))
	f, _ = r.Read("loop.md")
	fmt.Printf("%s", f.Bytes)
	// Output:
	// <nil>
	// change loop.md: the file has changed since it was read
	// ---
	// iteration: 2 # of ten
	// ---
	// Do it.
}

func ExampleParseChecklist() {
	items, _ := state.ParseChecklist([]byte("# Tasks\n- [x] 1.1 Parse\n- [~] 1.2 [P] Print\n"))
	for _, i := range items {
		item := i.(map[string]any)
		fmt.Println(item["done"], item["mark"], item["section"], item["text"], item["tags"])
	}
	// Output:
	// true x Tasks 1.1 Parse []
	// false ~ Tasks 1.2 [P] Print [P]
}

func ExampleSetJSON() {
	b, err := state.SetJSON([]byte("{\n  \"specs\": [{\"name\": \"a\"}]\n}\n"), []any{"specs", 0, "status"}, "done")
	fmt.Printf("%s%v", b, err)
	// Output:
	// {
	//   "specs": [{"name": "a", "status": "done"}]
	// }
	// <nil>
}
