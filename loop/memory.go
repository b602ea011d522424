package loop

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/loop/host"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

// memory is the loop memory of one event: that of its session, and that of the
// project for rules which count per project.
type memory struct {
	key, projectKey         string
	session, project        state.Memory
	version, projectVersion string
	turn                    string // of this event
	problem                 string // the memory could not be read
}

// memoryKeys names the memories of an event. They hang on the policy's name and
// never on its content: a loop that is edited while it runs is the same loop.
func memoryKeys(ev host.Event, root, policy string) (session, project string) {
	key := func(parts ...string) string {
		sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
		return hex.EncodeToString(sum[:12])
	}
	return key("session", ev.Host, ev.SessionID, ev.AgentID, root, policy), key("project", root, policy)
}

// load reads the memory of an event. A memory that cannot be read counts as empty
// and is told: a loop must not stand still because a file of ralph's own broke.
func (m *memory) load(s *state.Store, ev host.Event, now time.Time, counted bool) {
	var err error
	if m.session, m.version, err = s.LoadMemory(m.key); err != nil {
		m.problem = err.Error()
	}
	if counted {
		if m.project, m.projectVersion, err = s.LoadMemory(m.projectKey); err != nil {
			m.problem = err.Error()
		}
	}
	m.turn = ev.Turn
	if m.turn == "" {
		m.turn = m.session.Turn
		if ev.NewTurn {
			m.turn = "t" + strconv.FormatInt(now.UnixNano(), 36)
		}
	}
	if m.turn != m.session.Turn {
		endRow(&m.session)
		m.session.Turn = m.turn
	}
}

// endRow forgets the row, but neither the total nor what rules have said.
func endRow(m *state.Memory) {
	m.Continuations, m.Progress, m.Same = 0, "", 0
	m.Since, m.Latest = time.Time{}, time.Time{}
}

// row gives the memory as rules see it.
func (m *memory) row(now time.Time) rules.Row {
	s := &m.session
	r := rules.Row{Continuations: s.Continuations, Total: s.Total, Progress: s.Progress, Same: s.Same}
	if s.Continuations > 0 {
		r.Elapsed, r.Step = max(0, now.Sub(s.Since)), max(0, now.Sub(s.Latest))
	}
	return r
}

// given counts the verdicts that a rule has been in, within its window.
func (m *memory) given(r *rules.Rule, now time.Time) int {
	from := m.session.Given
	if r.Unless.Per == rules.PerProject {
		from = m.project.Given
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
func (m *memory) after(v *rules.Verdict, p *rules.Program, now time.Time) (session, project state.Memory, changed, projectChanged bool) {
	session, project = m.session, m.project
	switch {
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
	case v.Bound != "" || v.Failed:
		// The row goes on: a person who raises the limit goes on with it.
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
		to.Given = remember(to.Given, r, state.Given{At: now, Turn: m.turn}, now)
		*flag = true
	}
	return session, project, changed, projectChanged
}

// remember adds a verdict to those of a rule and drops what no longer counts.
func remember(all map[string][]state.Given, r *rules.Rule, g state.Given, now time.Time) map[string][]state.Given {
	all = maps.Clone(all)
	if all == nil {
		all = map[string][]state.Given{}
	}
	kept := slices.DeleteFunc(slices.Clone(all[r.Name]), func(old state.Given) bool {
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
