package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"time"
)

// Documents is what [Orders] are kept in: a [Store], or what has the same methods.
type Documents interface {
	// Document returns a document and its version, "" if there is none. One that cannot be read has a version, too.
	Document(kind, name string) (data []byte, version string, err error)
	// PutDocument replaces a document that still has the version, "" to create it, or without data removes it. Otherwise it
	// returns [ErrChanged].
	PutDocument(ctx context.Context, kind, name string, data []byte, version string) error
	// DocumentNames returns the names of a kind. An error with a name is about that document.
	DocumentNames(kind string) iter.Seq2[string, error]
}

// A Seam is documents of another store, as loop.Documents.
type Seam interface {
	Get(ctx context.Context, kind, name string) (data []byte, version string, err error)
	Put(ctx context.Context, kind, name string, data []byte, version string) error
	Names(ctx context.Context, kind string) iter.Seq2[string, error]
}

// OrdersAt returns the orders of a scope in another store, which are read while ctx is not done. conflict is the error of Put
// for which [Documents] return [ErrChanged].
func OrdersAt(ctx context.Context, of Seam, conflict error, scope string) Orders {
	return Orders{seam{ctx, of, conflict}, scope}
}

type seam struct {
	ctx      context.Context
	of       Seam
	conflict error
}

func (s seam) Document(kind, name string) ([]byte, string, error) { return s.of.Get(s.ctx, kind, name) }

func (s seam) PutDocument(ctx context.Context, kind, name string, data []byte, version string) error {
	err := s.of.Put(ctx, kind, name, data, version)
	if errors.Is(err, s.conflict) {
		err = ErrChanged
	}
	return err
}

func (s seam) DocumentNames(kind string) iter.Seq2[string, error] { return s.of.Names(s.ctx, kind) }

// Refused is that of the store, see [Store.Refused].
func (s seam) Refused(root string) error {
	if r, ok := s.of.(refuser); ok {
		return r.Refused(root)
	}
	return nil
}

// refuser is documents that must not be used for every project.
type refuser interface{ Refused(root string) error }

// Orders are what persons stopped, paused, hinted, approved and trusted, and the runs that are kept, all of one scope. Those
// of a [Store] are of ralph's own loops.
type Orders struct {
	docs  Documents
	scope string
}

// OrdersIn returns the orders of a scope.
func OrdersIn(docs Documents, scope string) Orders { return Orders{docs, scope} }

// refused returns why the documents must not be used for a project, or nil.
func (o Orders) refused(root string) error {
	if r, ok := o.docs.(refuser); ok {
		return r.Refused(root)
	}
	return nil
}

// kind returns the kind of documents that begins with a word. Those of one collection, such as of a project, are a kind.
func (o Orders) kind(word string, collection ...string) string {
	if o.scope == "" && len(collection) == 0 {
		return word
	}
	return word + " " + joined(append([]string{o.scope}, collection...)...)
}

// joined returns a text that no other parts have.
func joined(parts ...string) string {
	b := make([]byte, 0, 128)
	for _, p := range parts {
		b = append(strconv.AppendQuote(b, p), ' ')
	}
	return string(bytes.TrimSuffix(b, []byte{' '}))
}

// put replaces a document, whatever its version is.
func (o Orders) put(kind, name string, v any, most int) error {
	data, err := asJSON(v, most)
	if err != nil {
		return failed("write", kind+" "+name, err)
	}
	for {
		_, version, _ := o.docs.Document(kind, name)
		if err = o.docs.PutDocument(context.Background(), kind, name, data, version); !errors.Is(err, ErrChanged) {
			return err
		}
	}
}

func asJSON(v any, most int) ([]byte, error) {
	data, err := json.MarshalIndent(v, "", "  ")
	if err == nil && len(data) > most {
		err = fmt.Errorf("it is too large: %d bytes, the limit is %d", len(data), most)
	}
	return append(data, '\n'), err
}

// create creates a document, and reports whether there was none.
func (o Orders) create(kind, name string, v any) (created bool, err error) {
	data, err := json.Marshal(v)
	if err == nil {
		err = o.docs.PutDocument(context.Background(), kind, name, data, "")
	}
	if errors.Is(err, ErrChanged) {
		return false, nil
	}
	return err == nil, err
}

// remove removes a document, also one that cannot be read, and reports whether there was one.
func (o Orders) remove(kind, name string) (removed bool, err error) {
	for {
		_, version, err := o.docs.Document(kind, name)
		if version == "" {
			return false, err
		}
		if err = o.docs.PutDocument(context.Background(), kind, name, nil, version); !errors.Is(err, ErrChanged) {
			return err == nil, err
		}
	}
}

