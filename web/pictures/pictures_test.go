package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/web"
	"github.com/ralph-sdk/ralph/web/playground"
)

const again = "to make the pictures again, run in web: go run ./pictures"

func compare(t *testing.T, name, got string) {
	t.Helper()
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("%v; %s", err, again)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is not what is made now (-old +new); %s\n%s", name, again, diff)
	}
}

func TestTerminal(t *testing.T) {
	got, err := terminal(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	compare(t, filepath.Join("..", "..", "docs", "pictures", "terminal.svg"), string(got))
}

// The pictures of pages are compared by their HTML, since pixels depend on fonts.
func TestPages(t *testing.T) {
	if _, err := web.FindChromium(); err != nil {
		t.Skip(err)
	}
	shots, err := pages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	play, err := playing(t.Context())
	if err == nil {
		shots = append(shots, play)
	} else if !errors.Is(err, playground.ErrTools) {
		t.Fatal(err)
	}
	for _, s := range shots {
		compare(t, filepath.Join("..", "testdata", s.name+".html"), s.html)
		info, err := os.Stat(filepath.Join("..", "..", "docs", "pictures", s.name+".png"))
		if err != nil {
			t.Fatalf("%v; %s", err, again)
		}
		if info.Size() > 150<<10 {
			t.Errorf("the picture %s has %d bytes", s.name, info.Size())
		}
	}
}
