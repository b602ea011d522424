package docs_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A room is a package, with the rooms that it imports.
type room struct {
	ImportPath, Name, Doc string
	Imports               []string
}

// The table of docs/architecture.md is made from the packages: the first sentence of their comments, and their imports.
func TestArchitecture(t *testing.T) {
	name := filepath.Join(root(t), "docs", "architecture.md")
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	rooms := listRooms(t)
	page := string(src)
	before, rest, opened := strings.Cut(page, "<!-- rooms -->\n")
	_, after, closed := strings.Cut(rest, "<!-- end -->")
	if !opened || !closed {
		t.Fatalf("%s has no <!-- rooms --> … <!-- end -->", name)
	}
	page = before + "<!-- rooms -->\n" + table(rooms) + "<!-- end -->" + after
	if update := flag.Lookup("update"); update != nil && update.Value.String() == "true" {
		if err := os.WriteFile(name, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(page, string(src)); diff != "" {
		t.Errorf("docs/architecture.md (-packages +page); make it with go test ./docs -run TestArchitecture -update\n%s", diff)
	}
}

// listRooms returns the packages of the module in the order of their paths, without examples, those that only have tests, and the new house below next.
func listRooms(t *testing.T) []room {
	const module = "github.com/ralph-sdk/ralph/"
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Name,Doc,Imports", "./...")
	cmd.Dir = root(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var rooms []room
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var r room
		if err := dec.Decode(&r); err == io.EOF {
			return rooms
		} else if err != nil {
			t.Fatal(err)
		}
		r.ImportPath = strings.TrimPrefix(r.ImportPath, module)
		if r.Doc == "" || strings.HasPrefix(r.ImportPath, "examples") || strings.HasPrefix(r.ImportPath, "next/") {
			continue
		}
		imports := r.Imports
		r.Imports = nil
		for _, path := range imports {
			if own, ok := strings.CutPrefix(path, module); ok {
				r.Imports = append(r.Imports, own)
			}
		}
		rooms = append(rooms, r)
	}
}

func isInternal(path string) bool {
	return strings.HasPrefix(path, "internal/") || strings.Contains(path, "/internal/")
}

// arrows returns the imports between the rooms that are not internal, without those that a longer way implies.
func arrows(rooms []room) map[string][]string {
	all := map[string][]string{}
	for _, r := range rooms {
		for _, to := range r.Imports {
			if !isInternal(r.ImportPath) && !isInternal(to) && !strings.HasPrefix(to, "examples") {
				all[r.ImportPath] = append(all[r.ImportPath], to)
			}
		}
	}
	var leads func(from, to string) bool
	leads = func(from, to string) bool {
		return slices.ContainsFunc(all[from], func(next string) bool { return next == to || leads(next, to) })
	}
	short := map[string][]string{}
	for from, rooms := range all {
		for _, to := range rooms {
			if !slices.ContainsFunc(rooms, func(other string) bool { return leads(other, to) }) {
				short[from] = append(short[from], to)
			}
		}
	}
	return short
}

// table returns the rooms that are not internal, with the first sentence of their comments and what they import.
func table(rooms []room) string {
	imports := arrows(rooms)
	var b strings.Builder
	b.WriteString("| package | what it does | imports |\n|---|---|---|\n")
	for _, r := range rooms {
		if isInternal(r.ImportPath) {
			continue
		}
		doc := strings.TrimPrefix(r.Doc, "Package "+r.Name+" ")
		doc = strings.TrimPrefix(doc, ", which may change in any version, ")
		doc = strings.NewReplacer("[", "`", "]", "`", "|", `\|`).Replace(strings.TrimSuffix(doc, "."))
		fmt.Fprintf(&b, "| [`%s`](../%[1]s) | %s | %s |\n", r.ImportPath, doc, strings.Join(imports[r.ImportPath], ", "))
	}
	return b.String()
}
