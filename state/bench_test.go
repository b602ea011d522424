package state

import (
	"os"
	"testing"
)

const benchState = `{
  "phase": "execution",
  "taskIndex": 3,
  "totalTasks": 12,
  "globalIteration": 4,
  "maxGlobalIterations": 100
}
`

func benchRoot(b *testing.B, name, content string) *Root {
	b.Helper()
	dir := b.TempDir()
	root, err := OpenRoot(dir)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { root.Close() })
	if err := os.WriteFile(dir+"/"+name, []byte(content), 0o644); err != nil {
		b.Fatal(err)
	}
	return root
}

func BenchmarkApply(b *testing.B) {
	root := benchRoot(b, "state.json", benchState)
	for n := 0; b.Loop(); n++ {
		doc := root.Read(b.Context(), File{Path: "state.json", Format: JSON})
		err := root.Apply(b.Context(), []Change{{Path: "state.json", Format: JSON, Version: doc.Version, Sets: []Set{set(n, "taskIndex")}}})
		if err != nil {
			b.Fatal(err)
		}
	}
}
