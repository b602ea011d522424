package docs_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/internal/reference"
	"github.com/ralph-sdk/ralph/schema"
)

// The page about params lists those of every policy and guard that ships. What a param means is the comment above it or
// behind it in the policy.
func TestParamsPage(t *testing.T) {
	p := reference.New(t, "params", "Params of the shipped policies")
	p.Text("Settings of the policies that come with ralph. Give them with `--set name=value`, or in `.ralph/config.yaml`; " +
		"see [params](../policy.md#params). A guard gets its params by `with`.")
	policies, err := fs.Glob(examples.FS, "*/*.yaml")
	if err != nil || len(policies) == 0 {
		t.Fatal("no policies", err)
	}
	var without []string
	section := func(file, title string) {
		rows := paramRows(t, file)
		if len(rows) == 1 {
			without = append(without, title)
			return
		}
		p.Section(2, title)
		p.Table(rows...)
	}
	for _, file := range policies {
		if path.Dir(file) != "guards" {
			section(file, strings.TrimSuffix(path.Base(file), ".yaml"))
		}
	}
	for _, file := range policies {
		if path.Dir(file) == "guards" {
			section(file, "ralph:"+strings.TrimSuffix(file, ".yaml"))
		}
	}
	p.Section(2, "Without params")
	p.Text("%s.", reference.Code(without...))
	p.Check()
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
	rows := [][]string{{"param", "values", "if absent", "meaning"}}
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
		absent := "it must be given"
		if typ.HasDefault {
			absent = "`" + strings.Trim(fmt.Sprintf("%q", fmt.Sprint(typ.Default)), `"`) + "`"
			if typ.Default == "" {
				absent = "an empty text"
			}
		}
		rows = append(rows, []string{reference.Code(name.Value), valueWords(typ), absent, sentence(comments(name, value))})
	}
	return rows
}

// comments are those above a key, behind it and behind its value.
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
	words := map[schema.Kind]string{schema.String: "text", schema.Int: "whole number", schema.Number: "number", schema.Bool: "`true` or `false`"}[typ.Kind]
	if typ.Min != nil {
		words += fmt.Sprintf(", %g or more", *typ.Min)
	}
	if typ.Max != nil {
		words += fmt.Sprintf(", %g at most", *typ.Max)
	}
	return words
}

// sentence gives a comment the form of one. A word before a colon is a value, and stays as it is.
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
