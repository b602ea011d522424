package ralph_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Pictures are linked into the program that hooks start, so their packages, and those that only they
// import, may do next to nothing when it starts: a template that is parsed there, say, delays each decision.
func TestRoomsDelayNoHook(t *testing.T) {
	t.Run("pictures", func(t *testing.T) { delays(t, 40<<10, 150, "view", "graph") })
}

// delays asserts that what only some packages bring into the program does so much at most when it starts.
func delays(t *testing.T, mostBytes, mostAllocs int, rooms ...string) {
	const module = "github.com/ralph-sdk/ralph/"
	brought := []string{}
	for _, room := range rooms {
		brought = append(brought, module+room)
	}
	list, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Imports", "./cmd/ralph").Output()
	if err != nil {
		t.Fatal(err)
	}
	imports := map[string][]string{}
	for d := json.NewDecoder(bytes.NewReader(list)); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		imports[p.ImportPath] = p.Imports
	}
	without := map[string]bool{} // packages that the program has without brought
	var visit func(pkg string)
	visit = func(pkg string) {
		if !without[pkg] && !slices.Contains(brought, pkg) {
			without[pkg] = true
			for _, p := range imports[pkg] {
				visit(p)
			}
		}
	}
	visit(module + "cmd/ralph")
	for _, p := range brought {
		if imports[p] == nil || without[p] {
			t.Errorf("%s is not linked as it is believed to be", p)
		}
	}

	ralph := filepath.Join(t.TempDir(), "ralph.exe")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", ralph, "./cmd/ralph").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), ralph, "--version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var trace bytes.Buffer
	cmd.Stderr = &trace
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &trace)
	}
	all, size, allocs := 0, 0, 0
	var by []string
	for lines := bufio.NewScanner(&trace); lines.Scan(); {
		var pkg string
		var at, took float64
		var b, n int
		if _, err := fmt.Sscanf(lines.Text(), "init %s @%f ms, %f ms clock, %d bytes, %d allocs", &pkg, &at, &took, &b, &n); err != nil {
			continue
		}
		if all += n; imports[pkg] != nil && !without[pkg] {
			size, allocs = size+b, allocs+n
			by = append(by, fmt.Sprintf("%s: %d bytes, %d allocations", pkg, b, n))
		}
	}
	if all < 100 {
		t.Fatalf("the trace has only %d allocations:\n%s", all, &trace)
	}
	if size > mostBytes || allocs > mostAllocs {
		t.Errorf("they cost each hook %d bytes and %d allocations, want %d and %d at most:\n%s", size, allocs, mostBytes, mostAllocs, strings.Join(by, "\n"))
	}
	t.Logf("%d bytes, %d allocations of %d: %s", size, allocs, all, strings.Join(by, "; "))
}
