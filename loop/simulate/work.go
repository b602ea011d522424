package simulate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
	"github.com/ralph-sdk/ralph/state"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// files lists the files of the project that the policy reads, sorted.
func (a *agent) files() []string {
	out := sortedKeys(a.kinds)
	for _, p := range a.patterns {
		matches, err := filepath.Glob(filepath.Join(a.session.project, filepath.FromSlash(p)))
		if err != nil {
			continue
		}
		for _, m := range matches {
			if rel, err := filepath.Rel(a.session.project, m); err == nil && !slices.Contains(out, filepath.ToSlash(rel)) {
				out = append(out, filepath.ToSlash(rel))
			}
		}
	}
	return out
}

func (a *agent) read(file string) ([]byte, error) {
	return os.ReadFile(filepath.Join(a.session.project, filepath.FromSlash(file)))
}

func (a *agent) write(file string, data []byte) error {
	if !slices.Contains(a.changed, file) {
		a.changed = append(a.changed, file)
	}
	return os.WriteFile(filepath.Join(a.session.project, filepath.FromSlash(file)), data, 0o644)
}

// format is how a file with fields is understood.
func (a *agent) format(file string) state.Format {
	if a.kinds[file].Body {
		return state.FrontMatter
	}
	return state.JSON
}

// holds reports whether the values of a kind are of this sort.
func holds(kind rules.SourceKind, k schema.Kind) bool {
	return kind.Value != nil && kind.Value.Kind == k
}

// fields reads the fields of a JSON file or of a front matter.
func (a *agent) fields(file string) (map[string]any, error) {
	root, err := state.OpenRoot(a.session.project)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	doc := root.Read(context.Background(), state.File{Path: file, Format: a.format(file)})
	if doc.Status != state.OK {
		return nil, errors.New(doc.Problem)
	}
	open, err := schema.FromValue("open", true)
	if err != nil {
		return nil, err
	}
	fields, _ := open.Check(doc.Document).Value.(map[string]any)
	return fields, nil
}

// advance does one unit of work in every file that shows progress, and reports
// whether more is left.
func (a *agent) advance() (did string, left bool, err error) {
	shown := false // some file says how much there is
	for _, file := range a.files() {
		src, err := a.read(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", false, err
		}
		after, what, more := a.step(file, src)
		if what == "" && !more {
			continue
		}
		shown, left = true, left || more
		if what != "" && did == "" {
			did = what
		}
		if err := a.write(file, after); err != nil {
			return "", false, err
		}
	}
	if did == "" {
		did = "worked"
	}
	if !shown || a.listed {
		left = left || a.written < units
	}
	return did, left, nil
}

// open is an item of a checklist that is not ticked.
const open = `(?m)^(\s*(?:[-*+]|\d+[.)])\s+\[) (\])`

// step gives a file after one more unit of work.
func (a *agent) step(file string, src []byte) (after []byte, did string, more bool) {
	if holds(a.kinds[file], schema.Array) { // a checklist
		box := regexp.MustCompile(open)
		at := box.FindSubmatchIndex(src)
		if at == nil {
			return src, "", false
		}
		after = slices.Concat(src[:at[3]], []byte("x"), src[at[4]:])
		return after, "ticked an item of " + file, box.Match(after)
	}
	fields, err := a.fields(file)
	if err != nil {
		return src, "", false
	}
	index, total := number(fields["taskIndex"]), number(fields["totalTasks"])
	var sets []state.Set
	set := func(field string, v any) { sets = append(sets, state.Set{Path: []any{field}, Value: v}) }
	status, _ := fields["status"].(string)
	switch phase, _ := fields["phase"].(string); {
	case phase != "" && phase != "execution":
		next := "execution"
		phases := []string{"research", "requirements", "design", "tasks"}
		if i := slices.Index(phases, phase); i >= 0 && i+1 < len(phases) {
			next = phases[i+1]
		}
		set("phase", next)
		did, more = "went on to phase "+next, true
	case fields["taskIndex"] != nil && index < total:
		set("taskIndex", index+1)
		if fields["taskIteration"] != nil {
			set("taskIteration", 1)
		}
		if g := number(fields["globalIteration"]); g > 0 {
			set("globalIteration", g+1)
		}
		did, more = fmt.Sprintf("did task %d of %d", index+1, total), index+1 < total
	case status == "pending" || status == "in_progress":
		set("status", "verified")
		did = "closed " + file
	default:
		return src, "", false
	}
	if after, err = state.Edit(src, a.format(file), sets); err != nil {
		return src, "", false
	}
	return after, did, more
}

func number(v any) int {
	n, _ := v.(int)
	return n
}

// crash works, but dies now and then while it writes. The next run finds half a
// file; sometimes it writes it anew, sometimes it does not see it.
func (a *agent) crash() (did, words string, err error) {
	if len(a.broken) > 0 && a.rand.IntN(2) == 0 {
		return "found half a file and went on", "", nil
	}
	if len(a.broken) > 0 || a.rand.IntN(2) == 0 {
		return a.work()
	}
	a.crashed = true
	file, whole := a.victim()
	if file == "" {
		return "crashed", "", nil
	}
	a.broken[file] = whole
	return "crashed while writing " + file, "", a.write(file, whole[:1+a.rand.IntN(len(whole)-1)])
}

// victim chooses the file that is left half written, and what it should hold: one
// that the next unit of work changes, else any that has a form.
func (a *agent) victim() (file string, whole []byte) {
	for _, f := range a.files() {
		src, err := a.read(f)
		if err != nil || len(src) < 2 || holds(a.kinds[f], schema.String) {
			continue
		}
		after, did, _ := a.step(f, src)
		if did != "" {
			return f, after
		}
		if file == "" {
			file, whole = f, src
		}
	}
	return file, whole
}
