//go:build unix

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"google.golang.org/protobuf/encoding/protojson"

	historypb "go.temporal.io/api/history/v1"

	"github.com/ralph-sdk/ralph/run"
	"github.com/ralph-sdk/ralph/run/step"
	"github.com/ralph-sdk/ralph/temporal"
)

// steady never asks.
var steady = strings.Replace(policy, "run.iteration == 2", "run.iteration == 99", 1)

// keep writes the history of a run for module temporal, which replays it.
func (s *stage) keep(name string) {
	s.Helper()
	if !*update {
		return
	}
	var h historypb.History
	for events := s.client.GetWorkflowHistory(s.Context(), "r", "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); events.HasNext(); {
		event, err := events.Next()
		if err != nil {
			s.Fatal(err)
		}
		h.Events = append(h.Events, event)
	}
	text, err := protojson.Marshal(&h)
	if err == nil {
		err = os.WriteFile(filepath.Join("..", "testdata", name+".json"), append(text, '\n'), 0o644)
	}
	if err != nil {
		s.Fatal(err)
	}
}

// A killed worker loses the iteration under way, and no other: its agent ends, and the worker that starts in its place continues.
func TestKilled(t *testing.T) {
	s := newStage(t, steady)
	w := s.worker("one", s.host)
	s.start("r", 9)
	s.agent().work()
	second := s.agent()
	if err := w.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	s.until("the end of the agent of the killed worker", second.gone)
	_ = w.Wait()
	s.worker("one", s.host)
	s.agent().work()
	s.agent().work()
	s.ends("r", run.Success, 4, 1, 3)
	s.keep("killed")
}

// The agent of a frozen worker is ended by its watch. Another worker, in another clone, continues from the remote; what the frozen
// one does after it wakes up does not count.
func TestFrozen(t *testing.T) {
	s := newStage(t, steady)
	w := s.worker("one", s.host)
	s.start("r", 9)
	s.agent().work()
	second := s.agent()
	if err := w.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	s.until("the end of the agent of the frozen worker", second.gone)
	s.worker("two", s.host)
	third := s.agent()
	if err := w.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	third.work()
	s.agent().work()
	s.ends("r", run.Success, 4, 1, 3)
}

// A network that is gone for less than the silence loses nothing; one that is gone for longer loses the iteration under way.
func TestNetwork(t *testing.T) {
	s := newStage(t, steady)
	n := s.network()
	s.worker("one", n.Addr().String())
	s.start("r", 9)
	first := s.agent()
	n.set(true)
	for range 2 {
		s.until("a refused connection", n.refused)
	}
	n.set(false)
	first.work()
	second := s.agent()
	n.set(true)
	s.until("the end of the agent without a network", second.gone)
	n.set(false)
	s.agent().work()
	s.agent().work()
	s.ends("r", run.Success, 4, 1, 3)
}

// A person pauses a run, resumes it, and answers its question.
func TestPauseAndAnswer(t *testing.T) {
	s := newStage(t, policy)
	s.worker("one", s.host)
	s.start("r", 9)
	send := func(in step.Input) {
		t.Helper()
		if err := temporal.Send(t.Context(), s.client, "r", in); err != nil {
			t.Fatal(err)
		}
	}
	first := s.agent()
	send(step.Input{Kind: step.Pause})
	first.work()
	s.shows("paused", func(st temporal.Status) bool { return st.Paused && st.Waiting != "" })
	send(step.Input{Kind: step.Go})
	s.agent().work()
	s.shows("asking", func(st temporal.Status) bool { return st.Waiting == "Really?" })
	send(step.Input{Kind: step.Answer, Answer: step.Text{Text: "yes"}})
	s.agent().work()
	s.ends("r", run.Success, 3, 0, 3)
	s.keep("answered")
	if err := temporal.Send(t.Context(), s.client, "r", step.Input{Kind: step.Stop}); err == nil || !strings.Contains(err.Error(), "or it has ended") {
		t.Errorf("a run that has ended is stopped: %v", err)
	}
}

// A run that is stopped ends after the iteration, which counts. One that is cancelled interrupts it, and what the agent made until
// then is on its branch.
func TestStop(t *testing.T) {
	s := newStage(t, steady)
	s.worker("one", s.host)
	s.start("r", 9)
	first := s.agent()
	if err := temporal.Send(t.Context(), s.client, "r", step.Input{Kind: step.Stop}); err != nil {
		t.Fatal(err)
	}
	first.work()
	s.ends("r", run.Cancelled, 1, 0, 1)
	s.start("now", 9)
	s.agent().work()
	second := s.agent()
	if err := temporal.Cancel(t.Context(), s.client, "now"); err != nil {
		t.Fatal(err)
	}
	s.until("the end of the agent", second.gone)
	s.ends("now", run.Cancelled, 2, 0, 1)
}

// A worker that is ended lets its agent finish; the run continues once it is there again.
func TestDrain(t *testing.T) {
	s := newStage(t, steady)
	w := s.worker("one", s.host)
	s.start("r", 9)
	first := s.agent()
	if err := w.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	first.work()
	if err := w.Wait(); err != nil {
		t.Fatal("the worker ended with ", err)
	}
	s.worker("one", s.host)
	s.agent().work()
	s.agent().work()
	s.ends("r", run.Success, 3, 0, 3)
}

// Fifty runs on two workers end by their limit: no iteration counts twice, and each is a commit of its run.
func TestMany(t *testing.T) {
	s := newStage(t, steady)
	s.worker("one", s.host)
	s.worker("two", s.host)
	const many, most = 50, 2
	for i := range many {
		s.launch(fmt.Sprint("r", i), most, temporal.Request{}) // all at once can take longer than some seconds
	}
	started := map[string]int{}
	for range many * most {
		w := s.agent()
		started[w.run]++
		w.work()
	}
	for i := range many {
		id := fmt.Sprint("r", i)
		s.ends(id, run.AtLimit, most, 0, most)
		if started[id] != most {
			t.Errorf("run %s started %d agents", id, started[id])
		}
	}
	if left := len(s.agents); left > 0 {
		t.Errorf("%d more agents were started", left)
	}
}

// A search finds runs by what they do, once the namespace has the search attributes. The other tests run without them.
func TestSearch(t *testing.T) {
	s := newStage(t, steady)
	_, err := s.client.OperatorService().AddSearchAttributes(t.Context(), &operatorservice.AddSearchAttributesRequest{Namespace: s.namespace, SearchAttributes: map[string]enums.IndexedValueType{
		"RalphState": enums.INDEXED_VALUE_TYPE_KEYWORD, "RalphPolicy": enums.INDEXED_VALUE_TYPE_KEYWORD, "RalphIteration": enums.INDEXED_VALUE_TYPE_INT,
	}})
	if err != nil {
		t.Fatal(err)
	}
	s.finds("RalphState = '' AND RalphPolicy = '' AND RalphIteration = 0", 0) // the server has them
	s.worker("one", s.host)
	s.start("r", 9)
	s.agent().work()
	s.agent().work()
	third := s.agent()
	s.finds("RalphState = 'running' AND RalphPolicy = 'count' AND RalphIteration = 3", 1)
	third.work()
	s.ends("r", run.Success, 3, 0, 3)
	s.finds("RalphState = 'done' AND RalphPolicy = 'count' AND RalphIteration = 3", 1)
	s.finds("RalphState = 'running'", 0)
}
