// Package approval decides what a user's approval covers: a policy in one project, with everything on which its
// programs and models depend. It stores nothing; package store does. Start with [Policy].
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

// Key returns a digest of a policy and its includes, names and bytes, for the records of decisions. The names are
// relative to the policy's directory, so that the key does not depend on where it is loaded.
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

// packed is the form in which the files of a policy are stored.
type packed struct {
	V     int          `json:"v"` // the version, 1
	Files []rules.File `json:"files"`
}

// Pack encodes the files of a policy for [Unpack].
func Pack(files []rules.File) ([]byte, error) { return json.Marshal(packed{1, files}) }

// Unpack returns the files of a policy with a key. It returns an error if text has other files.
func Unpack(text []byte, key string) ([]rules.File, error) {
	var p packed
	if err := json.Unmarshal(text, &p); err != nil || p.V != 1 || len(p.Files) == 0 || Key(p.Files) != key {
		return nil, errors.New("what is kept of the policy is damaged, or of another version of ralph")
	}
	return p.Files, nil
}

// A Policy is a policy to approve, as loaded in a project.
type Policy struct {
	Root  string // of the project, absolute and without links
	Dir   string // where its programs run, if that is a worktree instead of Root
	Name  string // as in hooks: relative to the root, or absolute
	Files []rules.File
	// Params are the values in the project's configuration, except those that the user's command line overrides, which
	// are Chosen.
	Params map[string]string
	Chosen []string
}

// Approval returns what an approval of the policy covers now. facts are those that need one; also are more files of the
// project.
func (p Policy) Approval(facts []*rules.Fact, also ...string) (store.Approval, error) {
	a := store.Approval{Root: p.Root, Policy: p.Name, Files: p.files(), Params: p.Params}
	for _, f := range facts {
		programs, err := p.programs(f, false, also)
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

// Project returns why a project does not count for hooks of all projects, nil if the user trusts it.
func Project(own interface{ Trusts(root string) bool }, root string) error {
	if own.Trusts(root) {
		return nil
	}
	return &Missing{"you have not trusted this project", "; run `ralph trust` to trust it"}
}

// Loop returns what covers a loop that ralph start wrote: its file with the text below the front matter, which is the
// prompt. The other fields are for rules and agents to change.
func Loop(file, body string) store.Covered {
	sum := sha256.Sum256([]byte(body))
	return store.Covered{Name: file, Digest: hex.EncodeToString(sum[:])}
}

// Missing is why a policy is not approved.
type Missing struct {
	Why string // a clause that completes a sentence
	Way string // what to do, with preceding punctuation
}

func (m *Missing) Error() string { return m.Why + m.Way }

// Approvals returns the approval of a policy in a project, if there is one.
type Approvals interface {
	Approval(root, policy string) (a store.Approval, ok bool)
}

// Check returns why the policy may not gather a fact, or with a nil f why it is not approved; nil means approved, and
// the error is a [*Missing]. also are more files on which the fact depends.
func (p Policy) Check(own Approvals, f *rules.Fact, also ...string) error {
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
			changes = append(changes, fmt.Sprintf("the project's configuration no longer sets %s to %q", name, cut(was)))
		case !before:
			changes = append(changes, fmt.Sprintf("the project's configuration sets %s to %q, which was not approved", name, cut(is)))
		case was != is:
			changes = append(changes, fmt.Sprintf("the project's configuration sets %s to %q; approved is %q", name, cut(is), cut(was)))
		}
	}
	if f != nil {
		programs, err := p.programs(f, true, also)
		if err != nil {
			changes = append(changes, err.Error())
		}
		changes = append(changes, changed(a.Programs, programs, "was not approved")...)
	}
	if len(changes) == 0 {
		return nil
	}
	return &Missing{"which is not approved in its current form: " + strings.Join(changes, ", "), ". Read it, then run `ralph trust " + p.Name + "`"}
}

func (p Policy) unknown() error {
	return &Missing{"which is not approved yet", fmt.Sprintf(": read %s, then run `ralph trust %[1]s`", p.Name)}
}

func (p Policy) files() []store.Covered {
	files := make([]store.Covered, 0, len(p.Files))
	for _, f := range p.Files {
		if c := (store.Covered{Name: f.Name, Digest: meaning(f.Src)}); !slices.Contains(files, c) {
			files = append(files, c)
		}
	}
	return files
}

// changed returns which files changed, and what a new one is.
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

// cut returns a value, shortened if it is long.
func cut(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
