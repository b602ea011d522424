package state_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/ralph-sdk/ralph/state"
)

// Reading never fails: the document says what became of it.
func ExampleRoot_Read() {
	dir, err := os.MkdirTemp("", "project")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	os.WriteFile(filepath.Join(dir, "state.json"), []byte(`{"phase": "execution",`), 0o644)

	root, err := state.OpenRoot(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer root.Close()
	for _, path := range []string{"state.json", "absent.json", "/etc/passwd"} {
		doc := root.Read(context.Background(), state.File{Path: path, Format: state.JSON})
		fmt.Println(path, doc.Problem)
	}
	// Output:
	// state.json is not valid JSON: 1:23: unexpected end of the document: something that was opened is not closed
	// absent.json does not exist
	// /etc/passwd has an unusable path: it is outside the project
}

// A change names the version that it is based on. If the file has changed since, nothing is written, and the program
// decides again.
func ExampleRoot_Apply() {
	dir, err := os.MkdirTemp("", "project")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "loop.md")
	os.WriteFile(path, []byte("---\ncount: 1   # of ten\n---\nFix the tests.\n"), 0o644)

	root, err := state.OpenRoot(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer root.Close()
	doc := root.Read(context.Background(), state.File{Path: "loop.md", Format: state.FrontMatter})
	change := state.Change{
		Path:    "loop.md",
		Format:  state.FrontMatter,
		Version: doc.Version,
		Sets:    []state.Set{{Path: []any{"count"}, Value: 2}},
	}
	fmt.Println(root.Apply(context.Background(), []state.Change{change}))
	content, _ := os.ReadFile(path)
	fmt.Print(string(content))

	err = root.Apply(context.Background(), []state.Change{change})
	fmt.Println(err, errors.Is(err, state.ErrChanged))
	// Output:
	// <nil>
	// ---
	// count: 2   # of ten
	// ---
	// Fix the tests.
	// loop.md: changed since it was read true
}

// Only the bytes of the value change; a new field follows the style of its
// neighbours.
func ExampleEdit() {
	src := []byte(`{ "taskIndex" : 3, "total" : 10 }`)
	edited, err := state.Edit(src, state.JSON, []state.Set{
		{Path: []any{"taskIndex"}, Value: 4},
		{Path: []any{"phase"}, Value: "execution"},
	})
	fmt.Println(string(edited), err)
	// Output: { "taskIndex" : 4, "total" : 10, "phase" : "execution" } <nil>
}
