package lsp_test

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf16"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// Whatever one types, in whatever order messages arrive, and whatever is cancelled: the server lives, its text is that of the
// editor, and in the end it shows what ralph check finds. RALPH_EDITS is the number of edits, for example 100000.
func TestRandomEdits(t *testing.T) {
	edits := 300
	if n, err := strconv.Atoi(os.Getenv("RALPH_EDITS")); err == nil {
		edits = n
	}
	for seed := uint64(1); edits > 0; seed++ {
		n := min(edits, 250)
		edits -= n
		randomEdits(t, seed, n)
	}
}

func randomEdits(t *testing.T, seed uint64, edits int) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 7))
	shipped, err := fs.ReadFile(examples.FS, []string{"todo-reminder/todo-reminder.yaml", "speckit/speckit.yaml", "ralph-wiggum/ralph-wiggum.yaml"}[seed%3])
	if err != nil {
		t.Fatal(err)
	}
	src := string(shipped)
	if seed%2 == 0 {
		src = strings.ReplaceAll(src, "\n", "\r\n")
	}
	e := edit(t, nil)
	const name = ".ralph/p.yaml"
	units := utf16.Encode([]rune(src)) // as an editor has it: half a character is possible
	e.open(name, src)
	pieces := []string{"q", " ", "\n", "\r\n", "𝒳", "é", "${", "}", "\"", "'", ": ", "- ", "#", "[", "{", "when: ", "state.", "\t", "", "", ""}
	version := 1
	for i := range edits {
		from := r.IntN(len(units) + 1)
		to := min(len(units), from+r.IntN(4))
		piece := pieces[r.IntN(len(pieces))]
		change := object{"range": object{"start": unitsAt(units, from), "end": unitsAt(units, to)}, "text": piece}
		if from = unitOf(units, from); true {
			to = max(from, unitOf(units, to))
		}
		units = slices.Concat(units[:from], utf16.Encode([]rune(piece)), units[to:])
		if version++; r.IntN(10) == 0 {
			version = r.IntN(5) // out of order
		}
		e.change(name, version, change)
		if r.IntN(5) == 0 {
			where := unitsAt(units, r.IntN(len(units)+1))
			method := []string{"textDocument/completion", "textDocument/hover", "textDocument/references", "textDocument/rename", "textDocument/semanticTokens/full", "textDocument/documentSymbol", "textDocument/codeAction"}[r.IntN(7)]
			id := jsonrpc2.ID{Num: uint64(1000 + i)}
			w, err := e.conn.DispatchCall(context.Background(), method, object{"textDocument": object{"uri": uri(name)}, "position": where, "range": object{"start": where, "end": where}, "newName": "x"}, jsonrpc2.PickID(id))
			if err != nil {
				t.Fatal(err)
			}
			if r.IntN(2) == 0 {
				e.tell("$/cancelRequest", object{"id": id})
			}
			if err := w.Wait(context.Background(), nil); err != nil && strings.Contains(err.Error(), "internal error") {
				t.Fatalf("seed %d, edit %d: %s: %v", seed, i, method, err)
			}
		}
	}
	version = 1_000_000
	e.change(name, version)
	text := string(utf16.Decode(units))
	cfg := loop.Config()
	cfg.Deadline = 0
	_, diags := rules.Check(context.Background(), fstest.MapFS{name: {Data: []byte(text)}}, name, cfg)
	var want []string
	for _, d := range diags {
		message := d.Message
		if d.Help != "" {
			message += "\n" + d.Help
		}
		want = append(want, d.Check+": "+message)
	}
	e.version(name, version)
	e.mu.Lock()
	var got []string
	for _, d := range e.shown[name].Diagnostics {
		message, _, _ := strings.Cut(d.Message, "\nsituation: ")
		got = append(got, d.Code+": "+message)
	}
	e.mu.Unlock()
	slices.Sort(want)
	slices.Sort(got)
	if want = slices.Compact(want); !slices.Equal(want, slices.Compact(got)) {
		t.Fatalf("seed %d: shown %q, check finds %q, in\n%s", seed, got, want, text)
	}
}

// unitsAt returns the position of a unit of UTF-16. Lines end as the protocol says.
func unitsAt(units []uint16, at int) object {
	line, column := 0, 0
	for i, u := range units[:at] {
		switch {
		case u == '\n', u == '\r' && (i+1 == len(units) || units[i+1] != '\n'):
			line, column = line+1, 0
		default:
			column++
		}
	}
	return object{"line": line, "character": column}
}

// unitOf returns the unit that a position means: that between \r and \n is the end of the line.
func unitOf(units []uint16, at int) int {
	if at > 0 && at < len(units) && units[at-1] == '\r' && units[at] == '\n' {
		return at - 1
	}
	return at
}

// A policy that takes long to check is checked all the same, and what is next is not late: the bounds of package rules hold here.
func TestBombs(t *testing.T) {
	deep := "ralph: 1\nrules:\n  - {name: a, when: '" + strings.Repeat("(", 2000) + "true" + strings.Repeat(")", 2000) + "', stop: x}\n"
	wide := "ralph: 1\nlet: {a: 'true', " + strings.Repeat("x: 'a and a', ", 20000) + "b: 'true'}\nrules: []\n"
	nest := "ralph: 1\nfacts: " + strings.Repeat("[", 5000) + "\n"
	aliases := "ralph: 1\na: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]\n"
	var chain strings.Builder
	chain.WriteString("ralph: 1\nlet:\n  x0: loop.total > 1\n")
	for i := range 200 {
		fmt.Fprintf(&chain, "  x%d: x%d and x%d\n", i+1, i, i)
	}
	chain.WriteString("rules:\n  - {name: a, when: x200, stop: x}\n")
	for name, src := range map[string]string{"deep": deep, "wide": wide, "characters": strings.ReplaceAll(wide, "x: 'a", "x: 'é == a"), "nest": nest, "aliases": aliases, "chain": chain.String(), "large": strings.Repeat("#", 3<<20)} {
		t.Run(name, func(t *testing.T) {
			e := edit(t, nil)
			e.open(".ralph/p.yaml", src)
			e.version(".ralph/p.yaml", 1)
			e.call("textDocument/hover", object{"textDocument": object{"uri": uri(".ralph/p.yaml")}, "position": point{2, 5}}, nil)
		})
	}
}

// Each position of the editor is one of the text, and back, in all units.
func TestEncodings(t *testing.T) {
	for _, tt := range []struct {
		offered string
		column  int // of the unknown name after 𝒳é
	}{{"utf-8", 35}, {"utf-16", 32}, {"utf-32", 31}, {"utf-7", 32}} {
		e := open(t, fstest.MapFS{}, `{"rootUri": "file:///project", "capabilities": {"general": {"positionEncodings": ["`+tt.offered+`"]}}}`)
		e.open(".ralph/p.yaml", "ralph: 1\nrules:\n  - {name: go, continue: \"𝒳é ${nosuch}\"}\n")
		e.version(".ralph/p.yaml", 1)
		e.mu.Lock()
		var columns []int
		for _, d := range e.shown[".ralph/p.yaml"].Diagnostics {
			columns = append(columns, d.Range.Start.Character)
		}
		e.mu.Unlock()
		if !slices.Contains(columns, tt.column) {
			t.Errorf("%s: at %d, want %d", tt.offered, columns, tt.column)
		}
	}
}
