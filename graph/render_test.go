package graph

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// rendered writes the graphs of hostile and random policies in a format, and returns the files.
func rendered(t *testing.T, format func(*testing.T, *Graph) []byte) (files []string) {
	dir := t.TempDir()
	write := func(name string, g *Graph) {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, format(t, g), 0o600); err != nil {
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
	node.Dir, node.Stdin = dir, strings.NewReader(strings.Join(rendered(t, mermaidOf), "\n"))
	if out, err := node.CombinedOutput(); err != nil {
		t.Errorf("mermaid: %v\n%s", err, out)
	}
}

// nop reads what dot reads, but makes no picture of it, which takes minutes for a large graph.
func TestDotParses(t *testing.T) {
	files := rendered(t, func(_ *testing.T, g *Graph) []byte { return g.Dot() })
	hostile := slices.DeleteFunc(slices.Clone(files), func(f string) bool { return !strings.HasPrefix(filepath.Base(f), "hostile") })
	for tool, args := range map[string][]string{"nop": files, "dot": append([]string{"-Tcanon"}, hostile...)} {
		program, err := exec.LookPath(tool)
		if err != nil {
			t.Skipf("Graphviz is not installed: %v", err)
		}
		cmd := exec.CommandContext(t.Context(), program, args...)
		var problems strings.Builder
		cmd.Stderr = &problems
		if err := cmd.Run(); err != nil || problems.Len() > 0 {
			t.Errorf("%s: %v\n%s", tool, err, problems.String())
		}
	}
}
