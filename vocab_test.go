package ralph_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/vocab"
)

// Each word of the vocabulary is written once, in its table: all other code names it by its constant. Names and kinds
// that are one English word, such as reason, are left out, but for functions: elsewhere they mean other things. The name of a
// host is in its own file.
func TestVocabulary(t *testing.T) {
	english := func(w string) bool { return strings.ToLower(w) == w && !strings.ContainsAny(w, "_.") }
	words := slices.DeleteFunc(slices.Concat(vocab.Events(), vocab.Failures()), english)
	for _, e := range vocab.Names() {
		if !english(e.Name) || reflect.TypeOf(e.Zero).Kind() == reflect.Func {
			words = append(words, e.Name)
		}
	}
	want, got := map[string][]string{}, map[string][]string{}
	for _, w := range words {
		want[w] = []string{"internal/vocab/vocab.go"}
	}
	for _, w := range host.Names() {
		words = append(words, w)
		want[w] = []string{"host/" + strings.TrimSuffix(w, "-code") + ".go"}
	}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if d.IsDir() && slices.Contains([]string{"testdata", "otel", "examples", "next"}, d.Name()) {
			return fs.SkipDir
		}
		if err != nil || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if w, _ := strconv.Unquote(l.Value); slices.Contains(words, w) {
					got[w] = slices.Compact(append(got[w], filepath.ToSlash(file)))
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files that write a word of the vocabulary (-want +got)\n%s", diff)
	}
}
