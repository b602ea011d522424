package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The documents are tested as they are read: every fenced block is run, loaded,
// compared or parsed, by its language.
//
//	console  lines that begin with "$ " are run in order; what follows is their
//	         output. … stands for anything, alone on a line for any lines.
//	yaml     a policy is loaded and must have no finding; a fragment of one is
//	         completed first.
//	expr     lines "EXPRESSION → VALUE" are evaluated and written as a text.
//	go       is part of a Go file of this repository, which is compiled and tested;
//	         with a package clause it is the whole file.
//	json     is parsed.
//	sh, text, ini are for reading only.
//
// An HTML comment before a block says what readers need not see:
//
//	<!-- file: NAME -->  the block is written to this file, for the commands below it
//	<!-- from: NAME -->  the block is part of this file of the repository
//	<!-- with … -->      YAML of a policy that completes the fragment or the expressions

// document is one Markdown file.
type document struct {
	name   string // from the root of the repository
	blocks []block
	text   string // without the blocks
}

// block is one fenced block.
type block struct {
	lang string
	text string // each line ends in a newline
	line int    // of the opening fence
	file string // of the comment before it
	from string
	with string
}

var comment = regexp.MustCompile(`(?s)<!--\s*(file:|from:|with\b)(.*?)-->\s*$`)

// readDocument splits a file into blocks and the text between them.
func readDocument(t testing.TB, name string) document {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(root(t), name))
	if err != nil {
		t.Fatal(err)
	}
	d := document{name: name}
	var between, inside strings.Builder
	var open *block
	fence := ""
	for i, line := range strings.SplitAfter(string(src), "\n") {
		bare := strings.TrimRight(line, "\n")
		switch {
		case open == nil && strings.HasPrefix(bare, "```"):
			lang := strings.TrimLeft(bare, "`")
			fence = bare[:len(bare)-len(lang)]
			open = &block{lang: lang, line: i + 1}
			if m := comment.FindStringSubmatch(between.String()); m != nil {
				switch value := strings.TrimSpace(m[2]); m[1] {
				case "file:":
					open.file = value
				case "from:":
					open.from = value
				default:
					open.with = value
				}
			}
			d.text += between.String()
			between.Reset()
		case open != nil && bare == fence:
			open.text = inside.String()
			d.blocks = append(d.blocks, *open)
			open = nil
			inside.Reset()
		case open != nil:
			inside.WriteString(line)
		default:
			between.WriteString(line)
		}
	}
	if open != nil {
		t.Fatalf("%s:%d: the block is never closed", name, open.line)
	}
	d.text += between.String()
	return d
}

func root(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// documents lists every Markdown file for readers.
func documents(t testing.TB) []string {
	t.Helper()
	var names []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "examples/*.md", "plugins/ralph/skills/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root(t), pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			rel, err := filepath.Rel(root(t), f)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, filepath.ToSlash(rel))
		}
	}
	if len(names) < 5 {
		t.Fatalf("only %q were found", names)
	}
	return names
}
