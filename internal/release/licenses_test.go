package release_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// contained returns the directories of the modules that ralph contains on any platform of a release, by PATH VERSION.
func contained(t *testing.T) map[string]string {
	t.Helper()
	dirs := map[string]string{}
	for _, platform := range platforms(t) {
		system, processor, _ := strings.Cut(platform, "/")
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}", "./cmd/ralph")
		cmd.Dir, cmd.Env = root(t), append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+processor)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(out)) {
			if module, dir, _ := strings.Cut(strings.TrimSpace(line), "\t"); dir != "" {
				dirs[module] = dir
			}
		}
	}
	return dirs
}

// ralph help licenses has the licence of each module that the program contains, and so have archives and npm.
func TestLicenses(t *testing.T) {
	named := regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)`)
	of := map[string][]string{} // modules by text
	var texts []string
	add := func(module, file string) {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.TrimSpace(strings.ReplaceAll(string(src), "\r\n", "\n"))
		if of[text] == nil {
			texts = append(texts, text)
		}
		of[text] = append(of[text], module)
	}
	add("github.com/ralph-sdk/ralph", filepath.Join(root(t), "LICENSE"))
	dirs := contained(t)
	var modules []string
	for module := range dirs {
		modules = append(modules, module)
	}
	slices.Sort(modules)
	for _, module := range modules {
		entries, err := os.ReadDir(dirs[module])
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, e := range entries {
			if e.Type().IsRegular() && named.MatchString(e.Name()) && filepath.Ext(e.Name()) != ".go" {
				add(module, filepath.Join(dirs[module], e.Name()))
				found = true
			}
		}
		if !found {
			t.Errorf("%s has no licence", module)
		}
		if strings.HasPrefix(module, "golang.org/x/sys ") { // Go itself has the same
			add("the Go standard library", filepath.Join(dirs[module], "LICENSE"))
		}
	}
	var b strings.Builder
	b.WriteString("The licences of ralph and of the modules that the program contains\n")
	for _, text := range texts {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 72), strings.Join(of[text], "\n"), text)
	}
	name := filepath.Join(root(t), "cmd", "ralph", "licenses.txt")
	if *update {
		if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b.String(), string(got)); diff != "" {
		t.Errorf("cmd/ralph/licenses.txt (-modules +file); go test ./internal/release -update writes it\n%s", diff)
	}
}
