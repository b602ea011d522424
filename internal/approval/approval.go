// Package approval says what a user approves: a policy in one project, with all that
// its programs and models depend on. It keeps nothing itself; package store does.
//
// Start with [Policy].
package approval

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/rules"
)

// Key names the content of a policy and of all that it includes, names and bytes,
// for the records of decisions. Any change gives another key. The names count from
// the folder of the policy, so that it is the same policy from wherever it is loaded.
func Key(files []rules.File) string {
	h := sha256.New()
	for _, f := range files {
		name := f.Name
		if !strings.HasPrefix(name, "ralph:") {
			if rel, err := filepath.Rel(path.Dir(files[0].Name), name); err == nil {
				name = filepath.ToSlash(rel)
			}
		}
		fmt.Fprintf(h, "%d %d\n%s\n", len(name), len(f.Src), name)
		h.Write(f.Src)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// packed is the form in which the files of a policy are kept.
type packed struct {
	V     int          `json:"v"` // 1
	Files []rules.File `json:"files"`
}

// Pack makes one text of the files of a policy, from which [Unpack] takes them exactly.
func Pack(files []rules.File) ([]byte, error) { return json.Marshal(packed{1, files}) }

// Unpack returns the files of a policy that has a key. It fails if the text holds others.
func Unpack(text []byte, key string) ([]rules.File, error) {
	var p packed
	if err := json.Unmarshal(text, &p); err != nil || p.V != 1 || len(p.Files) == 0 || Key(p.Files) != key {
		return nil, errors.New("what is kept of the policy is damaged, or of another version of ralph")
	}
	return p.Files, nil
}

// A Policy is what can be approved: a policy as it is loaded in a project.
type Policy struct {
	Root  string // of the project, absolute and without links
	Dir   string // in which its programs run, where that is a worktree and not Root
	Name  string // as hooks know it: relative to the root, or absolute
	Files []rules.File
	// Params are the values that the project's configuration gives to params, but for
	// those of Chosen, to which the user's command line gives another.
	Params map[string]string
	Chosen []string
}

// Approval is what an approval of the policy covers now. facts are those that need one.
func (p Policy) Approval(facts []*rules.Fact) (store.Approval, error) {
	a := store.Approval{Root: p.Root, Policy: p.Name, Files: p.files(), Params: p.Params}
	for _, f := range facts {
		programs, err := p.programs(f)
		if err != nil {
			return a, fmt.Errorf("%s: %w", f.Name, err)
		}
		for _, c := range programs {
			if !slices.Contains(a.Programs, c) {
				a.Programs = append(a.Programs, c)
			}
		}
	}
	return a, nil
}

// Project says why what a project brings does not count for hooks of all projects, nil if the user trusts it.
func Project(own *store.Store, root string) error {
	if own != nil && own.Trusts(root) {
		return nil
	}
	return &Missing{"you have not trusted this project", "; to do so: ralph trust"}
}

// Missing says why a policy is not approved as it is.
type Missing struct {
	Why string // a clause that goes on a sentence
	Way string // what to do, with the punctuation before it
}

func (m *Missing) Error() string { return m.Why + m.Way }

// Check says why the policy as it is may not gather a fact, or is not the approved
// one where f is nil. nil means that it was approved; the error is a [*Missing].
func (p Policy) Check(own *store.Store, f *rules.Fact) error {
	if own == nil {
		return p.unknown()
	}
	a, ok := own.Approval(p.Root, p.Name)
	if !ok {
		return p.unknown()
	}
	files := p.files()
	changes := changed(a.Files, files, "was not part of it when it was approved")
	for _, c := range a.Files {
		if !named(files, c.Name) {
			changes = append(changes, c.Name+" is no longer part of it")
		}
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(p.Params)), maps.Keys(a.Params))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		was, before := a.Params[name]
		is, now := p.Params[name]
		switch {
		case slices.Contains(p.Chosen, name):
		case !now:
			changes = append(changes, fmt.Sprintf("the project's configuration no longer gives %s the value %q", name, cut(was)))
		case !before:
			changes = append(changes, fmt.Sprintf("the project's configuration gives %s the value %q, which was not approved", name, cut(is)))
		case was != is:
			changes = append(changes, fmt.Sprintf("the project's configuration gives %s the value %q; approved is %q", name, cut(is), cut(was)))
		}
	}
	if f != nil {
		programs, err := p.programs(f)
		if err != nil {
			changes = append(changes, err.Error())
		}
		changes = append(changes, changed(a.Programs, programs, "was not approved")...)
	}
	if len(changes) == 0 {
		return nil
	}
	return &Missing{"which is not approved any more: " + strings.Join(changes, ", "), ". Read it, then run: ralph trust " + p.Name}
}

func (p Policy) unknown() error {
	return &Missing{"which is not approved yet", fmt.Sprintf(": read %s, then run: ralph trust %[1]s", p.Name)}
}

func (p Policy) files() []store.Covered {
	files := make([]store.Covered, 0, len(p.Files))
	for _, f := range p.Files {
		if c := (store.Covered{Name: f.Name, Digest: digest(f.Src)}); !slices.Contains(files, c) {
			files = append(files, c)
		}
	}
	return files
}

// changed says which files are not as they were, and what a new one is.
func changed(was, is []store.Covered, isNew string) (changes []string) {
	for _, c := range is {
		switch {
		case slices.Contains(was, c):
		case named(was, c.Name):
			changes = append(changes, c.Name+" changed since it was approved")
		default:
			changes = append(changes, c.Name+" "+isNew)
		}
	}
	return changes
}

func named(in []store.Covered, name string) bool {
	return slices.ContainsFunc(in, func(c store.Covered) bool { return c.Name == name })
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// cut is a value, or its beginning where it is long.
func cut(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
