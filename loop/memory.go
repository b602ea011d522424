package loop

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/loop/host"
	"github.com/ralph-sdk/ralph/rules"
)

// memory is the loop memory of one event: that of its session, and that of the
// project for rules which count per project.
type memory struct {
	session, project ledger
	now              store.Memory // of the session, as this event finds it
	turn             string       // of this event
	prompt           bool         // the event is a prompt, at which nothing is decided
	problem          string       // the memory could not be read
}

// ledger is one memory file.
type ledger struct {
	key     string // "" if it is not used
	loaded  store.Memory
	version string // of loaded
	written bool   // by us, since it was loaded
}

// memoryOf names the memories of an event. They hang on the policy's name and
// never on its content: a loop that is edited while it runs is the same loop.
func memoryOf(ev host.Event, root, policy string, p *rules.Program) memory {
	key := func(parts ...string) string {
		sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
		return hex.EncodeToString(sum[:12])
	}
	m := memory{prompt: ev.Name == host.UserPromptSubmit}
	m.session.key = key("session", ev.Host, ev.SessionID, ev.AgentID, root, policy)
	if countsProject(p) {
		m.project.key = key("project", root, policy)
	}
	return m
}

// load reads the memory and finds out which turn the event belongs to. A memory
// that cannot be read counts as empty and is told: a loop must not stand still
// because a file of ralph's own broke.
func (m *memory) load(s memories, ev host.Event) {
	m.problem = ""
	for _, f := range []*ledger{&m.session, &m.project} {
		if err := f.load(s); err != nil {
			m.problem = err.Error()
		}
	}
	m.now = m.session.loaded
	m.turn = ev.Turn
	if m.turn == "" {
		m.turn = m.now.Turn
		if ev.NewTurn {
			m.turn = nextTurn(m.now.Turn)
		}
	}
	if m.turn != m.now.Turn {
		endRow(&m.now)
		m.now.Turn = m.turn
	}
}

// nextTurn names a turn of a host that has no names for them: #1, #2, …
func nextTurn(turn string) string {
	n := 0
	if count, ok := strings.CutPrefix(turn, "#"); ok {
		n, _ = strconv.Atoi(count) // a name of somebody else starts at 1
	}
	return "#" + strconv.Itoa(n+1)
}

// endRow forgets the row, but neither the total nor what rules have said.
func endRow(m *store.Memory) {
	m.Continuations, m.Progress, m.Same = 0, "", 0
	m.Since, m.Latest = time.Time{}, time.Time{}
}

func (f *ledger) load(s memories) (err error) {
	if f.key == "" {
		return nil
	}
	f.loaded, f.version, err = s.LoadMemory(f.key)
	f.written = false
	return err
}

func (f *ledger) stale(s memories) bool {
	if f.key == "" {
		return false
	}
	_, version, _ := s.LoadMemory(f.key) // what cannot be read cannot be saved either, which is told then
	return version != f.version
}

func (f *ledger) save(s memories, m store.Memory) error {
	if err := s.SaveMemory(f.key, m, f.version); err != nil {
		return err
	}
	f.written = true
	return nil
}

// restore puts back what was loaded. The lock that was held for save must be
// held still.
func (f *ledger) restore(s memories) error {
	if !f.written {
		return nil
	}
	_, version, err := s.LoadMemory(f.key)
	if err == nil {
		err = s.SaveMemory(f.key, f.loaded, version)
	}
	if err == nil {
		_, f.version, err = s.LoadMemory(f.key)
	}
	f.written = err != nil
	return err
}

// stale reports whether the memory on disk is no longer what was decided on.
func (m *memory) stale(s memories) bool { return m.session.stale(s) || m.project.stale(s) }

// lockNames names the locks of the memory.
func (m *memory) lockNames() []string {
	names := []string{store.MemoryLock(m.session.key)}
	if m.project.key != "" {
		names = append(names, store.MemoryLock(m.project.key))
	}
	return names
}

// changes reports whether the memory is another one after a verdict.
func (m *memory) changes(v *rules.Verdict, p *rules.Program, now time.Time) bool {
	_, _, session, project := m.after(v, p, now)
	return session || project
}

