package graph

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// rendered writes the graphs of hostile and random policies for Mermaid, and returns the files.
func rendered(t *testing.T) (files []string) {
	dir := t.TempDir()
	write := func(name string, g *Graph) {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, mermaidOf(t, g), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	for name, p := range shipped(t) {
		write(name, New(p, Marks{}))
	}
	for i, label := range hostile {
		write(fmt.Sprint("hostile", i), hostileGraph(t, label))
	}
	for seed := range uint64(200) {
		write(fmt.Sprint("random", seed), randomGraph(t, seed))
	}
	write("large", largeGraph(t, 240))
	return files
}

// Mermaid is where .ci/run installs it; nothing is loaded here.
func TestMermaidParses(t *testing.T) {
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip(err)
	}
	dir := filepath.Join(cache, "ralph-npm")
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "mermaid")); err != nil {
		t.Skip("Mermaid is not installed; .ci/run installs it from npm")
	}
	script, err := os.ReadFile(filepath.Join("testdata", "mermaid.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	node := exec.CommandContext(t.Context(), "node", "--input-type=module", "--eval", string(script))
	node.Dir, node.Stdin = dir, strings.NewReader(strings.Join(rendered(t), "\n"))
	if out, err := node.CombinedOutput(); err != nil {
		t.Errorf("mermaid: %v\n%s", err, out)
	}
}
