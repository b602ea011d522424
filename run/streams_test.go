package run_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/run"
	"github.com/ralph-sdk/ralph/run/runtest"
)

var update = flag.Bool("update", false, "write the golden files again")

// recorded are the streams that a client printed, by name.
func recorded(t testing.TB, client string) map[string]runtest.Stream {
	t.Helper()
	files, _ := filepath.Glob("testdata/streams/" + client + "/*.jsonl")
	all := map[string]runtest.Stream{}
	for _, file := range files {
		out, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(file, ".jsonl")
		golden, err := os.ReadFile(name + ".golden")
		if err != nil {
			t.Fatal(err)
		}
		s := runtest.Stream{Name: filepath.Base(name), Stdout: out, Process: run.Process{Dir: "/home/dev/project"}}
		head, _, _ := strings.Cut(string(golden), "\n")
		if signal, ok := strings.CutPrefix(head, "signal "); ok {
			s.Process.Exit, s.Process.Signal = -1, signal
		} else if _, err := fmt.Sscanf(head, "exit %d", &s.Process.Exit); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all[s.Name] = s
	}
	return all
}

// clients are the adapters of clients, without the generic one.
func clients() []run.Adapter { return run.Clients()[:len(run.Clients())-1] }

func TestStreams(t *testing.T) {
	for _, a := range clients() {
		for name, s := range recorded(t, a.Name()) {
			t.Run(a.Name()+"/"+name, func(t *testing.T) {
				var got bytes.Buffer
				how := fmt.Sprintf("exit %d", s.Process.Exit)
				if s.Process.Signal != "" {
					how = "signal " + s.Process.Signal
				}
				fmt.Fprintln(&got, how)
				o := a.Output()
				for line := range bytes.Lines(s.Stdout) {
					shown, end := o.Line(bytes.TrimSuffix(line, []byte("\n")))
					if shown != "" {
						fmt.Fprintln(&got, "shown:", shown)
					}
					if end != "" {
						fmt.Fprintln(&got, "ended:", end)
					}
				}
				res := o.Result(s.Process)
				resets := ""
				if !res.ResetsAt.IsZero() {
					resets = res.ResetsAt.UTC().Format("2006-01-02T15:04:05Z")
				}
				cost := "unknown"
				if res.Cost != nil {
					cost = fmt.Sprintf("%.6f", *res.Cost)
				}
				text, _ := json.Marshal(res.Text)
				fmt.Fprintf(&got, "outcome: %s\nproblem: %s\nsession: %s\ntokens: %d\nused: %d\ncost: %s\nresets: %s\ntext: %s\n",
					res.Outcome, res.Problem, res.Session, res.Tokens, res.Used, cost, resets, text)
				for _, d := range res.Denied {
					denied, _ := json.Marshal(d)
					fmt.Fprintf(&got, "denied: %s\n", denied)
				}
				golden := "testdata/streams/" + a.Name() + "/" + name + ".golden"
				if *update {
					if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(golden)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), got.String()); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			})
		}
	}
}
