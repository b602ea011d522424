// Package reference writes the pages of docs/reference. A test of the package that owns a table makes the page of that
// table, so that a page cannot say anything else than the code.
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
	"time"
)

// A Page is one Markdown file that is being made.
type Page struct {
	t    testing.TB
	name string
	text strings.Builder
}

// New begins the page docs/reference/NAME.md with its title. The name can lead to another directory of docs.
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
	for paragraph := range strings.SplitSeq(fmt.Sprintf(format, args...), "\n\n") {
		p.text.WriteByte('\n')
		width := 0
		for _, word := range strings.Fields(paragraph) {
			switch n := len([]rune(word)); {
			case width == 0:
				width = n
			case width+1+n > maxWidth:
				p.text.WriteByte('\n')
				width = n
			default:
				p.text.WriteByte(' ')
				width += 1 + n
			}
			p.text.WriteString(plain(word))
		}
		p.text.WriteByte('\n')
	}
}

const maxWidth = 120

// Block adds a fenced block.
func (p *Page) Block(language, text string) {
	fmt.Fprintf(&p.text, "\n```%s\n%s\n```\n", language, strings.TrimRight(text, "\n"))
}

// Table adds a table. The first row is its head. An empty cell fails the test, for something has no documentation; write
// "-" for one that is meant to be empty.
func (p *Page) Table(rows ...[]string) {
	p.t.Helper()
	p.text.WriteByte('\n')
	for i, row := range rows {
		for column, cell := range row {
			if strings.TrimSpace(cell) == "" {
				p.t.Errorf("%s.md: %s has no %s", p.name, row[0], rows[0][column])
			}
			if cell == "-" {
				cell = ""
			}
			cell = strings.ReplaceAll(plain(strings.Join(strings.Fields(cell), " ")), "|", `\|`)
			p.text.WriteString(strings.TrimRight("| "+cell, " ") + " ")
		}
		p.text.WriteString("|\n")
		if i == 0 {
			p.text.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
}

// plain keeps what is no code from being read as HTML.
func plain(text string) string {
	parts := strings.Split(text, "`")
	for i := 0; i < len(parts); i += 2 {
		parts[i] = strings.ReplaceAll(parts[i], "<", "&lt;")
	}
	return strings.Join(parts, "`")
}

// Check compares the page with the file, or writes the file with the flag -update of the test.
func (p *Page) Check() {
	t := p.t
	t.Helper()
	file := filepath.Join(root(t), "docs", "reference", p.name+".md")
	if f := flag.Lookup("update"); f != nil && f.Value.String() == "true" {
		if err := os.WriteFile(file, []byte(p.text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	have, want := strings.Split(strings.ReplaceAll(string(src), "\r\n", "\n"), "\n"), strings.Split(p.text.String(), "\n")
	for i := range max(len(have), len(want)) {
		if i >= len(have) || i >= len(want) || have[i] != want[i] {
			t.Errorf("%s:%d is not what the code says; run the test with -update\n-%s\n+%s", file, i+1, line(have, i), line(want, i))
			return
		}
	}
}

func line(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// Code marks words as code.
func Code(words ...string) string {
	marked := make([]string, len(words))
	for i, w := range words {
		marked[i] = "`" + w + "`"
	}
	return strings.Join(marked, ", ")
}

// Number writes a number, 0 or more, with commas: 10,000.
func Number[N int | int64](n N) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Size writes a number of bytes: 8 MiB.
func Size[N int | int64](n N) string {
	for shift, unit := range map[int]string{30: "GiB", 20: "MiB", 10: "KiB"} {
		if whole := n >> shift; whole > 0 && whole < 1<<10 && whole<<shift == n {
			return fmt.Sprintf("%d %s", whole, unit)
		}
	}
	return Number(n) + " bytes"
}

// Duration writes a time as people do: 24h.
func Duration(d time.Duration) string {
	s := d.String()
	if day := 24 * time.Hour; d >= 2*day && d%day == 0 {
		return fmt.Sprintf("%dh (%d days)", d/time.Hour, d/day)
	}
	for _, zero := range []string{"0s", "0m"} {
		if rest := strings.TrimSuffix(s, zero); strings.TrimRight(rest, "hm") != rest {
			s = rest
		}
	}
	return s
}

// root is the root of the repository.
func root(t testing.TB) string {
	t.Helper()
	for dir := workingDir(t); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("there is no go.mod above the test")
		}
	}
}

func workingDir(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
