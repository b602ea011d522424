package project

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/approval"
	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// Decision is the head of a [loop.Record], with the rules that were tried.
type Decision struct {
	loop.Head
	Trace struct {
		Steps []*rules.Step `json:"steps"`
	} `json:"trace"`
}

// Entry is a decision in the log.
type Entry struct {
	Decision
	Number int    // 1 is the latest of the project, independent of the query; 0 from Follow
	Line   []byte // the whole record, in JSON
}

// Record returns the whole record. It returns an error for a record of an incompatible version of ralph.
func (e Entry) Record() (r loop.Record, err error) {
	if err := json.Unmarshal(e.Line, &r); err != nil || r.V != 1 || slices.Contains(r.Trace.Steps, nil) {
		return r, fmt.Errorf("the decision %s was logged by another version of ralph; ralph log --format json prints it", e.ID)
	}
	return r, nil
}

// Query selects decisions of the log. The zero Query selects all.
type Query struct {
	ID       string   // or a beginning of it; Entry.Number is then 0, as others are not counted
	Policies []string // named as for [Project.Find]
	Session  string
	Rule     string // or any rule of the include with that name
	Since    time.Time
	Match    func(Decision) bool // an additional filter; may be nil
	Last     int                 // the maximum number, the latest ones; 0 is all
}

// chooses returns a query as a function.
func (p *Project) chooses(q Query) func(Decision) bool {
	names := map[string]bool{}
	for _, name := range q.Policies {
		file, _ := policyFile(p.dir, name) // it may no longer exist
		names[name], names[file] = true, true
		if found, err := p.Find(name); err == nil {
			names[found.Name] = true
		}
	}
	within := p.roots()
	return func(d Decision) bool {
		return within(d.Root) && strings.HasPrefix(d.ID, q.ID) && (len(names) == 0 || names[d.Policy]) &&
			(q.Session == "" || d.Session == q.Session) &&
			(q.Rule == "" || d.Rule == q.Rule || strings.HasPrefix(d.Rule, q.Rule+"/")) &&
			!d.Time.Before(q.Since) && (q.Match == nil || q.Match(d))
	}
}

// roots returns a function that reports whether a decision's root belongs to the project: its own root, and the
// worktrees of its runs. Without a project all do.
func (p *Project) roots() func(root string) bool {
	if p.dir == "" {
		return func(string) bool { return true }
	}
	roots := p.dirs()
	return func(root string) bool { return roots[root] }
}

// dirs returns the directories in which loops of the project decide.
func (p *Project) dirs() map[string]bool {
	dirs := map[string]bool{p.dir: true}
	all, _ := p.Runs() // unreadable runs have no decisions to show
	for _, info := range all {
		dirs[info.Root] = true
	}
	return dirs
}

// decode parses a line of the log. One from another version of ralph may have fields of other types: decode returns
// what it can read.
func decode(line []byte) (d Decision, ok bool) {
	err := json.Unmarshal(line, &d)
	return d, err == nil || d.V > 1
}

// readLog returns the latest n records that match, as lines, the newest last; n of 0 is all. match need not see those before
// since.
func (p *Project) readLog(since time.Time, match func(line []byte) bool, n int) (lines [][]byte, err error) {
	if !p.foreign {
		return p.own.ReadLog(match, n)
	}
	log, ok := p.kept.(loop.Log)
	if !ok {
		return nil, errNoLog
	}
	f := loop.LogFilter{Scope: p.scope, Root: p.dir, Since: since}
	if p.dir != "" && len(p.dirs()) > 1 { // match leaves out other projects
		f.Root = ""
	}
	for r, err := range log.Records(context.Background(), f) {
		if err != nil {
			return nil, err
		}
		line, err := json.Marshal(r)
		if err != nil {
			return nil, err
		}
		if !match(line) {
			continue
		}
		if lines = append(lines, line); len(lines) == n {
			break
		}
	}
	slices.Reverse(lines)
	return lines, nil
}

var errNoLog = errors.New("this store returns no records: give project.Config a store that has loop.Log")

// History returns decisions of the project, or without a project of all projects, oldest first.
func (p *Project) History(q Query) (entries []Entry, err error) {
	chosen, within, n := p.chooses(q), p.roots(), 0
	id, err := json.Marshal(q.ID)
	if err != nil {
		return nil, err
	}
	id = bytes.TrimSuffix(id, []byte(`"`))
	lines, err := p.readLog(q.Since, func(line []byte) bool {
		if q.ID != "" && !bytes.Contains(line, id) {
			return false
		}
		d, ok := decode(line)
		if !ok || !within(d.Root) {
			return false
		}
		if q.ID == "" {
			n++
		}
		if !chosen(d) {
			return false
		}
		entries = append(entries, Entry{Decision: d, Number: n})
		return true
	}, q.Last)
	slices.Reverse(entries) // the log is read backwards
	for i := range entries {
		entries[i].Line = lines[i]
	}
	return entries, err
}

