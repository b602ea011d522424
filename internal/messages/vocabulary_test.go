package main

import (
	_ "embed"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

//go:embed words.txt
var words string

//go:embed allowed.txt
var allowed string

// The texts that people read use the words of the project: messages, help and documents. Left out is what a
// policy shows to an agent, which is in its YAML.
func TestWords(t *testing.T) {
	style, err := parseStyle(words, allowed)
	if err != nil {
		t.Fatal(err)
	}
	texts, err := texts(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	if len(texts) < 8000 {
		t.Fatalf("only %d texts were found", len(texts))
	}
	for _, f := range style.findings(texts) {
		t.Error(f)
	}
	for _, e := range style.allowed {
		if !e.used {
			t.Errorf("allowed.txt: nothing needs %s %s", e.files, e.around)
		}
	}
}

func TestFindings(t *testing.T) {
	const code = `package p

// F is told what to do.
func F() error {
	return errors.New("x is told" + name + " to go")
}

type t struct {
	a int ` + "`json:\"is told this\"`" + ` // it is told once
}
`
	tests := []struct {
		name, file, text, allowed string
		want                      []string
	}{
		{name: "document", file: "a.md", text: "# A\n\nThe agent\nis told so.\n", want: []string{`a.md:3: "is told": write is reported`}},
		{name: "case", file: "a.md", text: "Is Told\n", want: []string{`a.md:1: "Is Told": write is reported`}},
		{name: "part of a word", file: "a.md", text: "this toldo\n"},
		{name: "code in a document", file: "a.md", text: "a\n```sh\nis told\n```\n`is told`\n"},
		{name: "code", file: "p/a.go", text: code, want: []string{
			`p/a.go:5: "is told": write is reported`, `p/a.go:3: "is told": write is reported`, `p/a.go:9: "is told": write is reported`}},
		{name: "comments of tests", file: "a_test.go", text: code, want: []string{`a_test.go:3: "is told": write is reported`, `a_test.go:9: "is told": write is reported`}},
		{name: "help", file: "help/a.txt", text: "it is told\n", want: []string{`help/a.txt:1: "is told": write is reported`}},
		{name: "only in messages", file: "a.go", text: "package p\n\n// not \"x\" here\nvar s = `is, not \"wild\"`\n", want: []string{`a.go:4: "not \"wild": write got`}},
		{name: "texts for agents", file: "examples/a.yaml", text: "continue: it is told\n"},
		{name: "comments of a policy", file: "examples/a.yaml", text: "x: 1\n# it\n# is told\n", want: []string{`examples/a.yaml:2: "is told": write is reported`}},
		{name: "test data", file: "testdata/a.md", text: "is told\n"},
		{name: "allowed", file: "a.md", text: "what is told to it\n\nis told\n", allowed: "a.md\twhat is told\ta reason", want: []string{`a.md:3: "is told": write is reported`}},
		{name: "allowed elsewhere", file: "b.md", text: "is told\n", allowed: "a.md\tis told\ta reason", want: []string{`b.md:1: "is told": write is reported`}},
		{name: "allowed in a directory", file: "d/b.md", text: "is told\n", allowed: "d/\tis told\ta reason"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			style, err := parseStyle("all\t\\bis told\\b\tis reported\nmessage\t\\bnot \"\\w+\tgot\n", tt.allowed)
			if err != nil {
				t.Fatal(err)
			}
			texts, err := texts(fstest.MapFS{tt.file: {Data: []byte(tt.text)}})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, style.findings(texts)); diff != "" {
				t.Errorf("findings (-want +got)\n%s", diff)
			}
		})
	}
}

func TestParseStyle(t *testing.T) {
	for _, tt := range []struct{ words, allowed, want string }{
		{words: "all\ta b\tc\n", allowed: "*\ta b\tit is so"},
		{words: "all\ta b\n", want: `3 columns are required in "all\ta b"`},
		{words: "all\ta b\tc", allowed: "*\ta b\t", want: `3 columns are required in "*\ta b\t"`},
		{words: "some\ta b\tc", want: `the scope must be all or message; got "some"`},
		{words: "all\tgives\tc", want: `"gives" is a word without context`},
		{words: "all\t\\bgives?\\b\tc", want: `"\\bgives?\\b" is a word without context`},
	} {
		got := ""
		if _, err := parseStyle(tt.words, tt.allowed); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("parseStyle(%q, %q) = %q, want %q", tt.words, tt.allowed, got, tt.want)
		}
	}
}

// A style is what words.txt and allowed.txt say.
type style struct {
	phrases []phrase
	allowed []*exception
}

type phrase struct {
	only    string // kind of the texts that it is for, "" for all
	pattern *regexp.Regexp
	instead string
}

type exception struct {
	files  string
	around *regexp.Regexp
	used   bool
}

