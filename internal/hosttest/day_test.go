//go:build hosts

package hosttest

import (
	"strings"
	"testing"
)

// A first own policy, written from the documents: the agent stops when the changelog mentions the version.
const (
	release = `ralph: 1
description: The agent stops when CHANGELOG.md mentions the version in VERSION.

facts:
  version: {text: VERSION}
  changelog: {text: CHANGELOG.md}

limits: {repeats: 3}

rules:
  - name: mentioned
    when: changelog contains version
    stop: CHANGELOG.md mentions ${version}
    success: true

  - name: write-it
    continue: Add a section for ${version} to CHANGELOG.md.
`
	releaseTests = `given:
  facts: {version: 0.3.0, changelog: "## 0.2.0"}

tests:
  - name: asks for the section
    expect: {rule: write-it, continue: section for 0.3.0}
  - name: stops when the section is there
    given: {facts: {changelog: "## 0.3.0"}}
    expect: {rule: mentioned, success: true}
`
)

// The day of a newcomer: writing, checking, testing and explaining a policy; a loop by the hook, paused and resumed; a
// run, stopped and resumed; what status and log report; and the way back.
func TestDay(t *testing.T) {
	a := agents[0]
	s := newScene(t, a.client)
	const task, ask = "Prepare the release.", "Add a section for 0.3.0 to CHANGELOG.md."
	prints := func(line, want string, status int) {
		t.Helper()
		r := s.try(ralphProgram, strings.Fields(line)...)
		t.Logf("$ ralph %s\n%s", line, r.out)
		if r.status != status || !strings.Contains(r.out, want) || line == "check" && r.out != want {
			t.Errorf("ralph %s: status %d, want %d and %q\n%s", line, r.status, status, want, r.out)
		}
	}
	works := func(at int) script { // which writes the section before this answer
		s.asked = nil
		s.write("CHANGELOG.md", "## 0.2.0\n")
		return func(r request) reply {
			if r.n == at {
				s.write("CHANGELOG.md", "## 0.3.0\n\n## 0.2.0\n")
			}
			return reply{text: "Worked."}
		}
	}
	s.write("VERSION", "0.3.0\n")
	s.write(".ralph/policy.yaml", release)
	s.write(".ralph/policy_test.yaml", releaseTests)
	agent := works(2)
	prints("check", "policy ends at the latest after 3 continuations per prompt, 5000 continuations per session or 24h\n", 0)
	prints("test", "2 tests", 0)
	prints("explain --now", "▸ changelog contains version  =  false", 0)

	prints("install "+a.host, "Installed in ", 0)
	s.trust()
	s.wants(s.run(task, agent), task, ask)
	prints("status", "policy: done, just now\n", 0)
	prints("log", "mentioned         CHANGELOG.md mentions 0.3.0", 0)

	agent = works(0)
	prints("pause", "ralph resume", 0)
	s.wants(s.run(task, agent), task)
	prints("resume", "are on", 0)
	s.wants(s.run(task, works(2)), task, ask)

	agent = works(0)
	run := "run --max 3 -- " + strings.Join(s.agent(a.args), " ")
	s.script = func(r request) reply {
		prints("stop", "ends after its iteration", 0)
		return agent(r)
	}
	prints(run, "asked: the run was stopped", 130)
	s.script = works(2)
	prints("run --resume", "done: CHANGELOG.md mentions 0.3.0", 0)
	prints("status", "done: ", 0)
	s.alone()

	agent = works(0)
	prints("uninstall "+a.host, "", 0)
	s.wants(s.run(task, agent), task)
	prints("doctor", "no agent runs ralph", 1)
}
