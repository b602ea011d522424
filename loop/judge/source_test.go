package judge_test

import (
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/judge"
	"github.com/ralph-sdk/ralph/loop/looptest"
	"github.com/ralph-sdk/ralph/rules"
)

// A policy that names no model is wrong, and that is reported before there is a
// conversation to judge. A key that is not set is no mistake.
func TestSourceWithoutModel(t *testing.T) {
	const policy = `ralph: 1
facts:
  done:
    judge: Is it done?
    API
    returns: {properties: {done: {type: boolean, default: false}}}
rules:
  - {name: go-on, when: not done.done, continue: Go on}
limits: {repeats: 3}
`
	for _, test := range []struct{ name, api, key, want string }{
		{"no model", "api: openai", "k", "no model is named: write model: for the api openai"},
		{"a model", "api: openai\n    model: m", "k", "there is no conversation to judge"},
		{"the usual model", "api: anthropic", "k", "there is no conversation to judge"},
		{"no key", "api: openai", "", "OPENAI_API_KEY is not set"},
	} {
		t.Run(test.name, func(t *testing.T) {
			program, diags := rules.LoadBytes(t.Context(), "policy.yaml", []byte(strings.Replace(policy, "API", test.api, 1)), rules.Config{})
			if err := diags.Err(); err != nil {
				t.Fatal(err)
			}
			env := func(name string) string {
				if strings.HasSuffix(name, "_API_KEY") {
					return test.key
				}
				return ""
			}
			l, err := loop.New(program, loop.WithSource(judge.Source()), loop.WithEnv(env), loop.WithTrust(func(*rules.Fact, []rules.File) error { return nil }),
				loop.WithRecorder(new(looptest.Records)))
			if err != nil {
				t.Fatal(err)
			}
			d := l.Preview(t.Context(), host.Event{Name: host.Stop})
			if got := d.Verdict.Trace.Facts[0].Problem; got != test.want {
				t.Errorf("it says %q, want %q", got, test.want)
			}
		})
	}
}
