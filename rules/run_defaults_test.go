package rules_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/rules"
)

func TestRunDefaults(t *testing.T) {
	type defaults struct {
		Args      []string
		Fresh     bool
		Iteration time.Duration
	}
	for run, want := range map[string]defaults{
		"{}":                                {nil, true, 0},
		"{client: claude}":                  {[]string{"claude"}, true, 0},
		"{args: [-p, 3, $HOME], client: a}": {[]string{"a", "-p", "3", "$HOME"}, true, 0},
		"{fresh: false, iteration: 30m}":    {nil, false, 30 * time.Minute},
	} {
		p := load(t, policy("run: "+run+"\nrules: [{name: on, continue: go on}]\n"))
		got := defaults{Fresh: p.Run.Fresh, Iteration: p.Run.Iteration}
		if agent := p.Run.Agent; agent != nil {
			got.Args = agent.Args
			if agent.Source.Trust == "" || agent.Source.Argument != "words" || agent.Pos.Line != 2 {
				t.Errorf("%s: the agent is %+v", run, agent)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", run, diff)
		}
		if len(p.Facts()) > 0 {
			t.Errorf("%s: the agent is among the facts", run)
		}
	}
	if p := load(t, policy("rules: [{name: on, continue: go on}]\n")); p.Run != nil {
		t.Errorf("a policy without run sets %+v", p.Run)
	}
}

func TestRunDefaultsThatDoNotLoad(t *testing.T) {
	for run, want := range map[string]string{
		"claude -p":                       "run must be a map with the keys",
		"{agent: claude}":                 `unknown key "agent" in run`,
		"{args: [-p]}":                    "args needs client",
		"{client: a, args: -p}":           "args must be a list",
		"{client: a, args: [[b]]}":        "an argument must be a string",
		"{client: ''}":                    `client must be a program; got ""`,
		"{client: a, args: ['${model}']}": "the agent's command line cannot have placeholders",
		"{client: '${agent}'}":            "the agent's command line cannot have placeholders",
		"{fresh: 1}":                      "fresh must be true or false",
		"{iteration: 30}":                 "iteration must be a duration such as 30s",
		"{iteration: 0s}":                 "the time of an iteration must be positive",
	} {
		if got := refused(t, "run: "+run+"\nrules: []\n", rules.Config{}); !strings.Contains(got, want) {
			t.Errorf("%s: %s\nwant %s", run, got, want)
		}
	}
}

// The policy's own when may follow run: a hook need not read it first.
func TestRunDefaultsStandAnywhere(t *testing.T) {
	for _, text := range []string{
		"run: {client: claude}\nwhen: stop_hook_active\nrules: [{name: on, continue: go on}]\n",
		"when: stop_hook_active\nrules: [{name: on, continue: go on}]\nrun: {client: claude}\n",
	} {
		p, diags := rules.LoadBytes(t.Context(), "policy.yaml", []byte("ralph: 1\n"+text), rules.Config{Lazy: true})
		if p == nil {
			t.Fatal(diags.Err())
		}
		w := &world{names: map[string]any{"stop_hook_active": true}}
		if v := p.Eval(t.Context(), w, w.options()); v.Rule != "on" {
			t.Errorf("%s decides %+v", text, v)
		}
	}
}
