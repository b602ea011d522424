package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
	"github.com/ralph-sdk/ralph/state"
)

type stopFlags struct {
	project string
	session string
}

func (a *app) stopCommand() *cobra.Command {
	var f stopFlags
	cmd := &cobra.Command{
		Use:   "stop [POLICY]...",
		Short: "End loops",
		Long: "stop ends the loops that run now: of these policies, or all of the project. Each of their\n" +
			"sessions may stop until its user's next prompt; then, and in a new session, a loop can begin\n" +
			"again. A loop file, and a state that ralph start wrote, move to .ralph/archive: nothing is\n" +
			"lost. A state that a tool wrote stays: to end that work, cancel it with the tool. With\n" +
			"--session only the loops of that session end. To keep loops from beginning again, use ralph\n" +
			"pause.",
		Example: "  ralph stop\n  ralph stop ralph-wiggum\n  ralph stop --session 6f2c",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.stop(cmd.Context(), f, args)
		},
	}
	projectFlag(cmd.Flags(), &f.project)
	sessionFlag(cmd.Flags(), &f.session, "end the loops of")
	return cmd
}

// A stopping is one run of ralph stop.
type stopping struct {
	app      *app
	own      *store.Store
	root     *state.Root
	session  string // "" for all
	now      time.Time
	sessions []logged // the latest decision of each session
	ended    int
}

func (a *app) stop(ctx context.Context, f stopFlags, names []string) error {
	root, err := a.openProject(f.project)
	if err != nil {
		return err
	}
	defer root.Close()
	own, err := a.store()
	if err != nil {
		return err
	}
	s := stopping{app: a, own: own, root: root, now: time.Now()}
	if s.sessions, err = sessionsOf(own, root.Dir()); err != nil {
		return err
	}
	if s.session, err = fullSession(s.sessions, f.session); err != nil {
		return err
	}
	if len(names) == 0 {
		return s.all(ctx)
	}
	for _, name := range names {
		before := s.ended
		why, err := s.named(ctx, name)
		if err != nil {
			return err
		}
		if s.ended == before {
			fmt.Fprintf(a.stdout, "no loop of %s is running%s%s\n", name, s.inSession(), why)
			a.status = exitFindings
		}
	}
	return nil
}

// all ends every loop of the project.
func (s *stopping) all(ctx context.Context) error {
	for _, l := range s.app.loopFiles(ctx, s.root) {
		if err := s.file(ctx, l); err != nil {
			return err
		}
	}
	for _, t := range s.app.toolStates(ctx, s.root) {
		if _, err := s.tool(ctx, t); err != nil {
			return err
		}
	}
	var policies []string
	for _, d := range s.sessions {
		if !slices.Contains(policies, d.Policy) {
			policies = append(policies, d.Policy)
		}
	}
	for _, policy := range policies {
		if err := s.policy(ctx, policy, ""); err != nil {
			return err
		}
	}
	if err := s.runs(""); err != nil {
		return err
	}
	if s.ended == 0 {
		fmt.Fprintf(s.app.stdout, "no loop is running%s\n", s.inSession())
		if s.session != "" {
			s.app.status = exitFindings
		}
	}
	return nil
}

// named ends the loops of one policy. why goes on the sentence that none was running.
func (s *stopping) named(ctx context.Context, name string) (why string, err error) {
	p, err := findPolicy(s.root.Dir(), name)
	if err != nil {
		return "", err
	}
	if err := s.runs(p.name); err != nil {
		return "", err
	}
	stays := ""
	l, ok, err := s.app.openLoop(ctx, s.root.Dir(), name)
	switch {
	case err != nil: // it cannot be loaded: its sessions can be ended all the same
	case ok:
		for _, l := range l.all(ctx, s.root) {
			if err := s.file(ctx, l); err != nil {
				return "", err
			}
		}
		if why = ": there is no " + l.path; s.root.Exists(l.path) {
			why = "; " + l.path + " is not that session's, and stays"
		}
	default:
		t, ok, err := s.app.openTool(ctx, s.root, name)
		switch {
		case err != nil:
			return "", err
		case ok:
			for _, one := range t.states(ctx, s.root) {
				about, err := s.tool(ctx, one)
				if err != nil {
					return "", err
				}
				if one.session == "" || one.session == s.session {
					why = about
				}
				if strings.HasPrefix(about, ";") {
					stays = about
				}
			}
		}
	}
	return why, s.policy(ctx, p.name, stays)
}

// tool puts away the state of a tool, if ralph start wrote it, and the pointer of a session
// that has one of its own. about goes on the sentence that nothing ended.
func (s *stopping) tool(ctx context.Context, t toolState) (about string, err error) {
	if t.session != "" && s.session != "" && t.session != s.session {
		return "", nil
	}
	switch {
	case t.path == "":
		about = ": " + t.problem
	case !s.root.Exists(t.path):
		about = ": there is no " + t.path
	case t.read(ctx, s.root).startedHere():
		err = s.file(ctx, t.loopFile)
	default:
		about = fmt.Sprintf("; %s stays, because ralph start did not write it: cancel that work with the tool that wrote it", t.path)
	}
	if err != nil || t.session == "" {
		return about, err
	}
	err = s.app.unpoint(ctx, s.root, t, s.now)
	if err == nil && t.path != "" && s.root.Exists(t.path) {
		s.ended++
		fmt.Fprintf(s.app.stdout, "ended %s in session %s; %s is now in %s%s\n", t.policy.shortName(), visible(t.session), t.pointer, state.ArchiveDir, about)
	}
	return about, err
}

