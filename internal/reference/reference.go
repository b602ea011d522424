// Package reference writes the pages of docs/reference. A test of the package that owns a table generates its page, so
// that page and code agree.
//
// It is for tests only. Start with [New].
package reference

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A Page is a Markdown file under construction.
type Page struct {
	t    testing.TB
	name string
	text strings.Builder
}

// New begins the page docs/reference/NAME.md with its title.
func New(t testing.TB, name, title string) *Page {
	t.Helper()
	p := &Page{t: t, name: name}
	dir, err := filepath.Rel(root(t), workingDir(t))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&p.text, "# %s\n\n<!-- Made by %s in %s. Change what it lists there, then run: go test ./%[3]s -run %[2]s -update -->\n", title, t.Name(), filepath.ToSlash(dir))
	return p
}

// Section begins a section. Level 2 is below the title.
func (p *Page) Section(level int, title string) {
	fmt.Fprintf(&p.text, "\n%s %s\n", strings.Repeat("#", level), title)
}

// Text adds paragraphs. Lines that are longer than a line of the documents are broken.
func (p *Page) Text(format string, args ...any) {
	const most = 120
	for paragraph := range strings.SplitSeq(fmt.Sprintf(format, args...), "\n\n") {
		width := most
		for _, word := range strings.Fields(paragraph) {
			between, n := " ", len([]rune(word))
			if width += 1 + n; width > most {
				between, width = "\n", n
			}
			p.text.WriteString(between + plain(word))
		}
		p.text.WriteByte('\n')
	}
}

// Block adds a fenced block.
func (p *Page) Block(language, text string) {
	fmt.Fprintf(&p.text, "\n```%s\n%s\n```\n", language, strings.TrimRight(text, "\n"))
}

// Table adds a table. The first row is its head. An empty cell fails the test, because something is not documented;
// write "-" for one that should be empty.
func (p *Page) Table(rows ...[]string) {
	p.t.Helper()
	for _, row := range rows {
		for column, cell := range row {
			if strings.TrimSpace(cell) == "" {
				p.t.Errorf("%s.md: %s has no %s", p.name, row[0], rows[0][column])
			}
		}
	}
	p.text.WriteString("\n" + Table(rows) + "\n")
}

// Table returns a table in Markdown, without the end of its last line. The first row is its head.
func Table(rows [][]string) string {
	var out strings.Builder
	for i, row := range rows {
		for _, cell := range row {
			if cell == "-" {
				cell = ""
			}
			cell = strings.ReplaceAll(plain(strings.Join(strings.Fields(cell), " ")), "|", `\|`)
			out.WriteString(strings.TrimRight("| "+cell, " ") + " ")
		}
		out.WriteString("|\n")
		if i == 0 {
			out.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// plain escapes text that is not code, so that it is not HTML.
func plain(text string) string {
	parts := strings.Split(text, "`")
	for i := 0; i < len(parts); i += 2 {
		parts[i] = strings.ReplaceAll(parts[i], "<", "&lt;")
	}
	return strings.Join(parts, "`")
}

// Check compares the page to the file, or writes the file if the test has the flag -update.
func (p *Page) Check() {
	p.t.Helper()
	file := filepath.Join(root(p.t), "docs", "reference", p.name+".md")
	if f := flag.Lookup("update"); f != nil && f.Value.String() == "true" {
		if err := os.WriteFile(file, []byte(p.text.String()), 0o644); err != nil {
			p.t.Fatal(err)
		}
	}
	src, err := os.ReadFile(file)
	if err != nil {
		p.t.Fatal(err)
	}
	if strings.ReplaceAll(string(src), "\r\n", "\n") != p.text.String() {
		p.t.Errorf("%s is not what the code says; run the test with -update, and read the difference", file)
	}
}

// Code marks words as code.
func Code(words ...string) string {
	marked := make([]string, len(words))
	for i, w := range words {
		marked[i] = "`" + w + "`"
	}
	return strings.Join(marked, ", ")
}

// root returns the root of the repository, above the directory of the test.
func root(t testing.TB) string {
	dir := workingDir(t)
	for _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil; _, err = os.Stat(filepath.Join(dir, "go.mod")) {
		if dir == filepath.Dir(dir) {
			t.Fatal("the test is in no module")
		}
		dir = filepath.Dir(dir)
	}
	return dir
}

func workingDir(t testing.TB) string {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
