package ralph_test

import (
	"os/exec"
	"path"
	"regexp"
	"strings"
	"testing"
)

// Git can check out every file of the repository on Windows and macOS, too.
func TestFileNames(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "-z").Output()
	if err != nil {
		t.Skip("this is no clone: ", err)
	}
	names := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if len(names) < 100 {
		t.Fatalf("only %d files were found", len(names))
	}
	for _, p := range nameProblems(names) {
		t.Error(p)
	}
}

func TestNameProblems(t *testing.T) {
	for _, tt := range []struct {
		names []string
		want  string
	}{
		{names: []string{"a/b.go", "a/console.txt", "com10.md", "auxiliary"}},
		{names: []string{"testdata/nul.yaml"}, want: "testdata/nul.yaml: nul.yaml is a device on Windows"},
		{names: []string{"Com1/a"}, want: "Com1/a: Com1 is a device on Windows"},
		{names: []string{"a:b"}, want: "a:b: Windows allows no such character in a:b"},
		{names: []string{"a\tb"}, want: "a\tb: Windows allows no such character in a\tb"},
		{names: []string{"a./b"}, want: "a./b: Windows takes the last character off a."},
		{names: []string{"a "}, want: "a : Windows takes the last character off a "},
		{names: []string{"a/Readme.md", "a/README.md"}, want: "a/README.md: on Windows and macOS this is also a/Readme.md"},
		{names: []string{"Docs/a", "docs/b"}, want: "docs/b: on Windows and macOS this is also Docs"},
	} {
		if got := strings.Join(nameProblems(tt.names), "\n"); got != tt.want {
			t.Errorf("nameProblems(%q) = %q, want %q", tt.names, got, tt.want)
		}
	}
}

var (
	device    = regexp.MustCompile(`(?i)^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?$`)
	character = regexp.MustCompile(`[<>:"\\|?*\x00-\x1f]`)
)

// nameProblems says which names cannot be on every system, and why.
func nameProblems(names []string) (problems []string) {
	folded := map[string]string{} // each path and its directories, without case
	for _, name := range names {
		for step := range strings.SplitSeq(name, "/") {
			switch {
			case device.MatchString(step):
				problems = append(problems, name+": "+step+" is a device on Windows")
			case character.MatchString(step):
				problems = append(problems, name+": Windows allows no such character in "+step)
			case strings.HasSuffix(step, ".") || strings.HasSuffix(step, " "):
				problems = append(problems, name+": Windows takes the last character off "+step)
			}
		}
		for p := name; p != "."; p = path.Dir(p) {
			fold := strings.ToLower(p)
			if other, ok := folded[fold]; ok && other != p {
				problems = append(problems, name+": on Windows and macOS this is also "+other)
				break
			}
			folded[fold] = p
		}
	}
	return problems
}

// What the most used packages export is bounded: each name is one that an embedder reads, and
// that is promised. Of loop, seven are what a Store may have besides. Counted are the lines of go doc -short, and the methods of exported types. Of
// loop, 26 are options: each has one purpose, so that those of two libraries add up. Of rules, three are for
// editors, which need the places of all words.
func TestExportedNames(t *testing.T) {
	for _, tt := range []struct {
		pkg  string
		most int
	}{{"rules", 111}, {"loop", 90}} {
		short, err := exec.CommandContext(t.Context(), "go", "doc", "-short", "./"+tt.pkg).Output()
		if err != nil {
			t.Fatal(err)
		}
		all, err := exec.CommandContext(t.Context(), "go", "doc", "-all", "./"+tt.pkg).Output()
		if err != nil {
			t.Fatal(err)
		}
		n := strings.Count(string(short), "\n") + strings.Count(string(all), "\nfunc (")
		if n > tt.most || n < tt.most/2 {
			t.Errorf("package %s exports %d names, want %d at most", tt.pkg, n, tt.most)
		}
	}
}
