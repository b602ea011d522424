package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/rules"
)

type explainFlags struct {
	evalFlags
	format  string
	session string
}

func (a *app) explainCommand() *cobra.Command {
	var f explainFlags
	cmd := &cobra.Command{
		Use:   "explain [N|ID]",
		Short: "Show why a decision was made",
		Long: "explain shows a decision: every rule that was reached, what it read, the value of each\n" +
			"operand, the first one that kept it from holding, effects and timings. It is the last\n" +
			"decision of this project that let an agent stop, or continued it. N is the number of another\n" +
			"one, as ralph log shows it; ID is the id of one, or a beginning that no other has. With\n" +
			"--input the event is decided now, and nothing is changed.",
		Example: "  ralph explain\n" +
			"  ralph explain 3\n" +
			"  ralph explain --policy speckit --session 6f2c\n" +
			"  ralph explain --policy speckit --input event.json --format json",
		Args: atMostOne("number or id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				for _, name := range [...]string{"policy", "session", "input"} {
					if cmd.Flags().Changed(name) {
						return fmt.Errorf("%s names one decision; leave out --%s, or write ralph explain without %s", args[0], name, args[0])
					}
				}
			}
			return a.explain(cmd.Context(), f, strings.Join(args, ""))
		},
	}
	f.add(cmd)
	fl := cmd.Flags()
	fl.StringVarP(&f.input, "input", "i", "", "`file` with an event to decide now, - for stdin")
	formatFlag(cmd, &f.format, "the explanation", "text", "json")
	sessionVar(fl, &f.session, "only decisions of this session", mustBeKnown)
	fl.BoolVar(&f.private, "private", false, "show prompts, transcript texts and environment values (with --input)")
	return cmd
}

func (a *app) explain(ctx context.Context, f explainFlags, which string) error {
	var records []loop.Record
	root, err := "", error(nil)
	if f.input != "" {
		records, err = a.decideNow(ctx, f.evalFlags)
	} else if root, err = a.projectDir(f.project); err == nil && which != "" {
		records, err = a.chosen(root, which)
	} else if err == nil {
		records, err = a.latest(root, f.policies, f.session, maxPolicies, decidedStop)
		records = lastStop(records)
	}
	if err != nil {
		return err
	}
	if f.format == "json" {
		if err := a.encodeJSON(records); err != nil {
			return err
		}
	}
	if len(records) == 0 {
		if err := a.policiesExist(f.project, f.policies); err != nil {
			return err
		}
		a.status = exitFindings
		if other, _ := a.latest(root, nil, "", 1, func(loop.Record) bool { return true }); len(other) > 0 {
			fmt.Fprintln(a.stderr, "ralph: no such decision let an agent stop, or continued it; ralph log lists the others, and ralph explain N shows one of them")
			return nil
		}
		a.noDecision(false)
		return nil
	}
	if f.format == "text" {
		for i, r := range records {
			if i > 0 {
				fmt.Fprintln(a.stdout)
			}
			write := func(w io.Writer) error { return writeExplanation(w, r) }
			if err := painted(a.stdout, write, a.palette().explanation); err != nil {
				return err
			}
		}
	}
	return nil
}

// decidedStop reports whether a decision let an agent stop, or continued it: at a prompt or the end of a session there is
// nothing to decide, and rules that only note or remember leave the decision to others.
func decidedStop(r loop.Record) bool {
	return r.Event != host.UserPromptSubmit && !host.Watched(r.Event) &&
		(r.Rule != "" || r.Error != "" || r.Skipped != "" || r.Reason != "" || len(r.Noted) == 0 && len(project.Held(r.Trace.Steps)) == 0)
}

// maxPolicies is how many policies that decided an event are compared.
const maxPolicies = 16