// has reports whether a document exists, also one that cannot be read.
func (o Orders) has(kind, name string) (bool, error) {
	_, version, err := o.docs.Document(kind, name)
	if version != "" {
		return true, nil
	}
	return false, err
}

// What a person stopped or paused in a project is one document each. It counts while it exists, whatever it holds, so
// that no damage continues a loop; its text is for lists.
const orderDir = "orders"

// A Pause is what a user paused in a project: a policy in every session, every policy in a
// session, or one policy in one session.
type Pause struct {
	Policy  string    `json:"policy,omitempty"`  // "" is every policy
	Session string    `json:"session,omitempty"` // "" is every session
	At      time.Time `json:"at"`
}

// Covers reports whether a policy is paused in a session.
func (p Pause) Covers(policy, session string) bool {
	return (p.Policy == "" || p.Policy == policy) && (p.Session == "" || p.Session == session)
}

func (p Pause) name() string { return joined(p.Policy, p.Session) }

func (o Orders) pauses(root string) string { return o.kind(orderDir, "pauses", root) }
func (o Orders) stops(root string) string  { return o.kind(orderDir, "stops", root) }

// A Name is the kind and the name of a document.
type Name struct{ Kind, Name string }

// StopName returns the document that stops a policy's loop.
func (o Orders) StopName(root, policy string) Name { return Name{o.stops(root), policy} }

// PauseNames returns the documents of which each pauses a policy in a session.
func (o Orders) PauseNames(root, policy, session string) (all []Name) {
	kind := o.pauses(root)
	for _, p := range []Pause{{Policy: policy}, {Session: session}, {Policy: policy, Session: session}} {
		if n := (Name{kind, p.name()}); p != (Pause{}) && !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	return all
}

// Ordered reports whether a person stopped a policy's loop, and whether the policy is paused in a session.
func (o Orders) Ordered(root, policy, session string) (stopped, paused bool, err error) {
	stop := o.StopName(root, policy)
	stopped, err = o.has(stop.Kind, stop.Name)
	for _, n := range o.PauseNames(root, policy, session) {
		if !paused && err == nil {
			paused, err = o.has(n.Kind, n.Name)
		}
	}
	return stopped, paused, err
}

// Pauses returns what is paused in a project, the oldest first. The error is about pauses that cannot be read, which count
// all the same.
func (o Orders) Pauses(root string) (all []Pause, err error) {
	kind := o.pauses(root)
	for name, failure := range o.docs.DocumentNames(kind) {
		var p Pause
		if failure == nil {
			data, version, problem := o.docs.Document(kind, name)
			switch {
			case version == "" && problem == nil: // it was resumed just now
				continue
			case problem == nil && (json.Unmarshal(data, &p) != nil || p.name() != name):
				problem = fmt.Errorf("the pause %s is damaged", name)
			}
			failure = problem
		}
		if failure != nil {
			err = errors.Join(err, fmt.Errorf("%w, and counts as a pause", failure))
			continue
		}
		all = append(all, p)
	}
	slices.SortStableFunc(all, func(a, b Pause) int { return a.At.Compare(b.At) })
	return all, err
}

// Pause pauses something in a project, and reports whether it was not paused.
func (o Orders) Pause(root string, p Pause) (changed bool, err error) {
	return o.create(o.pauses(root), p.name(), p)
}

// Resume undoes one pause, and reports whether there was one.
func (o Orders) Resume(root string, p Pause) (changed bool, err error) {
	return o.remove(o.pauses(root), p.name())
}

// ResumeUnreadable undoes the pauses that cannot be read.
func (o Orders) ResumeUnreadable(root string) (err error) {
	kind := o.pauses(root)
	known, _ := o.Pauses(root)
	for name := range o.docs.DocumentNames(kind) {
		if !slices.ContainsFunc(known, func(p Pause) bool { return p.name() == name }) {
			_, failure := o.remove(kind, name)
			err = errors.Join(err, failure)
		}
	}
	return err
}

// StopLoop stops the loop of a policy in a project until [Orders.StartLoop].
func (o Orders) StopLoop(root, policy string, at time.Time) error {
	_, err := o.create(o.stops(root), policy, Pause{Policy: policy, At: at})
	return err
}

// StartLoop undoes [Orders.StopLoop].
func (o Orders) StartLoop(root, policy string) error {
	_, err := o.remove(o.stops(root), policy)
	return err
}