// runs asks runs of the project to end: of one policy, or with "" of all.
func (s *stopping) runs(policy string) error {
	all, err := run.List(s.own.Dir(), s.root.Dir())
	if err != nil {
		return err
	}
	for _, info := range all {
		if !info.Running || policy != "" && info.Policy != policy || s.session != "" && s.session != run.Session(info.ID) {
			continue
		}
		if err := s.own.EndRun(info.ID, true); err != nil {
			return err
		}
		s.ended++
		fmt.Fprintf(s.app.stdout, "run %s of %s ends after its iteration\n", info.ID, shortPolicy(info.Policy))
	}
	return nil
}

// file puts the file of a loop away. With a session, only if that owns the loop.
func (s *stopping) file(ctx context.Context, l loopFile) error {
	r := l.read(ctx, s.root)
	if r.doc.Status == state.Missing && !s.root.Exists(l.path) {
		return nil
	}
	if owner, _ := ownerOf(ctx, s.own, s.root, l, r, s.sessions); s.session != "" && owner != s.session {
		return nil
	}
	if err := s.app.putAway(ctx, s.root, l, r, "ralph stop", s.now); err != nil {
		return err
	}
	s.ended++
	fmt.Fprintf(s.app.stdout, "ended %s%s; %s is now in %s\n", l.name(), at(r.progress()), l.path, state.ArchiveDir)
	for _, d := range s.sessions { // so that it is not ended once more
		if s.session != "" && d.Policy == l.policy.name && d.Session == s.session {
			if err := endSession(ctx, s.own, d.key(), s.now); err != nil {
				return err
			}
		}
	}
	return s.forget(ctx, l.policy.name)
}

// forget ends what ralph remembers of the loops of a policy whose file is gone. What another
// session shares with the ones to come is about its own loop.
func (s *stopping) forget(ctx context.Context, policy string) error {
	if s.session == "" {
		return endSessions(ctx, s.own, s.root.Dir(), policy, s.now)
	}
	k := loop.Key{Root: s.root.Dir(), Policy: policy}
	_, shared, err := remembered(ctx, s.own, k)
	if claim, ok := shared.Memory.Values[ownerClaim].(map[string]any); err == nil && ok && claim["session"] != "" && claim["session"] != s.session {
		return nil
	}
	return forgetShared(ctx, s.own, k)
}

// policy ends the loops of a policy that sessions are in. stays goes on the sentences
// about them.
func (s *stopping) policy(ctx context.Context, policy, stays string) error {
	others := false
	var ends []logged
	var streaks []int
	for _, d := range s.sessions {
		if d.Policy != policy {
			continue
		}
		mine, shared, err := remembered(ctx, s.own, d.key())
		switch {
		case err != nil && s.session != "":
			return err
		case err != nil || !running(mine.Memory, shared.Memory): // without a session it is ended all the same
		case s.session != "" && d.Session != s.session:
			others = true
		default:
			ends, streaks = append(ends, d), append(streaks, mine.Memory.Streak)
		}
	}
	if err := s.end(ctx, policy, ends, others); err != nil {
		return err
	}
	for i, d := range ends {
		s.ended++
		where := fmt.Sprintf("at continuation %d", streaks[i])
		fmt.Fprintf(s.app.stdout, "ended %s in session %s %s%s\n", shortPolicy(policy), visible(d.Session), where, stays)
		s.app.logEnd(s.own, loop.Record{
			Time: s.now, Policy: policy, Root: s.root.Dir(), Host: d.Host, Session: d.Session, Agent: d.Agent, Command: "ralph stop", Reason: where,
		})
	}
	return nil
}

// end marks the loops as ended. What they shared is forgotten once none is left.
func (s *stopping) end(ctx context.Context, policy string, ends []logged, others bool) error {
	if s.session == "" {
		return endSessions(ctx, s.own, s.root.Dir(), policy, s.now)
	}
	for _, d := range ends {
		if err := endSession(ctx, s.own, d.key(), s.now); err != nil {
			return err
		}
	}
	if len(ends) == 0 || others {
		return nil
	}
	return s.forget(ctx, policy)
}

func (s *stopping) inSession() string {
	if s.session == "" {
		return ""
	}
	return " in session " + visible(s.session)
}

// logEnd notes in the log that a command ended a loop. The loop has ended also where the
// log cannot be written.
func (a *app) logEnd(own *store.Store, r loop.Record) {
	r.V, r.ID, r.Time, r.Action, r.Applied = 1, store.LineID(r.Time), r.Time.UTC(), rules.Stop, true
	line, err := json.Marshal(r)
	if err == nil {
		err = own.AppendLog(line)
	}
	if err != nil {
		fmt.Fprintf(a.stderr, "ralph: the end of the loop is not in the log: %v\n", err)
	}
}

func at(progress string) string {
	if progress == "" {
		return ""
	}
	return " at " + progress
}
