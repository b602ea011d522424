package lsp

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/form"
	"github.com/ralph-sdk/ralph/internal/yamltree"
	"github.com/ralph-sdk/ralph/rules"
)

// diagnostic is a finding for the editor.
type diagnostic struct {
	Range       span      `json:"range"`
	Severity    int       `json:"severity"`
	Code        string    `json:"code,omitempty"`
	Description *codeLink `json:"codeDescription,omitempty"`
	Source      string    `json:"source"`
	Message     string    `json:"message"`
	Related     []related `json:"relatedInformation,omitempty"`
	Data        string    `json:"data,omitempty"` // the help
}

type codeLink struct {
	Href string `json:"href"`
}

type related struct {
	Location place  `json:"location"`
	Message  string `json:"message"`
}

// place is a range of a file.
type place struct {
	URI   string `json:"uri"`
	Range span   `json:"range"`
}

// shown is what the editor shows for a file.
type shown struct {
	version int
	open    bool
	diags   []diagnostic
}

// check checks what changed, until the connection ends.
func (s *server) check() {
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-s.wake:
		}
		s.mu.Lock()
		snap := s.snap
		s.mu.Unlock()
		s.checkAll(snap)
	}
}

// checkAll checks each open file that has changed, and shows what it finds. It returns as soon as there is a newer
// snapshot, with which it is called again.
func (s *server) checkAll(snap *snapshot) {
	wanted := map[location]bool{}
	for _, d := range snap.sorted() {
		wanted[d.at] = true
		if kindOf(d.at.name, d.text.src) == policy {
			for _, at := range s.includers(snap, d) {
				wanted[at] = true
			}
		}
	}
	for at := range s.roots {
		if !wanted[at] {
			delete(s.roots, at)
			s.mu.Lock()
			delete(s.known, at)
			s.mu.Unlock()
		}
	}
	for at := range wanted {
		if old := s.roots[at]; old != nil && old.current(snap) {
			continue
		}
		a := s.look(s.ctx, snap, at)
		s.mu.Lock()
		stale := s.snap != snap
		s.mu.Unlock()
		switch {
		case a != nil:
			s.roots[at] = a
		case !stale:
			delete(s.roots, at)
		}
		if stale && a == nil {
			return
		}
	}
	s.show(snap)
}

// including lists the policies that may include a file, as they are saved.
type including struct {
	epoch int
	by    []location
}

// includers returns the policies beside a file that may include it, and are not open.
func (s *server) includers(snap *snapshot, d *document) (found []location) {
	const most = 100
	s.mu.Lock()
	known, ok := s.found[d.at]
	s.mu.Unlock()
	if ok && known.epoch == snap.epoch {
		return known.by
	}
	defer func() {
		s.mu.Lock()
		s.found[d.at] = including{snap.epoch, found}
		s.mu.Unlock()
	}()
	files := snap.overlay(d.at.root)
	names := append(files.beside(path.Dir(d.at.name)), files.beside(".ralph")...)
	for _, name := range names[:min(len(names), most)] {
		if name == d.at.name || files.open[name] != nil || strings.HasSuffix(name, "_test.yaml") {
			continue
		}
		if src, err := fs.ReadFile(files, name); err == nil && includes(src, d.at.name) {
			found = append(found, location{d.at.root, name})
		}
	}
	return found
}

