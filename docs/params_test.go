package docs_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/internal/reference"
	"github.com/ralph-sdk/ralph/schema"
)

// The params of each shipped policy and guard are a table on its page, between two comments. The description of a param
// is the comment above or after it in the policy.
func TestParams(t *testing.T) {
	block := regexp.MustCompile(`(?s)<!-- params: (\S+) -->\n.*?<!-- end -->`)
	shown := map[string]bool{}
	pages, err := filepath.Glob(filepath.Join(root(t), "docs", "policies", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		src, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		want := block.ReplaceAllStringFunc(string(src), func(old string) string {
			name := block.FindStringSubmatch(old)[1]
			shown[name] = true
			return fmt.Sprintf("<!-- params: %s -->\n%s\n<!-- end -->", name, reference.Table(paramRows(t, fileOf(name))))
		})
		if *update {
			if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if diff := cmp.Diff(want, string(src)); diff != "" {
			t.Errorf("%s, to be rewritten with -update (-policy +page):\n%s", page, diff)
		}
	}
	names := shippedPolicies(t)
	guards, err := fs.Glob(examples.FS, "guards/*.yaml")
	if err != nil || len(guards) == 0 {
		t.Fatal("no guards", err)
	}
	for _, g := range guards {
		names = append(names, strings.TrimSuffix(g, ".yaml"))
	}
	for _, name := range names {
		if has := len(paramRows(t, fileOf(name))) > 1; has != shown[name] {
			t.Errorf("%s has params: %t; a page shows them: %t", name, has, shown[name])
		}
	}
}

// fileOf returns the file of a shipped policy, or of a guard named guards/NAME.
func fileOf(name string) string {
	if path.Dir(name) == "guards" {
		return name + ".yaml"
	}
	return name + "/" + name + ".yaml"
}

func paramRows(t *testing.T, file string) [][]string {
	t.Helper()
	src, err := fs.ReadFile(examples.FS, file)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Params yaml.Node `yaml:"params"`
	}
	if err := yaml.Unmarshal(src, &doc); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	rows := [][]string{{"param", "values", "default", "meaning"}}
	for i := 0; i+1 < len(doc.Params.Content); i += 2 {
		name, value := doc.Params.Content[i], doc.Params.Content[i+1]
		var keywords any
		if err := value.Decode(&keywords); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		source, err := json.Marshal(keywords)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		compiled, err := schema.Compile(name.Value, source)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		typ := compiled
		absent := "required"
		if typ.HasDefault {
			absent = "`" + strings.Trim(fmt.Sprintf("%q", fmt.Sprint(typ.Default)), `"`) + "`"
			if typ.Default == "" {
				absent = "an empty string"
			}
		}
		rows = append(rows, []string{reference.Code(name.Value), valueWords(typ), absent, sentence(comments(name, value))})
	}
	return rows
}

// comments returns those above a key, after it and after its value.
func comments(nodes ...*yaml.Node) string {
	var out []string
	for _, n := range nodes {
		for _, text := range []string{n.HeadComment, n.LineComment} {
			for line := range strings.Lines(text) {
				out = append(out, strings.TrimSpace(strings.TrimLeft(line, "#")))
			}
		}
	}
	return strings.Join(out, " ")
}

func valueWords(typ *schema.Schema) string {
	if typ.Enum != nil {
		var values []string
		for _, v := range typ.Enum {
			values = append(values, fmt.Sprint(v))
		}
		return reference.Code(values...)
	}
	words := map[schema.Kind]string{schema.String: "string", schema.Int: "whole number", schema.Number: "number", schema.Bool: "`true` or `false`"}[typ.Kind]
	if typ.Min != nil {
		words += fmt.Sprintf(", %g or more", *typ.Min)
	}
	if typ.Max != nil {
		words += fmt.Sprintf(", %g at most", *typ.Max)
	}
	return words
}

// sentence turns a comment into a sentence. A word before a colon is a value, and stays as it is.
func sentence(text string) string {
	first, _, _ := strings.Cut(text, " ")
	switch {
	case text == "" || strings.HasSuffix(text, "."):
		return text
	case strings.HasSuffix(first, ":"):
		return text + "."
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
