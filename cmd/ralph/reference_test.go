package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
)

var update = flag.Bool("update", false, "write docs/reference.md and docs/checks.md")

// generated compares a generated page to its file, or writes it.
func generated(t *testing.T, name, page string) {
	t.Helper()
	path := "../../docs/" + name
	if *update {
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.ReplaceAll(string(have), "\r\n", "\n"), page); diff != "" {
		t.Errorf("%s is old (-file +code): go test ./cmd/ralph -run Reference -update\n%s", path, diff)
	}
}

// Each check has an explanation whose policy is found to be wrong in this way, and no command has its name.
func TestReferenceOfChecks(t *testing.T) {
	a := &app{}
	var commands, explained []string
	for _, c := range a.root(false).Commands() {
		commands = append(commands, c.Name())
	}
	page := "# Checks\n\nWhat `ralph check` finds, by the word in brackets at the end of a finding. `ralph help CHECK` prints the same. This page is generated.\n"
	for _, c := range checks() {
		explained = append(explained, c.id)
		if slices.Contains(commands, c.id) {
			t.Errorf("%s is the name of a command", c.id)
		}
		found := findings(t, c.example)
		i := slices.IndexFunc(found, func(f rules.Finding) bool { return f.Check == c.id })
		if i < 0 {
			t.Errorf("%s: the example has other findings: %v", c.id, found)
			continue
		}
		page += fmt.Sprintf("\n## %s\n\n%s\n\n```yaml\n%s```\n\n```text\n%s\n```\n", c.id, c.meaning, c.example, found[i])
	}
	if !slices.IsSorted(explained) {
		t.Error("checks.txt is not sorted")
	}
	for _, id := range reported(t) {
		if !slices.Contains(explained, id) {
			t.Errorf("checks.txt does not explain %s", id)
		}
	}
	generated(t, "checks.md", page)
}

func findings(t *testing.T, src string) rules.Findings {
	t.Helper()
	var found rules.Findings
	p, err := rules.Parse("policy.yaml", []byte(src))
	if err == nil {
		return rules.Check(p)
	}
	if !errors.As(err, &found) {
		t.Fatal(err)
	}
	return found
}

var checkID = regexp.MustCompile(`(?:(?:report|rule|part|warn)\([^\n]*?, |[cC]heck:?=? +)"([a-z]+(?:-[a-z]+)*)"`)

// reported returns the IDs that package rules reports.
func reported(t *testing.T) (ids []string) {
	t.Helper()
	files, err := filepath.Glob("../../rules/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range checkID.FindAllSubmatch(src, -1) {
			if !strings.HasSuffix(name, "_test.go") {
				ids = append(ids, string(m[1]))
			}
		}
	}
	if len(ids) < 20 {
		t.Fatalf("found only %q in package rules", ids)
	}
	return ids
}

// docs/reference.md has the keys of the policy's schema, the names and functions of package rules, and the commands.
func TestReference(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Reference\n\nEvery key, name, function and command, generated from the code. [The language](language.md) explains them.\n")
	schemaTables(t, &b)
	nameTables(t, &b)
	b.WriteString("\n## Commands\n\nAll commands print help with `--help`.\n")
	commands := (&app{}).root(false).Commands()
	for _, c := range commands {
		if c.Name() == "help" {
			continue
		}
		text := c.Long
		if text == "" {
			text = c.Short
		}
		fmt.Fprintf(&b, "\n### ralph %s\n\n%s\n", c.Use, escape(strings.TrimSuffix(text, ".")+"."))
		flags(&b, c)
	}
	generated(t, "reference.md", b.String())
}

func flags(b *strings.Builder, c *cobra.Command) {
	n := 0
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" {
			return
		}
		if n++; n == 1 {
			b.WriteString("\n| flag | meaning |\n|---|---|\n")
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if !slices.Contains([]string{"", "[]", "false"}, f.DefValue) {
			usage += " (default " + f.DefValue + ")"
		}
		fmt.Fprintf(b, "| `%s` | %s |\n", strings.TrimSpace(name+" "+value), escape(usage))
	})
}

func escape(s string) string { return strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(s) }

// node is a part of docs/policy.schema.json, with its properties in the order of the file.
type node struct {
	Description string
	Properties  yaml.Node
	Definitions map[string]node
	Items       *node
}

func schemaTables(t *testing.T, b *strings.Builder) {
	src, err := os.ReadFile("../../docs/policy.schema.json")
	var n node
	if err == nil {
		err = yaml.Unmarshal(src, &n)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []struct {
		title string
		node  node
	}{
		{"Keys of a policy", n}, {"Sources and options of a fact", n.Definitions["fact"]}, {"Limits", n.Definitions["limits"]}, {"Keys of a rule", n.Definitions["rule"]},
		{"Effects", *n.Definitions["effects"].Items},
	} {
		fmt.Fprintf(b, "\n## %s\n\n| key | meaning |\n|---|---|\n", table.title)
		for i := 0; i+1 < len(table.node.Properties.Content); i += 2 {
			var property struct {
				Description string
				Ref         string `yaml:"$ref"`
			}
			if err := table.node.Properties.Content[i+1].Decode(&property); err != nil {
				t.Fatal(err)
			}
			if property.Description == "" {
				property.Description = n.Definitions[strings.TrimPrefix(property.Ref, "#/definitions/")].Description
			}
			fmt.Fprintf(b, "| `%s` | %s |\n", table.node.Properties.Content[i].Value, escape(property.Description))
		}
	}
}

func nameTables(t *testing.T, b *strings.Builder) {
	src, err := os.ReadFile("../../rules/testdata/names.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(strings.ReplaceAll(string(src), "\r\n", "\n")) {
		cells := strings.Split(strings.TrimSpace(line), "\t")
		if title, ok := strings.CutPrefix(cells[0], "# "); ok {
			fmt.Fprintf(b, "\n## %s\n\n| %s | form | meaning |\n|---|---|---|\n", title, strings.ToLower(strings.TrimSuffix(title, "s")))
		} else if len(cells) == 3 {
			fmt.Fprintf(b, "| `%s` | %s | %s |\n", cells[0], escape(cells[1]), escape(cells[2]))
		}
	}
	b.WriteString("\nBesides these there are all [functions of expr](https://expr-lang.org/docs/language-definition).\n")
}

// The schema for editors accepts every policy that ralph ships.
func TestPolicySchemaAcceptsShippedPolicies(t *testing.T) {
	src, err := os.ReadFile("../../docs/policy.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Compile(src)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range examples.Names() {
		policy, _ := examples.Policy(name)
		var v any
		if err := yaml.Unmarshal(policy, &v); err != nil {
			t.Fatal(err)
		}
		asJSON, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if v, err = schema.ParseJSON(asJSON); err != nil {
			t.Fatal(err)
		}
		if _, problems := s.Read(v); len(problems) > 0 {
			t.Errorf("%s: %v", name, problems)
		}
	}
}
