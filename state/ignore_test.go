package state

import (
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What ralph archives is ignored by git from the first file on. A file of the user gets
// only the lines that it lacks, and only then.
func TestArchiveIsIgnored(t *testing.T) {
	tests := []struct {
		name, before string
		first        bool   // nothing was archived before
		after        string // "" if there is none
	}{
		{"there is none", "", true, "archive/\nruns/\n.gitignore\n"},
		{"the user removed it", "", false, ""},
		{"one of the user", "off", true, "off\narchive/\nruns/\n"},
		{"one of the user, later", "off\n", false, "off\n"},
		{"one that has a line", "/archive/\n", true, "/archive/\nruns/\n"},
		{"one that has them otherwise", "archive\n/runs", true, "archive\n/runs"},
		{"one that keeps the archive", "!archive/\nruns/\n", true, "!archive/\nruns/\n"},
		{"one that speaks of them", "# archive/ and runs/ stay\n", true, "# archive/ and runs/ stay\narchive/\nruns/\n"},
		{"words of a line", "my archive/ runs/\n", true, "my archive/ runs/\narchive/\nruns/\n"},
		{"lines of Windows", "archive/\r\n", true, "archive/\r\nruns/\n"},
		{"one that ignores all", "*\n", true, "*\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			files := map[string]string{"a.txt": "a"}
			if test.before != "" {
				files[IgnoreFile] = test.before
			}
			if !test.first {
				files[ArchiveDir+"/old"] = "old"
			}
			p := newProject(t, files)
			if err := p.apply(Change{Path: "a.txt", Op: OpArchive, Version: p.version("a.txt")}); err != nil {
				t.Fatal(err)
			}
			if test.after == "" {
				if p.Exists(IgnoreFile) {
					t.Error("it is there again")
				}
			} else if diff := cmp.Diff(test.after, p.content(IgnoreFile)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A link in the place of the ignore file is not followed, and a change that fails adds
// nothing.
func TestIgnoreKeepsOut(t *testing.T) {
	p := newProject(t, map[string]string{"a.txt": "a", "b.txt": "b", ".ralph/policy.yaml": "x"})
	if err := p.apply(Change{Path: "a.txt", Op: OpArchive, Version: "another"}); err == nil {
		t.Fatal("the version was not compared")
	}
	if diff := cmp.Diff([]string{".ralph/policy.yaml", "a.txt", "b.txt"}, p.files()); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	p.link(IgnoreFile, "../b.txt")
	if err := p.apply(Change{Path: "a.txt", Op: OpArchive, Version: p.version("a.txt")}); err != nil {
		t.Fatal(err)
	}
	if got := p.content("b.txt"); got != "b" {
		t.Errorf("the link was followed: %q", got)
	}
}

// A tree that is clean, but for the file that goes, stays clean.
func TestArchiveKeepsTheTreeClean(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	p := newProject(t, map[string]string{"a.txt": "a"})
	cmd := exec.Command(git, "-C", p.Dir(), "init", "-q")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := p.apply(Change{Path: "a.txt", Op: OpArchive, Version: p.version("a.txt")}); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(git, "-C", p.Dir(), "status", "--porcelain", "--untracked-files=all").CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("%v, git status says %q", err, out)
	}
}