// save writes the memory as it is after a verdict.
func (m *memory) save(s memories, v *rules.Verdict, p *rules.Program, now time.Time) error {
	session, project, changed, projectChanged := m.after(v, p, now)
	if changed {
		if err := m.session.save(s, session); err != nil {
			return err
		}
	}
	if projectChanged {
		if err := m.project.save(s, project); err != nil {
			return errors.Join(err, m.session.restore(s))
		}
	}
	return nil
}

// restore takes back what save wrote.
func (m *memory) restore(s memories) error {
	return errors.Join(m.session.restore(s), m.project.restore(s))
}

// row gives the memory as rules see it.
func (m *memory) row(now time.Time) rules.Row {
	s := &m.now
	r := rules.Row{Continuations: s.Continuations, Total: s.Total, Progress: s.Progress, Same: s.Same}
	if s.Continuations > 0 {
		r.Elapsed, r.Step = max(0, now.Sub(s.Since)), max(0, now.Sub(s.Latest))
	}
	return r
}

// given counts the verdicts that a rule has been in, within its window.
func (m *memory) given(r *rules.Rule, now time.Time) int {
	from := m.now.Given
	if r.Unless.Per == rules.PerProject {
		from = m.project.loaded.Given
	}
	n := 0
	for _, g := range from[r.Name] {
		if r.Unless.Per == rules.PerPrompt && g.Turn != m.turn {
			continue
		}
		if r.Unless.Within > 0 && now.Sub(g.At) >= r.Unless.Within {
			continue
		}
		n++
	}
	return n
}

// after gives the memories as they are after a verdict, and whether they changed.
func (m *memory) after(v *rules.Verdict, p *rules.Program, now time.Time) (session, project store.Memory, changed, projectChanged bool) {
	session, project = m.now, m.project.loaded
	now = now.UTC() // reading a local time takes the system's time zones, a file more
	// A turn that nothing was said in needs no memory: most stops of most agents
	// write nothing.
	before := m.session.loaded
	changed = m.turn != before.Turn && (before.Continuations > 0 || len(before.Given) > 0)
	switch {
	case m.prompt:
		// Nothing was decided.
	case v.Action == rules.Continue:
		if session.Continuations == 0 {
			session.Since = now
		}
		if session.Continuations > 0 && session.Progress == v.Progress {
			session.Same++
		} else {
			session.Same = 1
		}
		session.Latest, session.Progress = now, v.Progress
		session.Continuations++
		session.Total++
		changed = true
	case v.Bound != "" || v.Failed || v.Idle:
		// The row goes on: a person who raises the limit goes on with it, and what
		// the policy is not for is none of its business.
	case session.Continuations > 0:
		endRow(&session)
		changed = true
	}
	for _, r := range p.Rules {
		if r.Unless == nil || !slices.ContainsFunc(v.Parts, func(part rules.Part) bool { return part.Rule == r.Name }) {
			continue
		}
		to, flag := &session, &changed
		if r.Unless.Per == rules.PerProject {
			to, flag = &project, &projectChanged
		}
		to.Given = remember(to.Given, r, store.Given{At: now, Turn: m.turn}, now)
		*flag = true
	}
	return session, project, changed, projectChanged
}

// remember adds a verdict to those of a rule and drops what no longer counts.
func remember(all map[string][]store.Given, r *rules.Rule, g store.Given, now time.Time) map[string][]store.Given {
	all = maps.Clone(all)
	if all == nil {
		all = map[string][]store.Given{}
	}
	kept := slices.DeleteFunc(slices.Clone(all[r.Name]), func(old store.Given) bool {
		return r.Unless.Within > 0 && now.Sub(old.At) >= r.Unless.Within ||
			r.Unless.Per == rules.PerPrompt && old.Turn != g.Turn
	})
	kept = append(kept, g)
	if extra := len(kept) - r.Unless.Times; extra > 0 {
		kept = kept[extra:]
	}
	all[r.Name] = kept
	return all
}

// countsProject reports whether some rule of the policy counts per project.
func countsProject(p *rules.Program) bool {
	return slices.ContainsFunc(p.Rules, func(r *rules.Rule) bool {
		return r.Unless != nil && r.Unless.Per == rules.PerProject
	})
}
