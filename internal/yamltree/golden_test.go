package yamltree

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Every file in testdata/broken holds a slip that people make. Its golden file
// has what is reported, and what tree remains.
func TestBroken(t *testing.T) {
	for _, path := range glob(t, "testdata/broken/*.yaml") {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".yaml"), func(t *testing.T) {
			src := read(t, path)
			root, problems := Parse(src)
			if len(problems) == 0 {
				t.Error("no problem was reported")
			}
			got := render(src, root, problems)
			golden := strings.TrimSuffix(path, ".yaml") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want := strings.ReplaceAll(string(read(t, golden)), "\r\n", "\n")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("problems differ from %s (-want +got); go test -update accepts them:\n%s", golden, diff)
			}
		})
	}
}

// The files in testdata/clean are valid, however odd some look. They have no findings,
// not even from the code that runs only if the parser failed.
func TestClean(t *testing.T) {
	for _, path := range glob(t, "testdata/clean/*.yaml") {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".yaml"), func(t *testing.T) {
			src := read(t, path)
			root, problems := Parse(src)
			if root == nil {
				t.Error("no root")
			}
			f, _ := newFile(src)
			d := &diagnosis{file: f}
			d.read()
			if got := render(src, nil, append(problems, d.first...)); got != "tree: none\n" {
				t.Errorf("something was said about a file that is right:\n%s", got)
			}
		})
	}
}

// render is what a user would see, and the tree that a caller would.
func render(src []byte, root *Node, problems []Problem) string {
	var out strings.Builder
	for _, p := range problems {
		fmt.Fprintf(&out, "%s-%s: %s [%s]\n", p.Start, p.End, p.Message, p.Check)
		line := Line(src, p.Start.Line)
		if len(line) < 200 {
			width := max(p.End.Col-p.Start.Col, 1)
			if p.End.Line != p.Start.Line {
				width = max(len([]rune(line))+1-p.Start.Col, 1)
			}
			quoted := strconv.Quote(line)
			shown := strings.ReplaceAll(strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`), `\\`, `\`)
			fmt.Fprintf(&out, "  | %s\n", shown)
			if shown == line { // else the columns would not match
				fmt.Fprintf(&out, "  | %s%s\n", strings.Repeat(" ", p.Start.Col-1), strings.Repeat("^", width))
			}
		}
		if p.Help != "" {
			fmt.Fprintf(&out, "  help: %s\n", p.Help)
		}
	}
	if root == nil {
		return out.String() + "tree: none\n"
	}
	out.WriteString("tree:\n")
	dump(&out, "", root)
	if out.Len() > 4000 {
		return out.String()[:4000] + "…\n"
	}
	return out.String()
}

func dump(out *strings.Builder, path string, n *Node) {
	switch n.Kind {
	case Map:
		for _, f := range n.Fields {
			dump(out, path+"."+f.Key.Value, f.Value)
		}
	case List:
		for i, item := range n.Items {
			dump(out, fmt.Sprintf("%s[%d]", path, i), item)
		}
	}
	if n.Kind == Scalar || len(n.Fields)+len(n.Items) == 0 {
		fmt.Fprintf(out, "  %s %s %s = %q\n", path, n.Start, n.Tag, n.Value)
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.FromSlash(pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files match %s: %v", pattern, err)
	}
	return paths
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return src
}
