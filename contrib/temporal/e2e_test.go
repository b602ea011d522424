//go:build unix

package temporal

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/temporalproto"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
)

var update = flag.Bool("update", false, "write testdata/history.json")

// The program is also the workers and their agents.
func TestMain(m *testing.M) {
	var err error
	switch {
	case len(os.Args) == 3 && os.Args[1] == "agent":
		err = agent(os.Args[2])
	case os.Getenv("E2E_CLONE") != "":
		err = work(os.Getenv("E2E_CLONE"), os.Getenv("E2E_SERVER"))
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// agent adds a line to a file when the test says so.
func agent(address string) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	if _, err := bufio.NewReader(conn).ReadString('\n'); err != nil {
		return err
	}
	f, err := os.OpenFile("lines", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	fmt.Fprintln(f, "x")
	return f.Close()
}

const policy = `ralph: 1
facts: {lines: {text: lines, default: ""}}
rules:
  - {name: done, when: lines contains "x\nx\nx", done: three lines}
  - {name: more, continue: Add a line.}
`

// work is a worker in a clone, until it is ended. The counts are in a directory beside the clone, which stands for a store of all machines.
func work(clone, server string) error {
	c, err := client.Dial(client.Options{HostPort: server, Identity: "worker"})
	if err != nil {
		return err
	}
	defer c.Close()
	store := loop.Dir(filepath.Join(filepath.Dir(clone), "store"))
	w := worker.New(c, "q", worker.Options{WorkerStopTimeout: time.Minute})
	open := func(context.Context, run.Plan) (Place, error) {
		l, err := loop.Load(fstest.MapFS{"p.yaml": {Data: []byte(policy)}}, "p.yaml", loop.WithRoot(clone), loop.WithStore(store))
		if err == nil {
			_, err = sh(clone, "git fetch -q; git reset -q --hard origin/main; git clean -qfd")
		}
		keep := func(context.Context) error {
			_, err := sh(clone, "git add -A; git commit -qm iteration; git push -q origin HEAD:main")
			return err
		}
		return Place{Runner: &run.Runner{Loop: l, Store: store, Env: os.Getenv}, Dir: clone, Keep: keep}, err
	}
	(&Worker{Client: c, Open: open}).Register(w)
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	interrupted := make(chan any)
	go func() { <-ended; close(interrupted) }()
	return w.Run(interrupted)
}

func sh(dir, script string) (string, error) {
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", script, err, out)
	}
	return string(out), err
}

// stage has a development server, an origin with two clones of it, and what agents connect to.
type stage struct {
	*testing.T
	client.Client
	server, dir, address string
	agents               chan *working
}

// working is an agent at work.
type working struct {
	net.Conn
	gone chan struct{} // closed once its process has ended
}

func (w *working) work() { fmt.Fprintln(w, "work") }

const patience = 2 * time.Minute // for what must happen

func newStage(t *testing.T) *stage {
	t.Helper()
	program, err := exec.LookPath("temporal")
	if err != nil {
		t.Skip("skipped: the command temporal is not in the PATH: go install github.com/temporalio/cli/cmd/temporal@v1.3.0")
	}
	s := &stage{T: t, dir: t.TempDir(), agents: make(chan *working, 10)}
	port := s.listen(func(net.Conn) {}, true)
	s.server = "127.0.0.1:" + port
	// The server ends with this process, however that ends.
	cmd := exec.Command("sh", "-c", `"$0" server start-dev --headless --port "$1" --log-level never & trap "" INT TERM HUP; read x; kill -9 $!`, program, port)
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for s.Client == nil {
		if s.Client, err = client.DialContext(ctx, client.Options{HostPort: s.server, Identity: "test"}); ctx.Err() != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(s.Close)
	if _, err := sh(s.dir, "git init -q -b main start; cd start; echo hello >file; git add .; git commit -qm first; cd ..; git clone -q --bare start origin; git clone -q origin one; git clone -q origin two"); err != nil {
		t.Fatal(err)
	}
	s.address = "127.0.0.1:" + s.listen(func(conn net.Conn) {
		w := &working{conn, make(chan struct{})}
		s.agents <- w
		_, _ = io.Copy(io.Discard, conn)
		close(w.gone)
	}, false)
	return s
}

// listen listens on a free port until the test ends, or only finds one.
func (s *stage) listen(serve func(net.Conn), find bool) (port string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.Fatal(err)
	}
	_, port, _ = net.SplitHostPort(l.Addr().String())
	if find {
		l.Close()
		return port
	}
	s.Cleanup(func() { l.Close() })
	go func() {
		for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
			go serve(conn)
		}
	}()
	return port
}

// worker starts a worker in a clone.
func (s *stage) worker(clone string) *exec.Cmd {
	s.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "E2E_CLONE="+filepath.Join(s.dir, clone), "E2E_SERVER="+s.server)
	var log strings.Builder
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if s.Failed() {
			s.Logf("the worker in %s:\n%s", clone, log.String())
		}
	})
	return cmd
}

