package lsp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/form"
	"github.com/ralph-sdk/ralph/internal/yamltree"
	"github.com/ralph-sdk/ralph/policytest"
	"github.com/ralph-sdk/ralph/rules"
)

// bytes returns where a word is in a text.
func (t *text) bytes(from, to rules.Pos) (int, int) {
	return t.place(yamltree.Pos{Line: from.Line, Col: from.Col}), t.place(yamltree.Pos{Line: to.Line, Col: to.Col})
}

// isToken reports whether a word is only a token of an expression.
func isToken(w rules.Word) bool {
	return w.Kind == "string" || w.Kind == "number" || w.Kind == "operator"
}

// wordAt returns the word of a file at a byte: the shortest one, since transcript.last is one, and nil if there is none.
func (a *analysis) wordAt(at int) (found *rules.Word) {
	size := 0
	for i, w := range a.words() {
		if w.Pos.File != a.at.name || isToken(w) {
			continue
		}
		if from, to := a.text.bytes(w.Pos, w.End); from <= at && at <= to && (found == nil || to-from < size) {
			found, size = &a.words()[i], to-from
		}
	}
	return found
}

// words returns the words of a file, and of what it includes or tests.
func (a *analysis) words() []rules.Word {
	if a.index == nil {
		return nil
	}
	return a.index.Words
}

// family returns the analyses of the files of a root that read a file, and of the file itself: what a word of it may be used
// in.
func (v *view) family(ctx context.Context) []*analysis {
	all := []*analysis{v.a}
	wanted := map[location]bool{v.a.at: true}
	add := func(at location) {
		if wanted[at] {
			return
		}
		wanted[at] = true
		if a := v.server.look(ctx, v.snap, at); a != nil {
			all = append(all, a)
		}
	}
	for _, d := range v.snap.sorted() {
		if d.at.root == v.a.at.root {
			add(d.at)
		}
	}
	for _, at := range v.server.includers(v.snap, v.doc) {
		add(at)
	}
	files := v.snap.overlay(v.a.at.root)
	for _, a := range slices.Clone(all) { // their tests
		name := strings.TrimSuffix(a.at.name, path.Ext(a.at.name)) + policytest.Suffix
		if _, err := fs.Stat(files, name); a.kind == policy && err == nil {
			add(location{a.at.root, name})
		}
	}
	return all
}

// reference is a place where a word is used.
type reference struct {
	file     string
	from, to int // bytes, without quotes
	decl     bool
}

// same reports whether two words are the same name.
func same(a, b rules.Word) bool {
	if a.Decl.Line > 0 || b.Decl.Line > 0 {
		return a.Decl == b.Decl
	}
	return a.Kind == b.Kind && a.Name == b.Name && !isToken(a)
}

// references returns where a word is used, each place once.
func (v *view) references(ctx context.Context, w rules.Word) (all []reference) {
	for _, a := range v.family(ctx) {
		for _, other := range a.words() {
			t := v.textOf(a, other.Pos.File)
			if !same(w, other) || t == nil {
				continue
			}
			from, to := t.bytes(other.Pos, other.End)
			from, to = unquoted(t.src, from, to)
			all = append(all, reference{other.Pos.File, from, to, other.Pos == other.Decl && other.Kind != "include"})
		}
		for _, n := range a.tested {
			if n.kind == w.Kind && n.name == w.Name && (a.policy == w.Decl.File || w.Kind == "rule" && a.policy == v.a.at.name) {
				from, to := unquoted(a.text.src, n.from, n.to)
				if i := strings.LastIndex(a.text.src[from:to], "/"); i >= 0 && n.kind == "rule" {
					from += i + 1
				}
				all = append(all, reference{a.at.name, from, to, false})
			}
		}
	}
	slices.SortFunc(all, func(a, b reference) int { return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.from, b.from)) })
	return slices.CompactFunc(all, func(a, b reference) bool { return a.file == b.file && a.from == b.from })
}

// unquoted returns the part of a text between its quotes.
func unquoted(src string, from, to int) (int, int) {
	if to-from >= 2 && (src[from] == '"' || src[from] == '\'') && src[to-1] == src[from] {
		return from + 1, to - 1
	}
	return from, to
}

// textOf returns the text of a file that an analysis has read, nil if it is not in the workspace.
func (v *view) textOf(a *analysis, name string) *text {
	if name == a.at.name {
		return a.text
	}
	if strings.HasPrefix(name, "ralph:") {
		return nil
	}
	if t := a.read[name]; t != nil {
		return t
	}
	src, err := fs.ReadFile(v.snap.overlay(a.at.root), name)
	if err != nil {
		return nil
	}
	return newText(string(src), v.snap.units)
}

// placeOf returns a reference for the editor.
func (v *view) placeOf(r reference) place {
	t := v.textOf(v.a, r.file)
	if t == nil {
		return place{}
	}
	return place{v.snap.uri(location{v.a.at.root, r.file}), t.span(r.from, r.to)}
}

func (v *view) word(p params) *rules.Word {
	at, _ := v.a.text.offset(p.Position)
	if w := v.a.wordAt(at); w != nil {
		return w
	}
	for _, n := range v.a.tested { // a name of the policy in its tests
		if n.from > at || at > n.to {
			continue
		}
		for i, w := range v.a.words() {
			if w.Kind == n.kind && w.Name == n.name && w.Pos == w.Decl {
				return &v.a.words()[i]
			}
		}
	}
	return nil
}