// show publishes the findings of all checks, where they have changed.
func (s *server) show(snap *snapshot) {
	included := map[location]bool{} // their policies say what is wrong with them
	for at, a := range s.roots {
		for name := range a.read {
			if other := (location{at.root, name}); a.kind == policy && other != at && s.roots[other] != nil && s.roots[other].kind == policy {
				included[other] = true
			}
		}
	}
	all := map[string]shown{}
	for uri, d := range snap.open {
		all[uri] = shown{d.version, true, []diagnostic{}}
	}
	for _, at := range s.sortedRoots() {
		a := s.roots[at]
		for _, d := range a.diags {
			where := location{at.root, d.Pos.File}
			uri := snap.uri(where)
			of := all[uri]
			if included[at] && where == at || strings.HasPrefix(d.Pos.File, "ralph:") || snap.open[snap.uri(at)] == nil && !of.open {
				continue
			}
			one := s.shownAs(snap, a, d)
			if !slices.ContainsFunc(of.diags, func(o diagnostic) bool {
				return o.Range == one.Range && o.Code == one.Code && o.Message == one.Message
			}) {
				of.diags = append(of.diags, one)
			}
			all[uri] = of
		}
	}
	for uri := range s.shown {
		if _, still := all[uri]; !still {
			all[uri] = shown{diags: []diagnostic{}}
		}
	}
	for uri, now := range all {
		if old, ok := s.shown[uri]; ok && old.version == now.version && old.open == now.open && slices.EqualFunc(old.diags, now.diags, sameDiagnostic) {
			continue
		}
		message := map[string]any{"uri": uri, "diagnostics": now.diags}
		if now.open {
			message["version"] = now.version
		}
		if s.conn.Notify(s.ctx, "textDocument/publishDiagnostics", message) == nil {
			s.shown[uri] = now
		}
		if !now.open && len(now.diags) == 0 {
			delete(s.shown, uri)
		}
	}
}

func sameDiagnostic(a, b diagnostic) bool {
	return a.Range == b.Range && a.Severity == b.Severity && a.Code == b.Code && a.Message == b.Message && slices.Equal(a.Related, b.Related)
}

func (s *server) sortedRoots() []location {
	all := make([]location, 0, len(s.roots))
	for at := range s.roots {
		all = append(all, at)
	}
	slices.SortFunc(all, func(a, b location) int { return strings.Compare(a.root+"\x00"+a.name, b.root+"\x00"+b.name) })
	return all
}

// shownAs returns a finding of an analysis for the editor.
func (s *server) shownAs(snap *snapshot, a *analysis, d rules.Diagnostic) diagnostic {
	out := diagnostic{Range: s.rangeOf(snap, a, d.Pos, d.End), Severity: int(d.Severity) + 1, Code: d.Check, Source: "ralph", Message: d.Message, Data: d.Help}
	if link := checkLink(d.Check); link != "" {
		out.Description = &codeLink{link}
	}
	if d.Help != "" {
		out.Message += "\n" + d.Help
	}
	if d.Situation != nil {
		out.Message += "\nsituation: " + string(d.Situation)
	}
	for _, r := range d.Related {
		if !strings.HasPrefix(r.Pos.File, "ralph:") {
			out.Related = append(out.Related, related{place{snap.uri(location{a.at.root, r.Pos.File}), s.rangeOf(snap, a, r.Pos, rules.Pos{})}, r.Message})
		}
	}
	return out
}

// checkLink returns the address of the documentation of a check, "" if there is none.
func checkLink(id string) string {
	if slices.ContainsFunc(form.Checks(), func(c form.Check) bool { return c.ID == id }) {
		return "https://github.com/ralph-sdk/ralph/blob/main/docs/checks.md#" + id
	}
	return ""
}

// rangeOf returns the range of a finding. One without an end has one character.
func (s *server) rangeOf(snap *snapshot, a *analysis, from, to rules.Pos) span {
	t := a.read[from.File]
	if from.File == a.at.name {
		t = a.text
	}
	if t == nil {
		src, err := fs.ReadFile(snap.overlay(a.at.root), from.File)
		if err != nil {
			return span{}
		}
		t = newText(string(src), snap.units)
	}
	start, end := yamltree.Pos{Line: from.Line, Col: from.Col}, yamltree.Pos{Line: to.Line, Col: to.Col}
	if !start.Before(end) {
		end = yamltree.Pos{Line: start.Line, Col: start.Col + 1}
	}
	return t.between(start, end)
}
