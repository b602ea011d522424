//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// However many hooks of a session come at once, exactly as many continue as the limit says, and each made its effect. RALPH_STORM=full starts
// 200.
func TestManyAtOnce(t *testing.T) {
	hooks, limit := 20, 5
	if os.Getenv("RALPH_STORM") == "full" {
		hooks, limit = 200, 50
	}
	b := newBench(t)
	b.write(".ralph/policy.yaml", fmt.Sprintf(`ralph: 1
facts: {state: {json: state.json}}
limits: {continuations: %d}
rules: [{name: go, continue: Go on., then: [set: state.n = state.n + 1]}]
`, limit))
	b.write("state.json", `{"n": 0}`)
	outputs := make([]bytes.Buffer, hooks)
	var all sync.WaitGroup
	begin := make(chan struct{})
	for i := range outputs {
		all.Go(func() {
			cmd := exec.Command("ralph", "eval")
			cmd.Stdin, cmd.Stdout = strings.NewReader(`{"session_id": "s", "hook_event_name": "Stop", "prompt_id": "p"}`), &outputs[i]
			<-begin
			if err := cmd.Run(); err != nil {
				t.Error(err)
			}
		})
	}
	close(begin)
	all.Wait()
	continued := 0
	for i := range outputs {
		if strings.Contains(outputs[i].String(), `"decision":"block"`) {
			continued++
		}
	}
	if state, _ := os.ReadFile("state.json"); continued != limit || string(state) != fmt.Sprintf(`{"n": %d}`, limit) {
		t.Errorf("%d hooks continued, and the state is %s; want %d", continued, state, limit)
	}
}

// phases are those of a decision, as far as they are seen from outside: a killed hook is killed in one of them, or shortly after.
var phases = []func(k *kill) bool{
	func(*kill) bool { return true },
	func(k *kill) bool { return k.matches("store/*.lock") },
	func(k *kill) bool { return k.matches("store/.new-*") },
	func(k *kill) bool { return k.size("state.json") != k.state },
	func(k *kill) bool { return k.size(k.document()) != k.memory },
	func(k *kill) bool { return k.size(filepath.Join(k.own, "decisions.jsonl")) != k.log },
}

// kill is a hook that is killed.
type kill struct {
	*bench
	state, memory, log string // before
}

func (k *kill) matches(pattern string) bool {
	found, _ := filepath.Glob(filepath.Join(k.own, pattern))
	return len(found) > 0
}

// size returns what changes of a file when it is written.
func (k *kill) size(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return "none"
	}
	return fmt.Sprint(info.Size(), info.ModTime())
}

// hook calls the hook and kills it in a phase, or lets it end if phase is nil. It reports whether the agent was continued.
func (k *kill) hook(phase func(*kill) bool) bool {
	k.t.Helper()
	k.state, k.memory, k.log = k.size("state.json"), k.size(k.document()), k.size(filepath.Join(k.own, "decisions.jsonl"))
	cmd := exec.Command("ralph", "eval")
	cmd.Stdin = strings.NewReader(event)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		k.t.Fatal(err)
	}
	var answer []byte
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		answer, _ = io.ReadAll(out) // what a killed hook wrote counts
	}()
	for phase != nil {
		select {
		case <-ended:
			phase = nil
		default:
			if !phase(k) {
				continue
			}
			for range rand.N(200) {
				runtime.Gosched()
			}
			_ = cmd.Process.Kill() // it may have ended
			phase = nil
		}
	}
	<-ended
	_ = cmd.Wait()
	return bytes.Contains(answer, []byte(`"decision":"block"`))
}

// Whenever a hook is killed: no more agents were continued than were counted, and than effects were made; no file is torn; the next hook
// decides. RALPH_STORM=full kills 500.
func TestKilled(t *testing.T) {
	kills := 28
	if os.Getenv("RALPH_STORM") == "full" {
		kills = 500
	}
	k := &kill{bench: newBench(t)}
	k.write(".ralph/policy.yaml", `ralph: 1
facts: {state: {json: state.json}}
limits: {continuations: 1000}
rules: [{name: go, continue: Go on., then: [set: state.n = state.n + 1]}]
`)
	k.write("state.json", `{"n": 0}`)
	answers, killed := 0, 0
	for i := range kills {
		if k.hook(phases[i%len(phases)]) {
			answers++
		} else {
			killed++
		}
		var state struct{ N int }
		if b, err := os.ReadFile("state.json"); err != nil || json.Unmarshal(b, &state) != nil {
			t.Fatalf("kill %d: the state is %q, %v", i, b, err)
		}
		counted := k.counted()
		if answers > counted || answers > state.N || counted > state.N {
			t.Fatalf("kill %d: %d answers, %d counted, %d effects", i, answers, counted, state.N)
		}
		if !k.hook(nil) {
			t.Fatalf("kill %d: the next hook did not continue", i)
		}
		answers++
	}
	t.Logf("%d of %d hooks ended before their answer", killed, kills)
	if killed < kills/4 {
		t.Errorf("only %d of %d hooks ended before their answer", killed, kills)
	}
	if _, err := decisions(filepath.Join(k.own, "decisions.jsonl")); err != nil {
		t.Errorf("the log: %v", err)
	}
}

// document is the path of the document of the session "s".
func (k *kill) document() string {
	return filepath.Join(k.own, "store", "session_s-71e839eb5584f4fa2d675b635aa4c24f.json")
}

// counted returns the continuations in the document of the session.
func (k *kill) counted() int {
	k.t.Helper()
	b, err := os.ReadFile(k.document())
	if os.IsNotExist(err) {
		return 0
	}
	_, doc, _ := bytes.Cut(b, []byte("\n"))
	var s struct{ Total int }
	if err := json.Unmarshal(doc, &s); err != nil {
		k.t.Fatalf("%v: %s", err, b)
	}
	return s.Total
}