// definition returns where a word is declared.
func definition(_ context.Context, v *view, p params) (any, error) {
	w := v.word(p)
	if w == nil || w.Decl.Line == 0 {
		return nil, nil
	}
	t := v.textOf(v.a, w.Decl.File)
	if t == nil {
		return nil, nil
	}
	at := t.place(yamltree.Pos{Line: w.Decl.Line, Col: w.Decl.Col})
	return place{v.snap.uri(location{v.a.at.root, w.Decl.File}), t.span(at, at)}, nil
}

// references returns where a word is used.
func references(ctx context.Context, v *view, p params) (any, error) {
	w := v.word(p)
	places := []place{}
	if w == nil {
		return places, nil
	}
	for _, r := range v.references(ctx, *w) {
		if !r.decl || p.Context.IncludeDeclaration {
			places = append(places, v.placeOf(r))
		}
	}
	return places, nil
}

// edit replaces a range.
type edit struct {
	Range   span   `json:"range"`
	NewText string `json:"newText"`
}

// prepareRename returns the range of a word that can have another name.
func prepareRename(ctx context.Context, v *view, p params) (any, error) {
	w := v.word(p)
	if w == nil {
		return nil, nil
	}
	if err := renamable(*w); err != nil {
		return nil, err
	}
	at, _ := v.a.text.offset(p.Position)
	for _, r := range v.references(ctx, *w) {
		if r.file == v.a.at.name && r.from <= at && at <= r.to {
			return v.a.text.span(r.from, r.to), nil
		}
	}
	return nil, nil
}

// renamable returns why a word cannot have another name.
func renamable(w rules.Word) error {
	switch {
	case w.Decl.Line == 0 || w.Kind == "include":
		return fmt.Errorf("%q is not declared in a policy", w.Name)
	case strings.HasPrefix(w.Decl.File, "ralph:"):
		return fmt.Errorf("%q is declared in %s, which ships with ralph", w.Name, w.Decl.File)
	}
	return nil
}

// rename changes a name wherever it is used, if no file has a new error then.
func rename(ctx context.Context, v *view, p params) (any, error) {
	w := v.word(p)
	if w == nil {
		return nil, errors.New("there is no name here")
	}
	if err := renamable(*w); err != nil {
		return nil, err
	}
	edits := map[string][]edit{}
	next := v.snap
	family := v.family(ctx)
	all := v.references(ctx, *w)
	for _, r := range slices.Backward(all) { // from the end, so that earlier places stay where they are
		at := location{v.a.at.root, r.file}
		t := v.textOf(v.a, r.file)
		if t == nil {
			continue
		}
		uri := v.snap.uri(at)
		edits[uri] = append(edits[uri], edit{t.span(r.from, r.to), p.NewName})
		d := next.open[uri]
		if d == nil {
			d = &document{uri: uri, at: at, text: t}
		}
		changed := *d
		changed.text = newText(d.text.src[:r.from]+p.NewName+d.text.src[r.to:], t.units)
		next = next.with(&changed)
	}
	for _, a := range family {
		if after := v.server.analyze(ctx, next, a.at); after != nil {
			for _, d := range after.diags {
				if d.Severity == rules.Error && !slices.ContainsFunc(a.diags, func(o rules.Diagnostic) bool { return o.Check == d.Check && o.Pos.Line == d.Pos.Line }) {
					return nil, fmt.Errorf("%q cannot be the name: %s", p.NewName, d.Message)
				}
			}
		}
	}
	return map[string]any{"changes": edits}, nil
}

// hover describes the word, the key or the check at a position.
func hover(_ context.Context, v *view, p params) (any, error) {
	at, _ := v.a.text.offset(p.Position)
	if w := v.word(p); w != nil && w.Kind != "rule" {
		head := w.Kind + " " + w.Name
		if w.Type != "" {
			head += ": " + w.Type
		}
		return described("```\n"+head+"\n```\n\n"+w.Doc, nil), nil
	}
	if id, from, to := checkAt(v.a.text.src, at); id != "" {
		for _, c := range form.Checks() {
			if c.ID == id {
				at := v.a.text.span(from, to)
				return described(fmt.Sprintf("**%s** (%s): %s. [More](%s)", c.ID, c.Severity, c.Doc, checkLink(id)), &at), nil
			}
		}
	}
	if v.a.root() != nil {
		if path, key := pathTo(v.a.root(), v.a.text.pos(at)); key != nil {
			for _, s := range v.server.schemaAt(v.a.kind, path[:len(path)-1]) {
				if doc := descriptionOf(s.property(path[len(path)-1].key)); doc != "" {
					at := v.a.text.between(key.Start, key.End())
					return described("**"+key.Value+"**: "+doc, &at), nil
				}
			}
		}
	}
	return nil, nil
}

func described(markdown string, at *span) any {
	out := map[string]any{"contents": map[string]string{"kind": "markdown", "value": strings.TrimSpace(markdown)}}
	if at != nil {
		out["range"] = at
	}
	return out
}

// checkAt returns the ID at a byte of a comment that ignores checks, and where it is.
func checkAt(src string, at int) (id string, from, to int) {
	line := strings.LastIndexByte(src[:at], '\n') + 1
	end := len(src)
	if i := strings.IndexByte(src[at:], '\n'); i >= 0 {
		end = at + i
	}
	if !strings.Contains(src[line:end], "ralph:ignore") {
		return "", 0, 0
	}
	is := func(c byte) bool { return c == '-' || c >= 'a' && c <= 'z' }
	for from, to = at, at; from > line && is(src[from-1]); {
		from--
	}
	for to < end && is(src[to]) {
		to++
	}
	return src[from:to], from, to
}