// Follow calls take for the decisions that [Project.History] returns, then for each further one as it is made, until
// ctx is done.
func (p *Project) Follow(ctx context.Context, q Query, take func(Entry)) error {
	chosen := p.chooses(q)
	match := func(line []byte) bool {
		d, ok := decode(line)
		return ok && chosen(d)
	}
	if p.foreign {
		return p.follow(ctx, q, take)
	}
	err := p.own.FollowLog(ctx, match, q.Last, func(line []byte) {
		d, _ := decode(line) // it matched
		take(Entry{Decision: d, Line: line})
	})
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// How often a log elsewhere is read, and how much later than its time a record may come.
const (
	followInterval = time.Second
	followWindow   = time.Minute
)

// follow is Follow for a log that is not in a state directory, which it reads again and again.
func (p *Project) follow(ctx context.Context, q Query, take func(Entry)) error {
	tick := time.NewTicker(followInterval)
	defer tick.Stop()
	var seen map[string]bool
	var oldest time.Time // before it are only those that Last excludes
	for newest := p.now(); ; {
		entries, err := p.History(q)
		if err != nil {
			return err
		}
		if seen == nil && len(entries) > 0 {
			oldest = entries[0].Time
		}
		now := map[string]bool{}
		for _, e := range entries {
			of := fmt.Sprintf("%q", []string{e.Root, e.Policy, e.Host, e.Session, e.Agent, e.Event, e.ID})
			if now[of] = true; !seen[of] && !e.Time.Before(oldest) {
				take(Entry{Decision: e.Decision, Line: e.Line})
			}
			if e.Time.After(newest) {
				newest = e.Time
			}
		}
		seen, q.Last = now, 0
		if since := newest.Add(-followWindow); since.After(q.Since) {
			q.Since = since
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Decision returns the decisions with a number as in [Entry], or with an ID, which may be shortened to a unique prefix.
// The policies of one event can share an ID.
func (p *Project) Decision(which string) ([]Entry, error) {
	number, err := strconv.Atoi(which)
	if err != nil {
		number = 0
	}
	byID, count := map[string][]Entry{}, 0 // those whose ID has the prefix
	var byNumber []Entry
	within := p.roots()
	if _, err := p.readLog(time.Time{}, func(line []byte) bool {
		e := Entry{}
		if json.Unmarshal(line, &e.Decision) != nil {
			return false
		}
		if within(e.Root) {
			count++
			e.Number = count
		}
		if e.Line = bytes.Clone(line); number > 0 && e.Number == number {
			byNumber = []Entry{e}
		} else if strings.HasPrefix(e.ID, which) {
			byID[e.ID] = append(byID[e.ID], e)
		}
		return byNumber != nil
	}, 1); err != nil {
		return nil, err
	}
	switch ids := slices.Sorted(maps.Keys(byID)); {
	case byNumber != nil:
		return byNumber, nil
	case byID[which] != nil:
		return byID[which], nil
	case len(ids) == 1:
		return byID[ids[0]], nil
	case len(ids) > 1:
		return nil, fmt.Errorf("the IDs of %d decisions begin with %q, such as %s and %s; write a longer prefix", len(ids), which, ids[0], ids[1])
	case count == 0:
		return nil, fmt.Errorf("there is no decision %q: the log has none of this project yet; if an agent has stopped here, run `ralph doctor`", which)
	}
	return nil, fmt.Errorf("there is no decision %q; write a number from 1, the latest, to %d, as ralph log shows it, or an ID of ralph log --all or --format json; name a policy with --policy", which, count)
}

// Texts returns the files of the policy that made the decisions with a digest: the policy, its includes, and its
// schemas. They are kept beside the log with the policy's first decision; otherwise Texts returns none.
func (p *Project) Texts(digest string) ([]rules.File, error) {
	text, err := p.own.Text(digest)
	if err != nil || text == nil {
		return nil, err
	}
	return approval.Unpack(text, digest)
}

// Streak returns the continuations of the streak, with this decision, and their limit; 0 if there is none.
func (d Decision) Streak() (continuations, limit int) {
	for _, l := range d.Limits {
		if l.Name == "continuations" {
			continuations, limit = l.At, l.Of
		}
	}
	if limit > 0 && d.Outcome() == loop.Continued {
		continuations++
	}
	return continuations, limit
}

// By returns the rule, limit or command that decided, "error" if something kept it from deciding, "-" if nothing decided.
func (d Decision) By() string {
	by := cmp.Or(d.Rule, d.Command)
	if by == "" && d.Cause.Failed() {
		return "error"
	}
	return cmp.Or(by, "-")
}

// Said returns the reason on one line, or what happened if no rule decided.
func (d Decision) Said() string {
	if said := d.Reason; said != "" || d.Rule != "" || d.Command != "" {
		return oneLine(said)
	}
	happened := NothingDecided(d.Event, d.Noted, d.Trace.Steps)
	if d.Event == host.UserPromptSubmit && len(d.Notes) > 0 { // what the agent received
		happened += ": " + oneLine(strings.Join(d.Notes, "; "))
	}
	return happened
}

// NothingDecided describes an event at which no rule decided: which rules had notes, and which held.
func NothingDecided(event string, noted []string, steps []*rules.Step) string {
	held := Held(steps)
	switch {
	case len(noted) == 0 && len(held) == 0:
		return "no rule held"
	case len(noted) == 0 && !Decides(event):
		return "by " + strings.Join(held, ", ")
	case len(noted) == 0:
		return "no rule decided, held: " + strings.Join(held, ", ")
	case event == host.UserPromptSubmit:
		return "note by " + strings.Join(noted, ", ")
	}
	return "no rule decided, note by " + strings.Join(noted, ", ")
}

// Decides reports whether rules can decide at an event.
func Decides(event string) bool { return vocab.Decides(event) }

// Held returns the names of the rules that held: if none decided, those without a verb and notes.
func Held(steps []*rules.Step) (names []string) {
	for _, s := range steps {
		if s != nil && s.Outcome == rules.Holds {
			names = append(names, s.Rule)
		}
	}
	return names
}

// Archived returns the path to which the decision, or the command, moved the loop's state, or "".
func (d Decision) Archived() string {
	for _, e := range d.Effects {
		if d.Action != rules.Continue && e.Kind == rules.ArchiveEffect && (e.Source == "frontmatter" || e.Source == "json") && e.To != "" {
			return e.To
		}
	}
	return ""
}

// session identifies a session in the log.
type session struct{ policy, host, session, agent string }

// A history is the content of a project's log.
type history struct {
	latest   []Decision              // of each session with each policy, latest first
	ends     []Decision              // of loops, latest first
	prompted map[[2]string]time.Time // the latest known prompt of a session, by host and session
}

// logged is the history up to the latest decision when the log was read last. A server asks again and again, and a log takes a
// second to read.
type logged struct {
	sync.Mutex
	history
	latest identity
}

// identity distinguishes decisions: policies of one event share its ID.
type identity struct {
	id, policy string
	at         time.Time
}

// history reads what the log has that it did not have before.
func (p *Project) history() (history, error) {
	p.logged.Lock()
	defer p.logged.Unlock()
	h := history{prompted: maps.Clone(p.logged.prompted)}
	if h.prompted == nil {
		h.prompted = map[[2]string]time.Time{}
	}
	var first identity
	seen, ended := map[session]bool{}, map[[2]string]bool{}
	add := func(d Decision) {
		if d.Command == "" {
			if key := (session{d.Policy, d.Host, d.Session, d.Agent}); !seen[key] {
				seen[key] = true
				h.latest = append(h.latest, d)
			}
		}
		key := [2]string{d.Policy, d.Archived()}
		if d.Loop != nil && d.Archived() == "" {
			key[1] = d.Loop.State
		}
		if d.Action != rules.Continue && !ended[key] && (d.Archived() != "" || d.Loop != nil && (!d.Cause.Untried() && (d.Success || d.Bound != "") || d.Loop.Gone)) {
			ended[key] = true
			h.ends = append(h.ends, d)
		}
	}
	if _, err := p.readLog(time.Time{}, func(line []byte) bool {
		var d struct { // most of a line is its trace
			ID, Policy, Root, Host, Event, Session, Agent, Command string

			Time   time.Time
			Action rules.Action
		}
		if json.Unmarshal(line, &d) != nil {
			return false
		}
		this := identity{d.ID, d.Policy, d.Time}
		if first == (identity{}) {
			first = this
		}
		switch {
		case this == p.logged.latest && this != (identity{}):
			return true // all before it is known
		case d.Root == p.dir && d.Event == host.UserPromptSubmit && d.Command == "":
			if by := [2]string{d.Host, d.Session}; h.prompted[by].Before(d.Time) {
				h.prompted[by] = d.Time
			}
			return false
		case d.Root != p.dir || d.Command == "" && !Decides(d.Event) || d.Action == rules.Continue && seen[session{d.Policy, d.Host, d.Session, d.Agent}]:
			return false
		}
		var whole Decision
		if json.Unmarshal(line, &whole) == nil {
			add(whole)
		}
		return false
	}, 1); err != nil {
		return history{}, err
	}
	known := slices.Concat(p.logged.history.latest, p.logged.ends)
	slices.SortStableFunc(known, func(a, b Decision) int { return b.Time.Compare(a.Time) }) // as in the log
	for _, d := range known {
		add(d)
	}
	p.logged.history, p.logged.latest = h, first
	return history{slices.Clone(h.latest), slices.Clone(h.ends), h.prompted}, nil
}

// oneLine returns a text with a blank instead of each run of white space.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// cut shortens a text to n characters.
func cut(s string, n int) string {
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	return string(runes[:n-1]) + "…"
}
