// Command messages prints the texts that ralph shows, each with its file and line: errors,
// findings of check, notices, help and log lines. %s stands for what is not constant.
//
//	go run ./internal/messages [DIRECTORY]
//
// It has no list of the functions that report something. A text is every constant string of
// two words or more in the code, and every line of the .txt files that the code embeds.
package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Message is one text and its place.
type Message struct {
	File string
	Line int
	Text string
}

func (m Message) String() string {
	return fmt.Sprintf("%s:%d: %s", m.File, m.Line, strings.ReplaceAll(m.Text, "\n", `\n`))
}

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	all, err := List(os.DirFS(root))
	if err != nil {
		fmt.Fprintln(os.Stderr, "messages:", err)
		os.Exit(1)
	}
	for _, m := range all {
		fmt.Println(m)
	}
}

// List returns the messages of a module, sorted by file and line.
func List(module fs.FS) ([]Message, error) {
	var all []Message
	err := walk(module, func(file string, text []byte) error {
		switch _, ext, _ := strings.Cut(path.Base(file), "."); {
		case strings.HasSuffix(file, "_test.go"):
		case ext == "go":
			found, err := ofCode(file, text)
			all = append(all, found...)
			return err
		case ext == "txt":
			all = append(all, ofLines(file, string(text))...)
		}
		return nil
	})
	slices.SortStableFunc(all, func(a, b Message) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return all, err
}

// walk visits the files of the module and of those nested in it: no test data, nothing of this package, and not the new house below next.
func walk(module fs.FS, visit func(file string, text []byte) error) error {
	return fs.WalkDir(module, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if file != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules" || file == "internal/messages" || file == "next") {
				return fs.SkipDir
			}
			return nil
		}
		text, err := fs.ReadFile(module, file)
		if err != nil {
			return err
		}
		return visit(file, text)
	})
}

// twoWords matches what reads as a message. What is code of another language is left out.
var (
	twoWords = regexp.MustCompile(`(^|[ \n"'(\x60])[\pL…-]+[,:;.]?['")\x60]?[ \n]["'(\x60]?[\pL%$]`)
	code     = regexp.MustCompile(`\(\?|\\[bsdp]|^\s*<`)
)

// ofCode returns the messages of a Go file.
func ofCode(file string, src []byte) ([]Message, error) {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, src, 0)
	if err != nil {
		return nil, err
	}
	var found []Message
	var visit func(ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			n.Tag = nil
		case *ast.BasicLit, *ast.BinaryExpr:
			text, rest, ok := fold(n.(ast.Expr))
			if !ok {
				return true
			}
			if twoWords.MatchString(text) && !code.MatchString(text) {
				found = append(found, Message{file, fset.Position(n.Pos()).Line, text})
			}
			for _, e := range rest {
				ast.Inspect(e, visit)
			}
			return false
		}
		return true
	}
	ast.Inspect(parsed, visit)
	return found, nil
}

// fold returns the text of a string or of a sum with %s for each operand that is not one, and these operands.
// It is not ok if the expression is neither.
func fold(e ast.Expr) (text string, rest []ast.Expr, ok bool) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return fold(e.X)
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, nil, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			break
		}
		for _, operand := range []ast.Expr{e.X, e.Y} {
			part, more, ok := fold(operand)
			if !ok {
				part, more = "%s", []ast.Expr{operand}
			}
			text, rest = text+part, append(rest, more...)
		}
		return text, rest, true
	}
	return "", nil, false
}

// ofLines returns the lines of a text file that are not empty.
func ofLines(file, text string) (found []Message) {
	for i, line := range strings.Split(text, "\n") {
		if strings.TrimSpace(line) != "" {
			found = append(found, Message{file, i + 1, line})
		}
	}
	return found
}
