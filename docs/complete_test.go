package docs_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/reference"
	"github.com/ralph-sdk/ralph/schema"
)

// The page about the language names every schema that ships, and the page of guards every guard. Keys and names are in the
// reference, which is made from their tables.
func TestLanguageIsDocumented(t *testing.T) {
	lacks(t, "docs/policy.md", schema.ShippedNames())
	var words []string
	guards, err := fs.Glob(examples.FS, "guards/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range guards {
		words = append(words, "ralph:"+strings.TrimSuffix(g, ".yaml"))
	}
	lacks(t, "docs/policies/guards.md", words)
}

// The page about hosts names every host that is known.
func TestHostsAreDocumented(t *testing.T) {
	lacks(t, "docs/hosts.md", host.Names())
}

// lacks reports the words that a document does not mention.
func lacks(t *testing.T, name string, words []string) {
	t.Helper()
	for _, w := range words {
		if !mentions(t, name, w) {
			t.Errorf("%s does not mention `%s`", name, w)
		}
	}
}

// mentions reports whether a document has a word in code (with or without an argument or a value) or as a heading.
func mentions(t *testing.T, name, word string) bool {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(root(t), name))
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{"`" + word + "`", "`" + word + "(", "`" + word + ":", "\n## " + word + "\n"} {
		if strings.Contains(string(src), form) {
			return true
		}
	}
	return false
}

// The page for contributors has the versions of the hosts that the tests run.
func TestClientVersions(t *testing.T) {
	src, err := os.ReadFile(filepath.Join(root(t), "internal", "hosttest", "clients.json"))
	if err != nil {
		t.Fatal(err)
	}
	var clients struct{ Dependencies, OptionalDependencies map[string]string }
	if err := json.Unmarshal(src, &clients); err != nil || len(clients.Dependencies) == 0 {
		t.Fatalf("there are no clients: %v", err)
	}
	page, err := os.ReadFile(filepath.Join(root(t), "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(clients.Dependencies, clients.OptionalDependencies)
	for name, version := range clients.Dependencies {
		if !strings.Contains(string(page), "| "+version+" |") {
			t.Errorf("CONTRIBUTING.md does not say that the tests run %s %s", name, version)
		}
	}
}

// The page of hosts has the variables of each host's sessions.
func TestSessionVariables(t *testing.T) {
	page := readDocument(t, "docs/hosts.md").text
	for _, name := range host.Names() {
		h, _ := host.Lookup(name)
		variables := "none"
		if len(h.Session) > 0 {
			variables = reference.Code(h.Session...)
		}
		if row := "| " + h.Title + " | " + variables + " |"; !strings.Contains(page, row) {
			t.Errorf("docs/hosts.md lacks %s", row)
		}
	}
}
