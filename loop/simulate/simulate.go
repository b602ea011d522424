// Package simulate runs a policy against a scripted agent over many turns, without
// a model: does the loop end, and by what rule?
//
// It promises to be repeatable: the same policy, project, agent and seed give the
// same stops. Time is virtual, the project is a copy in a temporary folder, the
// loop memory is its own, and nothing outside is read or changed: programs are not
// run and models are not asked. What the rules do is the real thing, from the
// bytes of the hook input to the files that change.
//
// An agent works on what the policy reads: it raises the taskIndex of a JSON state,
// ticks items of a checklist, closes promises and tasks. It knows the words by
// which a loop ends from the policy itself. A policy of a kind that is not known
// here gets an agent that only answers.
//
// With Options.Run the agent works by iterations of ralph run: one turn, in which each
// iteration has a session of its own, and run.NAME has a value. Each uses 10,000 tokens
// and costs 0.10 US dollars. The random agent also meets what a client can end with;
// rate limits cost no iteration, so they are left out.
//
// It proves nothing about agents. That no kind of agent here keeps a loop running
// is a test of the policy's bounds, and finds those that were forgotten.
//
// Start with [Run].
package simulate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// Kind is a kind of agent.
type Kind string

// The kinds of agents.
const (
	Honest    Kind = "honest"    // does the work, keeps the state up to date, says so at the end
	Stuck     Kind = "stuck"     // never gets anywhere
	Forgetful Kind = "forgetful" // does the work, but never writes it down
	Lying     Kind = "lying"     // says at once that all is done
	Crashing  Kind = "crashing"  // dies while it writes, and leaves half a file
	Random    Kind = "random"    // now this, now that
)

// Kinds lists the kinds of agents.
func Kinds() []Kind { return []Kind{Honest, Stuck, Forgetful, Lying, Crashing, Random} }

// Options say what is simulated. The zero Options are an honest agent in an empty
// project.
type Options struct {
	Name     string        // of the policy, for its loop memory; its file if empty
	Project  fs.FS         // is copied; nil is an empty project
	Agent    Kind          // Honest if empty
	Seed     uint64        // of all that is left to chance
	Turns    int           // prompts of the user; 3 if 0
	MaxStops int           // stops of one turn, after which it counts as endless; 200 if 0
	Step     time.Duration // between two stops; 30 s if 0
	Env      map[string]string
	Session  string // id of the session; that in stop.json of the project, or "simulation", if empty
	Run      bool   // iterations of ralph run, in one turn, in the place of stops
}

func (o Options) complete(p *rules.Program) Options {
	if o.Name == "" {
		o.Name = p.Name
	}
	if o.Agent == "" {
		o.Agent = Honest
	}
	if o.Turns <= 0 {
		o.Turns = 3
	}
	if o.MaxStops <= 0 {
		o.MaxStops = 200
	}
	if o.Step <= 0 {
		o.Step = 30 * time.Second
	}
	if o.Session == "" {
		o.Session = sessionOf(o.Project)
	}
	return o
}

// sessionOf takes the session of the hook input that demo projects hold: state
// files may name their owner.
func sessionOf(project fs.FS) string {
	var input struct {
		Session string `json:"session_id"`
	}
	if project != nil {
		if data, err := fs.ReadFile(project, "stop.json"); err == nil && json.Unmarshal(data, &input) == nil && input.Session != "" {
			return input.Session
		}
	}
	return "simulation"
}

// Report is what happened.
type Report struct {
	Policy string `json:"policy"`
	Agent  Kind   `json:"agent"`
	Seed   uint64 `json:"seed"`
	Stops  []Stop `json:"stops"`
	Ended  bool   `json:"ended"` // every turn ended
	Most   int    `json:"most"`  // continuations within one turn, at most; iterations of a run
	Last   string `json:"last"`  // the rule that ended the last turn, "" if none held

	Run     bool `json:"run,omitempty"`     // the stops are iterations of ralph run
	Crashed bool `json:"crashed,omitempty"` // the run ended since the agent crashed three times in a row
}

// Stop is one decision.
type Stop struct {
	Turn    int          `json:"turn"`              // counted from 1
	Stop    int          `json:"stop,omitempty"`    // within the turn, counted from 1; 0 is the prompt, or the beginning of a run
	Outcome string       `json:"outcome,omitempty"` // of an iteration of a run
	Did     string       `json:"did"`               // what the agent had done before
	Action  rules.Action `json:"action"`
	Rule    string       `json:"rule,omitempty"`
	Reason  string       `json:"reason,omitempty"`
	Notices []string     `json:"notices,omitempty"`
	Error   string       `json:"error,omitempty"` // the policy could not be followed
}

// Run simulates. An error means that there was nothing to simulate with: the
// project cannot be copied, or there is no room for it.
func Run(ctx context.Context, p *rules.Program, o Options) (*Report, error) {
	o = o.complete(p)
	if !known(o.Agent) {
		return nil, fmt.Errorf("unknown agent %q, expected one of %v", o.Agent, Kinds())
	}
	dir, err := os.MkdirTemp("", "ralph-simulate-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	s := &session{
		options: o, program: p, dir: dir, project: filepath.Join(dir, "project"), home: filepath.Join(dir, "home"),
		now: time.Date(2026, time.January, 1, 9, 0, 0, 0, time.UTC),
	}
	if err := os.Mkdir(s.home, 0o755); err != nil {
		return nil, err
	}
	if err := copyProject(s.project, o.Project); err != nil {
		return nil, err
	}
	if s.loop, err = s.newLoop(); err != nil {
		return nil, err
	}
	s.agent = newAgent(s)
	return s.run(ctx)
}

func known(k Kind) bool {
	for _, kind := range Kinds() {
		if k == kind {
			return true
		}
	}
	return false
}

func (s *session) newLoop() (*loop.Loop, error) {
	return loop.New(s.program,
		loop.WithName(s.options.Name),
		loop.WithRoot(s.project),
		loop.WithState(filepath.Join(s.dir, "state")),
		loop.WithClock(func() time.Time { return s.now }),
		loop.WithEnv(s.env),
		loop.WithRecorder(nil),
		loop.WithVerb("run", nothing{}),
		loop.WithFacts(s.around),
	)
}

// The bounds of a project that is copied. A project of thousands of files is not
// one that a policy works on; its folder was meant.
const (
	maxFiles = 5_000
	maxBytes = 64 << 20
)

// copyProject copies what is regular in a project, without the history and the
// dependencies of its code.
func copyProject(to string, from fs.FS) error {
	if err := os.Mkdir(to, 0o755); err != nil || from == nil {
		return err
	}
	files, size := 0, 0
	return fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(to, filepath.FromSlash(name))
		switch {
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(target, 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		data, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		if files, size = files+1, size+len(data); files > maxFiles || size > maxBytes {
			return errors.New("the project is too large to be copied: name a folder that holds only what the policy reads")
		}
		return os.WriteFile(target, data, 0o644)
	})
}

// nothing runs no program: a simulation shows what would be run.
type nothing struct{}

func (nothing) Write(context.Context, []rules.Effect) error { return nil }