// lastStop returns the one of some decisions, the oldest first, that let the agent stop last, or continued it: where several
// policies decided one event, one that continued, else one whose rule decided.
func lastStop(records []loop.Record) []loop.Record {
	if len(records) == 0 {
		return records
	}
	last := records[len(records)-1]
	best, seen := last, map[string]bool{}
	for _, r := range slices.Backward(records) {
		together := last.Time.Sub(r.Time).Abs() < time.Second // the policies of an event decide at once
		if !together || seen[r.Policy] || r.Session != last.Session || r.Agent != last.Agent || r.Event != last.Event {
			break
		}
		seen[r.Policy] = true
		if best.Action != rules.Continue && (r.Action == rules.Continue || best.Rule == "" && r.Rule != "") {
			best = r
		}
	}
	return []loop.Record{best}
}

// chosen finds the record that a number of ralph log, or an ID, names.
func (a *app) chosen(root, which string) ([]loop.Record, error) {
	own, err := a.store()
	if err != nil {
		return nil, err
	}
	number, err := strconv.Atoi(which)
	if err != nil {
		number = 0
	}
	listed, count := lister(own, root), 0
	byID := map[string][][]byte{} // those whose ID begins so; the policies of one event can share an ID
	var byNumber [][]byte
	if _, err := own.ReadLog(func(line []byte) bool {
		if _, n := listed(line); n > 0 {
			if count = n; n == number {
				byNumber = [][]byte{bytes.Clone(line)}
			}
		}
		if id := lineID(line); byNumber == nil && strings.HasPrefix(id, which) {
			byID[id] = append(byID[id], bytes.Clone(line))
		}
		return byNumber != nil
	}, 1); err != nil {
		return nil, err
	}
	lines := byNumber
	switch ids := slices.Sorted(maps.Keys(byID)); {
	case lines != nil:
	case byID[which] != nil:
		lines = byID[which]
	case len(ids) == 1:
		lines = byID[ids[0]]
	case len(ids) > 1:
		return nil, fmt.Errorf("the ids of %d decisions begin with %q, such as %s and %s; write more of it", len(ids), which, ids[0], ids[1])
	case count == 0:
		return nil, fmt.Errorf("there is no decision %q: the log has none of this project yet; if an agent has stopped here, see: ralph doctor", which)
	default:
		return nil, fmt.Errorf("there is no decision %q: write a number from 1, the latest, to %d, as ralph log shows it, or an id of ralph log --all or --format json; a policy is named by --policy", which, count)
	}
	records := make([]loop.Record, len(lines))
	for i, line := range lines {
		if err := json.Unmarshal(line, &records[i]); err != nil || records[i].V != 1 {
			return nil, fmt.Errorf("the decision %s was logged by another version of ralph; ralph log --format json prints it", which)
		}
	}
	return records, nil
}

// decideNow decides the event of --input and changes nothing.
func (a *app) decideNow(ctx context.Context, f evalFlags) ([]loop.Record, error) {
	f.deadline = defaultDeadline()
	input, err := a.readInput(f.input)
	if err != nil {
		return nil, err
	}
	_, ev, err := a.decode(input, f.host)
	if err != nil {
		return nil, err
	}
	loops, _, err := a.loops(ctx, ev, f)
	if err != nil {
		return nil, err
	}
	if len(loops) == 0 {
		return nil, errors.New("loops are off, because of RALPH_OFF or the file .ralph/off")
	}
	records := make([]loop.Record, len(loops))
	ctx, cancel := context.WithTimeoutCause(ctx, f.deadline, fmt.Errorf("no decision within %s", f.deadline))
	defer cancel()
	for i, d := range decide(ctx, ev, loops, true) {
		records[i] = d.Record(f.private)
	}
	return records, nil
}

// latest finds the latest n decisions of a project, of these policies and this session, if they are named, the oldest first.
func (a *app) latest(root string, policies []string, session string, n int, match func(loop.Record) bool) ([]loop.Record, error) {
	session, err := a.findSession(root, session, mustBeKnown)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, name := range policies {
		p, err := findPolicy(root, name)
		if err != nil {
			p.name, _ = policyFile(root, name) // it may be gone since
			names[name] = true
		}
		names[p.name] = true
	}
	return a.records(root, n, func(r loop.Record) bool {
		return (len(names) == 0 || names[r.Policy]) && (session == "" || r.Session == session) && match(r)
	})
}
