package docs_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/loop/host"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
)

// The page about the language names everything that the language has.
func TestLanguageIsDocumented(t *testing.T) {
	var words []string
	for _, n := range rules.Names() {
		words = append(words, n.Name)
	}
	words = append(words, schema.ShippedNames()...)
	var policy any
	if err := json.Unmarshal(rules.PolicySchema(nil), &policy); err != nil {
		t.Fatal(err)
	}
	words = append(words, keys(policy)...)
	guards, err := fs.Glob(examples.FS, "guards/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range guards {
		words = append(words, "ralph:"+strings.TrimSuffix(g, ".yaml"))
	}
	lacks(t, "docs/policy.md", words)
}

// keys lists the names of all properties that a schema declares.
func keys(v any) []string {
	var out []string
	switch v := v.(type) {
	case map[string]any:
		for name, child := range v {
			if fields, ok := child.(map[string]any); ok && name == "properties" {
				for field := range fields {
					out = append(out, field)
				}
			}
			out = append(out, keys(child)...)
		}
	case []any:
		for _, child := range v {
			out = append(out, keys(child)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// The page about hosts names every host that is known.
func TestHostsAreDocumented(t *testing.T) {
	lacks(t, "docs/hosts.md", host.Names())
}

// lacks reports the words that a document does not have: in code, be it alone, with
// an argument or with a value, or as a heading.
func lacks(t *testing.T, name string, words []string) {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(root(t), name))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range words {
		found := false
		for _, form := range []string{"`" + w + "`", "`" + w + "(", "`" + w + ":", "\n## " + w + "\n"} {
			found = found || strings.Contains(string(src), form)
		}
		if !found {
			t.Errorf("%s does not mention `%s`", name, w)
		}
	}
}