// start starts a run that nothing is heard of for three seconds before an iteration is lost.
func (s *stage) start(id string) client.WorkflowRun {
	s.Helper()
	state, err := run.New(run.Plan{ID: id, Name: "p", Args: []string{os.Args[0], "agent", s.address}, Limits: run.Limits{Max: 9}})
	if err != nil {
		s.Fatal(err)
	}
	r, err := Start(s.Context(), s, "q", Course{State: state, Silence: 3 * time.Second})
	if err != nil {
		s.Fatal(err)
	}
	return r
}

func (s *stage) agent() *working {
	s.Helper()
	select {
	case w := <-s.agents:
		return w
	case <-time.After(patience):
		s.Fatal("no agent was started")
	}
	return nil
}

// typed runs the command of docs/scaling.md that has a word, for another run.
func (s *stage) typed(word, id string) string {
	s.Helper()
	page, err := os.ReadFile("../../docs/scaling.md")
	if err != nil {
		s.Fatal(err)
	}
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(line, "temporal workflow ") && strings.Contains(line, word) {
			out, err := sh(s.dir, "export TEMPORAL_ADDRESS="+s.server+"\n"+strings.ReplaceAll(line, "nightly-1", id))
			if err != nil {
				s.Fatal(err)
			}
			return out
		}
	}
	s.Fatalf("the page has no command with %s", word)
	return ""
}

func (s *stage) isGone(w *working) {
	s.Helper()
	select {
	case <-w.gone:
	case <-time.After(patience):
		s.Fatal("the agent is still there")
	}
}

// ends waits for the end of a run.
func (s *stage) ends(r client.WorkflowRun, outcome rules.Outcome, iterations int) (end run.State) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	if err := r.Get(ctx, &end); err != nil {
		s.Fatal(err)
	}
	if end.End == nil || end.End.Outcome != outcome || end.Iteration != iterations {
		s.Errorf("the run ended as %+v after %d iterations; want %s after %d", end.End, end.Iteration, outcome, iterations)
	}
	return end
}

// lines returns how many lines the origin has.
func (s *stage) lines() int {
	s.Helper()
	out, err := sh(s.dir, "git -C origin show main:lines")
	if err != nil {
		s.Fatal(err)
	}
	return strings.Count(out, "x\n")
}

// keep writes the history of a run, which TestHistory replays.
func (s *stage) keep(r client.WorkflowRun) {
	s.Helper()
	if !*update {
		return
	}
	var h historypb.History
	for events := s.GetWorkflowHistory(s.Context(), r.GetID(), r.GetRunID(), false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); events.HasNext(); {
		event, err := events.Next()
		if err != nil {
			s.Fatal(err)
		}
		h.Events = append(h.Events, event)
	}
	b, err := temporalproto.CustomJSONMarshalOptions{Indent: " "}.Marshal(&h)
	if err == nil {
		err = os.WriteFile("testdata/history.json", append(b, '\n'), 0o644)
	}
	if err != nil {
		s.Fatal(err)
	}
}

// A worker that is killed with SIGKILL in the middle of an iteration costs that iteration, which counts, and its agent ends. A worker on
// another machine goes on. A run is stopped and goes on by signals, and one that is cancelled interrupts its agent.
func TestEndToEnd(t *testing.T) {
	s := newStage(t)
	one := s.worker("one")
	r := s.start("killed")
	s.agent().work()
	second := s.agent()
	if err := one.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	s.isGone(second)
	two := s.worker("two")
	s.agent().work()
	s.agent().work()
	s.ends(r, rules.Done, 4)
	if n := s.lines(); n != 3 {
		t.Errorf("the origin has %d lines, want those of 3 iterations", n)
	}
	s.keep(r)

	if _, err := sh(s.dir, "cd start; git commit -q --allow-empty -m again; git push -qf ../origin main"); err != nil {
		t.Fatal(err)
	}
	r = s.start("stopped")
	first := s.agent()
	s.typed(SignalStop, "stopped")
	first.work()
	for end := time.Now().Add(patience); !strings.Contains(s.typed(QueryState, "stopped"), `"outcome":"interrupted"`); {
		if time.Now().After(end) {
			t.Fatal("the run does not stop")
		}
	}
	s.typed(SignalContinue, "stopped")
	// A worker that is ended lets its agent finish; another one goes on.
	second = s.agent()
	if err := two.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.worker("one")
	second.work()
	s.agent().work()
	if end := s.ends(r, rules.Done, 3); end.Plan.Limits.Max != 40 {
		t.Errorf("the run goes on with the limits %+v", end.Plan.Limits)
	}

	if _, err := sh(s.dir, "cd start; git commit -q --allow-empty -m again; git push -qf ../origin main"); err != nil {
		t.Fatal(err)
	}
	r = s.start("cancelled")
	first = s.agent()
	s.typed("cancel", "cancelled")
	s.isGone(first)
	s.ends(r, run.Interrupted, 1)
}
