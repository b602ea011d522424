package state

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"
)

// Op is the kind of a change to a file, in the order in which [Root.Apply] changes several files.
type Op uint8

const (
	OpSet     Op = iota // set the values of Change.Sets; the zero value
	OpArchive           // move the file to .ralph/archive/TIME/path; remove a link to it
	OpDelete            // remove the file; for a link, only the link
	opWrite             // replace the whole file, see Root.Write
)

// A Change is one change to one file of the project.
type Change struct {
	Path    string
	Format  Format // of the file, for OpSet
	Version string // the Doc.Version on which the change is based
	Op      Op
	Sets    []Set

	// Create is the initial document if the file does not exist, whose directories are then also created; with nil,
	// setting values is an error. It needs an empty Version.
	Create map[string]any

	// At names the directory of the archived files; that of the first counts for all. The zero time is now.
	At time.Time

	data []byte // the whole file, for opWrite

	// Archived is the path to which Apply moved the file, relative to the root, or "".
	Archived string
}

// Apply makes all changes, or none as far as the file system allows. It first reads every file, compares its version,
// renders and verifies the new bytes and writes them to temporary files; only then does it replace, remove and move
// files, each after comparing its version again. If that fails halfway, Apply undoes what it did.
//
// The error is [ErrChanged] if a file has changed since it was read, an [*EditError] if a change would harm the file, a
// [*PathError] if the path is invalid, the error of ctx, or wraps a system error. It says if a change was made and
// could not be undone.
//
// A replaced file keeps its permissions. If the path is a link, its target is replaced and the link stays. Changes to
// one file are made in order. A file with [Change.Create] is created in one step, unless another process has created it
// in the meantime. Apply sets Archived in the changes; with the first file of the archive it makes git ignore the
// archive. Removing a file that did not exist when it was read, and still does not, does nothing.
func (r *Root) Apply(ctx context.Context, changes []Change) error {
	targets, err := r.plan(ctx, changes)
	if err != nil {
		return err
	}
	defer func() {
		for _, t := range targets {
			t.cleanUp()
		}
	}()
	archives := archiver{root: r.root}
	for _, t := range targets {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := t.prepare(&archives); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, t := range targets {
		if err := t.unchanged(); err != nil {
			return err
		}
	}
	// Removals cannot always be undone exactly, so they come last.
	slices.SortStableFunc(targets, func(a, b *target) int { return int(a.end) - int(b.end) })
	for i, t := range targets {
		err := t.commit()
		if err == nil {
			continue
		}
		partial := false
		for _, done := range slices.Backward(targets[:i]) {
			partial = done.undo() != nil || partial
		}
		if partial {
			// Not wrapped: a caller that decides again on ErrChanged would repeat some of the changes.
			return &writeError{path: t.loc.shown, op: t.verb(), partial: true, err: errors.New(err.Error())}
		}
		return err
	}
	r.sweepTemps(targets)
	for _, t := range targets {
		if t.end == OpArchive && !t.nothing {
			changes[t.ender].Archived = t.archive
		}
	}
	return nil
}

// sweepTemps removes temporary files of killed processes.
func (r *Root) sweepTemps(targets []*target) {
	seen := map[string]bool{}
	for _, t := range targets {
		if dir := path.Dir(t.was.place); t.end == OpSet && t.edited != nil && !t.made && !seen[dir] {
			seen[dir] = true
			sweepTemps(r.root, dir)
		}
	}
}

// A target is one file with all changes to it.
type target struct {
	root    *Root
	loc     location
	was     raw
	link    bool   // the path itself is a link
	entry   string // the path itself, with links in its directories resolved
	edited  []byte // nil if no value is set
	end     Op     // OpDelete or OpArchive if the file is removed
	at      time.Time
	ender   int  // index of that change
	nothing bool // there is nothing to do
	made    bool // the file is new

	temp    string // temporary file with the new bytes
	archive string // archived path
}

func (t *target) verb() string {
	return map[Op]string{OpSet: "write", OpDelete: "delete", OpArchive: "archive"}[t.end]
}

func (t *target) failed(err error) error {
	return &writeError{path: t.loc.shown, op: t.verb(), err: err}
}

func (t *target) refuse(message string) error {
	return &EditError{Path: t.loc.shown, Message: message}
}

// plan reads every file once and renders its new bytes.
func (r *Root) plan(ctx context.Context, changes []Change) ([]*target, error) {
	var targets []*target
	byPlace := map[string]*target{}
	for i, c := range changes {
		loc, err := r.locate(c.Path)
		if err != nil {
			return nil, err
		}
		if loc.home {
			return nil, &PathError{Path: c.Path, Message: "is in the home directory, where ralph changes nothing"}
		}
		was := r.fetchWithin(ctx, loc, 0, nil)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if was.version != c.Version {
			return nil, changed(loc.shown)
		}
		place := was.place
		if place == "" {
			place = loc.rel
		}
		t := byPlace[place]
		if t == nil {
			t = &target{root: r, loc: loc, was: was}
			if was.place != "" {
				var err error
				if t.entry, t.link, err = r.look(loc); err != nil {
					return nil, t.failed(err)
				}
			}
			byPlace[place] = t
			targets = append(targets, t)
		}
		if err := t.add(c); err != nil {
			return nil, err
		}
		if t.end != OpSet {
			t.ender = i
		}
	}
	return targets, nil
}

// add adds one more change of the file.
func (t *target) add(c Change) error {
	if t.end != OpSet {
		return t.refuse("it is removed before this change")
	}
	src := t.was.data
	if t.was.place == "" {
		switch {
		case t.was.quiet && (t.made && c.Op == OpSet || c.Op == opWrite):
			t.made = true
		case t.was.quiet && c.Op == OpSet && c.Create != nil:
			var err error
			if src, err = NewDocument(c.Format, nil, c.Create, ""); err != nil {
				return t.failed(err)
			}
			t.made = true
		case t.was.quiet && c.Op != OpSet && !t.made:
			t.nothing = true
			return nil
		case t.made:
			return t.refuse("this change creates it and cannot also remove it")
		default:
			return t.refuse("it " + t.was.problem)
		}
	}
	switch c.Op {
	case opWrite:
		t.edited = append([]byte{}, c.data...) // not nil
	case OpSet:
		if t.was.status != OK && !t.made {
			return t.refuse("it " + t.was.problem)
		}
		if t.edited != nil {
			src = t.edited
		}
		edited, err := Edit(src, c.Format, c.Sets)
		var refused *EditError
		if errors.As(err, &refused) {
			refused.Path = t.loc.shown
			return refused
		}
		t.edited = edited
	case OpDelete, OpArchive:
		t.end, t.at = c.Op, c.At
	default:
		return t.refuse(fmt.Sprintf("there is no operation %d", c.Op))
	}
	return nil
}

// prepare writes temporary files and reserves archive names, so that commit only renames.
func (t *target) prepare(archives *archiver) error {
	if t.made {
		place, err := entry(t.root.dir, t.loc)
		if err != nil {
			return nil // no directory yet
		}
		if _, err := t.root.root.Lstat(place); err == nil && t.root.fetch(t.loc, nil).place == "" {
			return t.refuse("it is a link that leads nowhere")
		}
		return nil
	}
	if t.end == OpSet && bytes.Equal(t.edited, t.was.data) {
		t.nothing = true // it already has the values
	}
	if t.nothing {
		return nil
	}
	root := t.root.root
	if t.edited != nil && t.end != OpDelete {
		temp, err := writeTemp(root, path.Dir(t.was.place), t.edited, &t.was)
		if err != nil {
			return t.failed(err)
		}
		t.temp = temp
	}
	if t.end == OpArchive {
		name, err := archives.reserve(t.loc.rel, t.at)
		if err != nil {
			return t.failed(err)
		}
		t.archive = name
	}
	return nil
}

// unchanged compares the file to what was read.
func (t *target) unchanged() error {
	if t.root.fetch(t.loc, nil).version != t.was.version {
		return changed(t.loc.shown)
	}
	return nil
}

// commit makes the change, after comparing once more.
func (t *target) commit() error {
	if t.nothing {
		return nil
	}
	if t.made {
		return t.create()
	}
	if err := t.unchanged(); err != nil {
		return err
	}
	if err := t.swap(); err != nil {
		return t.failed(err)
	}
	return nil
}

func (t *target) swap() error {
	root := t.root.root
	switch t.end {
	case OpDelete:
		if err := root.Remove(t.entry); err != nil {
			return err
		}
		syncDir(root, path.Dir(t.entry))
		return nil
	case OpArchive:
		from := t.was.place
		if t.temp != "" {
			from = t.temp // the archive gets the new bytes
		}
		if err := root.Rename(from, t.archive); err != nil {
			return err
		}
		if t.temp != "" {
			t.temp = ""
			if err := root.Remove(t.was.place); err != nil {
				root.Remove(t.archive)
				return err
			}
		}
		if t.link {
			// The target no longer exists; a dangling link would do no harm.
			root.Remove(t.entry)
		}
		syncDir(root, path.Dir(t.archive))
		syncDir(root, path.Dir(t.was.place))
		return nil
	}
	if err := root.Rename(t.temp, t.was.place); err != nil {
		return err
	}
	t.temp = ""
	syncDir(root, path.Dir(t.was.place))
	return nil
}

// undo restores the old file after commit, unless another process has replaced it.
func (t *target) undo() error {
	if t.nothing {
		return nil
	}
	root := t.root.root
	if t.end == OpSet {
		now := t.root.fetch(t.loc, nil)
		if !bytes.Equal(now.data, t.edited) {
			return changed(t.loc.shown)
		}
		if t.made {
			return root.Remove(now.place)
		}
		return t.restore()
	}
	if _, err := root.Lstat(t.was.place); err == nil || t.link {
		return changed(t.loc.shown) // links are not restored
	}
	if t.end == OpArchive && t.edited == nil {
		return root.Rename(t.archive, t.was.place)
	}
	if err := t.restore(); err != nil {
		return err
	}
	if t.end == OpArchive {
		root.Remove(t.archive)
	}
	return nil
}

// restore writes the bytes that were read.
func (t *target) restore() error {
	root := t.root.root
	if t.was.status != OK {
		return fs.ErrInvalid // incomplete
	}
	temp, err := writeTemp(root, path.Dir(t.was.place), t.was.data, &t.was)
	if err != nil {
		return err
	}
	if err := root.Rename(temp, t.was.place); err != nil {
		root.Remove(temp)
		return err
	}
	syncDir(root, path.Dir(t.was.place))
	return nil
}

// cleanUp removes what was prepared and not used.
func (t *target) cleanUp() {
	root := t.root.root
	if t.temp != "" {
		root.Remove(t.temp)
	}
	if t.archive != "" {
		removeEmpty(root, path.Dir(t.archive))
	}
}
