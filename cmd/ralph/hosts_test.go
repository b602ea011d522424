package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
)

// hostPolicies are the states of a project in which each host asks.
var hostPolicies = []struct{ name, policy string }{
	{"continue", "ralph: 1\nevents: [Stop, SubagentStop]\nrules: [{name: hint, note: Keep it green.}, {name: go, continue: Go <on>.}]\n"},
	{"stop", "ralph: 1\nevents: [Stop, SubagentStop]\nrules: [{name: end, stop: it is enough, notice: That is enough.}]\n"},
	{"broken policy", "ralph: 1\nrulez: []\n"},
	{"no policy", ""},
}

// testdata/hosts.txt has what ralph eval answers to each event in the form of each host, with its exit status: as install writes the entry,
// and by its exit code. A host reads at most one JSON object, and a status that is not 0 only where an exit code is asked for.
func TestHosts(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join(root, "cmd/ralph/testdata/hosts.txt")
	events, err := filepath.Glob(filepath.Join(root, "host/testdata/*/*.txtar"))
	if err != nil || len(events) < len(host.Names()) {
		t.Fatalf("%d events, error %v", len(events), err)
	}
	got, seen := "", map[string]bool{}
	for _, file := range events {
		name := filepath.Base(filepath.Dir(file))
		seen[name] = true
		got += "-- " + name + "/" + strings.TrimSuffix(filepath.Base(file), ".txtar") + " --\n"
		for _, p := range hostPolicies {
			answer := hostAnswer(t, file, p.policy, "--host", name)
			if out, _, _ := strings.Cut(answer, "\n"); out != "" && !json.Valid([]byte(out)) || strings.Contains(answer, "status") {
				t.Errorf("%s: %s: no host reads this answer: %s", file, p.name, answer)
			}
			got += p.name + ": " + answer
		}
		got += "by exit code: " + hostAnswer(t, file, hostPolicies[0].policy, "--host", name, "--answer", "exit-code")
	}
	for _, name := range host.Names() {
		if !seen[name] {
			t.Errorf("there is no event of %s", name)
		}
	}
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if diff := cmp.Diff(string(want), got); diff != "" || err != nil {
		t.Errorf("error %v; go test ./cmd/ralph -run TestHosts -update accepts this (-want +got):\n%s", err, diff)
	}
}

// hostAnswer returns what ralph eval answers to the event in an archive in a project with a policy.
func hostAnswer(t *testing.T, archive, policy string, flags ...string) string {
	t.Helper()
	b := newBench(t)
	if policy != "" {
		b.write(".ralph/policy.yaml", policy)
	}
	src, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(src), "-- input.json --\n")
	input, _, _ := strings.Cut(rest, "-- event --\n")
	input = strings.ReplaceAll(input, `C:\\shop`, "/home/ada/shop")
	status, stdout, stderr := b.ralph(strings.ReplaceAll(input, "/home/ada/shop", filepath.ToSlash(b.dir)), append([]string{"eval"}, flags...)...)
	answer := strings.TrimSuffix(stdout, "\n") + "\n"
	if stderr != "" {
		answer += "  stderr: " + stderr
	}
	if status != 0 {
		answer += fmt.Sprintf("  status %d\n", status)
	}
	return strings.ReplaceAll(answer, b.dir, "PROJECT")
}
