package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what Vale reads of words.txt and allowed.txt")

// begins is the line of .vale.ini below which it is generated.
const begins = "# Generated from internal/messages/allowed.txt.\n"

// Vale reads the phrases of words.txt as a rule, and the exceptions of documents as ignored tokens.
func TestVale(t *testing.T) {
	style, err := parseStyle(words, allowed)
	if err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile("../../.vale.ini")
	if err != nil {
		t.Fatal(err)
	}
	hand, _, found := strings.Cut(string(config), begins)
	if !found {
		t.Fatalf(".vale.ini has no line %q", begins)
	}
	for file, got := range map[string]string{
		"../../.vale.ini":             hand + begins + style.valeIgnores(),
		"../../.vale/ralph/Words.yml": style.valeRule(),
	} {
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got); go test ./internal/messages -update accepts it:\n%s", file, diff)
		}
	}
}

// valeRule returns the phrases that are not only for messages as a rule of Vale.
func (s *style) valeRule() string {
	b := &strings.Builder{}
	b.WriteString("# Generated from internal/messages/words.txt.\n" +
		"extends: substitution\nmessage: \"'%[2]s': write %[1]s\"\nlevel: error\nignorecase: true\nnonword: true\nswap:\n")
	for _, p := range s.phrases {
		if p.only == "" {
			fmt.Fprintf(b, "  %s: %s\n", quoted(strings.TrimPrefix(p.pattern.String(), "(?i)")), quoted(p.instead))
		}
	}
	return b.String()
}

// quoted returns a single-quoted string of YAML.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// valeIgnores returns a section of Vale's configuration for each document with exceptions.
func (s *style) valeIgnores() string {
	b := &strings.Builder{}
	for _, e := range s.allowed {
		if strings.HasSuffix(e.files, ".md") {
			fmt.Fprintf(b, "\n[%s]\nTokenIgnores = (%s)\n", e.files, strings.ReplaceAll(e.around.String(), ",", `\,`))
		}
	}
	return b.String()
}