func parseStyle(words, allowed string) (*style, error) {
	s := &style{}
	for line := range strings.Lines(words) {
		cols, err := columns(line)
		if cols == nil {
			if err != nil {
				return nil, err
			}
			continue
		}
		if cols[0] != "all" && cols[0] != "message" {
			return nil, fmt.Errorf("the scope must be all or message; got %q", cols[0])
		}
		if !strings.ContainsAny(cols[1], ` "%`) {
			return nil, fmt.Errorf("%q is a word without context", cols[1])
		}
		pattern, err := regexp.Compile("(?i)" + cols[1])
		if err != nil {
			return nil, err
		}
		s.phrases = append(s.phrases, phrase{strings.TrimPrefix(cols[0], "all"), pattern, cols[2]})
	}
	for line := range strings.Lines(allowed) {
		cols, err := columns(line)
		if cols == nil {
			if err != nil {
				return nil, err
			}
			continue
		}
		around, err := regexp.Compile("(?i)" + cols[1])
		if err != nil {
			return nil, err
		}
		s.allowed = append(s.allowed, &exception{files: cols[0], around: around})
	}
	return s, nil
}

// columns returns the three columns of a line, none for a comment.
func columns(line string) ([]string, error) {
	line = strings.TrimSuffix(line, "\n")
	if line == "" || strings.HasPrefix(line, "#") {
		return nil, nil
	}
	cols := strings.Split(line, "\t")
	if len(cols) != 3 || cols[0] == "" || cols[1] == "" || cols[2] == "" {
		return nil, fmt.Errorf("3 columns are required in %q", line)
	}
	return cols, nil
}

// findings returns a line for each phrase in the texts that is not allowed there.
func (s *style) findings(texts []text) (found []string) {
	for _, t := range texts {
		for _, p := range s.phrases {
			if p.only != "" && p.only != t.kind {
				continue
			}
			for _, at := range p.pattern.FindAllStringIndex(t.Text, -1) {
				if !s.allows(t, at) {
					found = append(found, fmt.Sprintf("%s:%d: %q: write %s", t.File, t.Line, t.Text[at[0]:at[1]], p.instead))
				}
			}
		}
	}
	return found
}

// allows reports whether an exception matches words around a place in a text.
func (s *style) allows(t text, at []int) bool {
	for _, e := range s.allowed {
		if ok, _ := path.Match(e.files, t.File); !ok && e.files != "*" && !(strings.HasSuffix(e.files, "/") && strings.HasPrefix(t.File, e.files)) {
			continue
		}
		for _, around := range e.around.FindAllStringIndex(t.Text, -1) {
			if around[0] <= at[0] && at[1] <= around[1] {
				e.used = true
				return true
			}
		}
	}
	return false
}

// A text is a message, a paragraph of a document or a comment, in one line.
type text struct {
	Message
	kind string // message, document or comment
}

func texts(module fs.FS) ([]text, error) {
	var all []text
	messages, err := List(module)
	if err != nil {
		return nil, err
	}
	for _, m := range messages {
		all = append(all, text{m, "message"})
	}
	return all, walk(module, func(file string, src []byte) error {
		switch path.Ext(file) {
		case ".md":
			all = append(all, paragraphs(file, string(src), "document")...)
		case ".yaml":
			all = append(all, paragraphs(file, remarks(string(src)), "comment")...)
		case ".go":
			found, err := comments(file, src)
			all = append(all, found...)
			return err
		}
		return nil
	})
}

// paragraphs joins the lines of each paragraph. Code is left out.
func paragraphs(file, src, kind string) (all []text) {
	code := regexp.MustCompile("`[^`]*`")
	fenced, begin, lines := false, 0, []string(nil)
	end := func() {
		if lines != nil {
			all = append(all, text{Message{file, begin, code.ReplaceAllString(strings.Join(lines, " "), "`…`")}, kind})
		}
		lines = nil
	}
	for i, line := range strings.Split(src, "\n") {
		line = strings.TrimSpace(line)
		fence := strings.HasPrefix(line, "```")
		switch {
		case fence, fenced, line == "":
			fenced = fenced != fence
			end()
			continue
		case strings.HasPrefix(line, "- "), strings.HasPrefix(line, "|"):
			end()
		}
		if lines == nil {
			begin = i + 1
		}
		lines = append(lines, line)
	}
	end()
	return all
}

// remarks returns the comments of a YAML file, on their lines.
func remarks(src string) string {
	lines := strings.Split(src, "\n")
	for i, line := range lines {
		if comment, ok := strings.CutPrefix(strings.TrimSpace(line), "#"); ok {
			lines[i] = comment
		} else {
			lines[i] = ""
		}
	}
	return strings.Join(lines, "\n")
}

func comments(file string, src []byte) (all []text, err error) {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, src, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	for _, group := range parsed.Comments {
		all = append(all, text{Message{file, fset.Position(group.Pos()).Line, strings.Join(strings.Fields(group.Text()), " ")}, "comment"})
	}
	return all, nil
}
