//go:build unix

package e2e

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/server/temporaltest"

	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/run"
	"github.com/ralph-sdk/ralph/temporal"
)

var update = flag.Bool("update", false, "write the histories of runs, which module temporal replays")

// The program is also its workers and their agents.
func TestMain(m *testing.M) {
	watch := run.Watched()
	switch {
	case len(os.Args) == 4 && os.Args[1] == "agent": // the last argument is the prompt
		os.Exit(agent(os.Args[2]))
	case os.Getenv("E2E_WORKER") != "":
		if err := work(watch); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// work is a worker, until a signal ends it.
func work(watch run.Watch) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	c, err := client.Dial(client.Options{
		HostPort: os.Getenv("E2E_SERVER"), Namespace: os.Getenv("E2E_NAMESPACE"), Logger: sdklog.NewStructuredLogger(slog.New(slog.NewTextHandler(os.Stderr, nil))),
	})
	if err != nil {
		return err
	}
	defer c.Close()
	p, err := project.Open(project.Config{Dir: os.Getenv("E2E_WORKER"), State: os.Getenv("E2E_STATE")})
	if err != nil {
		return err
	}
	defer p.Close()
	w, err := temporal.NewWorker(ctx, c, p, temporal.Options{Queue: "q", Remote: "origin", Agents: 100, Drain: time.Minute, Watch: watch})
	if err != nil {
		return err
	}
	return w.Run(ctx)
}

// agent is an agent that does what the test says: it adds a line to a file, or waits until it is ended.
func agent(address string) int {
	_, _ = io.Copy(io.Discard, os.Stdin)
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return 1
	}
	fmt.Fprintln(conn, os.Getenv(run.Env))
	if order, _ := bufio.NewReader(conn).ReadString('\n'); order != "work\n" {
		return 1
	}
	f, err := os.OpenFile("lines", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(f, os.Getenv(run.Env))
	}
	if err != nil || f.Close() != nil {
		return 1
	}
	return 0
}

// policy continues until a file has three lines.
const policy = `ralph: 1
facts:
  lines: {text: lines, default: ""}
rules:
  - name: done
    when: len(split(trim(lines), "\n")) >= 3
    stop: three lines
    success: true
  - name: risky
    when: len(split(trim(lines), "\n")) == 2 && answer == "" && run.iteration == 2
    ask: Really?
  - name: more
    continue: Add a line.
`

// A stage has a server, an origin with clones of it, and what agents connect to.
type stage struct {
	*testing.T
	client    client.Client
	host      string
	namespace string
	dir       string
	agents    chan *working
	address   string // to which agents connect
	starter   *project.Project
}

// working is an agent at work.
type working struct {
	run  string
	conn net.Conn
	gone chan struct{} // closed once the process is gone
}

func (w *working) work() { fmt.Fprintln(w.conn, "work") }

const patience = 2 * time.Minute // that a test waits for what must happen

func newStage(t *testing.T, policy string) *stage {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts a server")
	}
	server := temporaltest.NewServer(temporaltest.WithT(t))
	s := &stage{T: t, client: server.GetDefaultClient(), host: server.GetFrontendHostPort(), namespace: server.GetDefaultNamespace(), agents: make(chan *working, 100)}
	var err error
	if s.dir, err = filepath.EvalSymlinks(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	s.sh("git init -q -b main start; cd start; mkdir .ralph; cat >.ralph/count.yaml <<'END'\n" + policy + "END\n" +
		"git add .; git commit -qm first; cd ..; git clone -q --bare start origin; for c in one two; do git clone -q origin $c; done")
	if s.starter, err = project.Open(project.Config{Dir: filepath.Join(s.dir, "start"), State: filepath.Join(s.dir, "state-start")}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.starter.Close() })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	s.address = l.Addr().String()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			in := bufio.NewReader(conn)
			id, _ := in.ReadString('\n')
			w := &working{strings.TrimSpace(id), conn, make(chan struct{})}
			go func() { _, _ = in.ReadString('\n'); close(w.gone) }()
			s.agents <- w
		}
	}()
	return s
}

func (s *stage) sh(script string) string {
	s.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.Fatalf("%s: %v\n%s", script, err, out)
	}
	return strings.TrimSpace(string(out))
}

// worker starts a worker in a clone, which reaches the server at an address.
func (s *stage) worker(clone, server string) *exec.Cmd {
	s.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "E2E_WORKER="+filepath.Join(s.dir, clone), "E2E_STATE="+filepath.Join(s.dir, "state-"+clone), "E2E_SERVER="+server, "E2E_NAMESPACE="+s.namespace)
	log, err := os.OpenFile(filepath.Join(s.dir, clone+".log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		s.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		log.Close()
		if text, err := os.ReadFile(log.Name()); s.Failed() && err == nil {
			s.Logf("worker in %s:\n%s", clone, text)
		}
	})
	return cmd
}

// start starts a run, whose attempts are lost after a silence of some seconds.
func (s *stage) start(id string, most int) {
	s.Helper()
	s.launch(id, most, temporal.Request{Silence: 6 * time.Second, Away: 15 * time.Second})
}

// launch starts a run with the times of a request.
func (s *stage) launch(id string, most int, q temporal.Request) {
	s.Helper()
	program, err := os.Executable()
	if err != nil {
		s.Fatal(err)
	}
	q.ID, q.Queue = id, "q"
	q.Run = project.RunRequest{Policy: "count", Agent: []string{program, "agent", s.address}, Limits: run.Limits{Iterations: most}}
	if _, err := temporal.Start(s.Context(), s.client, s.starter, q); err != nil {
		s.Fatal(err)
	}
}

// agent waits for the next agent.
func (s *stage) agent() *working {
	s.Helper()
	select {
	case w := <-s.agents:
		return w
	case <-time.After(patience):
		s.Fatal("no agent was started: ", s.status("r"))
	}
	return nil
}

// until waits until something is closed.
func (s *stage) until(what string, c <-chan struct{}) {
	s.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		s.Fatal(what, " did not happen")
	}
}

func (s *stage) status(id string) temporal.Status {
	ctx, cancel := context.WithTimeout(s.Context(), 20*time.Second)
	defer cancel()
	status, _ := temporal.Get(ctx, s.client, id)
	return status
}

// shows asks for the status until it is as it must be.
func (s *stage) shows(what string, is func(temporal.Status) bool) {
	s.Helper()
	for ctx, cancel := context.WithTimeout(s.Context(), patience); ; {
		status, err := temporal.Get(ctx, s.client, "r")
		if err == nil && is(status) {
			cancel()
			return
		}
		if ctx.Err() != nil {
			s.Fatalf("it is never %s: %+v", what, status)
		}
	}
}

// finds searches until so many runs are found.
func (s *stage) finds(query string, want int64) {
	s.Helper()
	for ctx, cancel := context.WithTimeout(s.Context(), patience); ; {
		found, err := s.client.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Query: query})
		if err == nil && found.Count == want {
			cancel()
			return
		}
		if ctx.Err() != nil {
			s.Fatalf("%s finds %d runs, want %d: %v", query, found.GetCount(), want, err)
		}
	}
}

// ends waits for the end of a run, and compares it.
func (s *stage) ends(id string, end run.End, iterations, lost int, lines int) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	var status temporal.Status
	if err := s.client.GetWorkflow(ctx, id, "").Get(ctx, &status); err != nil {
		s.Fatalf("run %s: %v, %+v", id, err, s.status(id))
	}
	if status.Ended != end || status.Totals.Iterations != iterations || status.Totals.Outcomes[run.Lost] != lost {
		s.Errorf("run %s ended as %s after %d iterations, %d lost: %s; want %s after %d, %d lost", id, status.Ended, status.Totals.Iterations, status.Totals.Outcomes[run.Lost], status.Why, end, iterations, lost)
	}
	if got := strings.Fields(s.sh("git -C origin show ralph/" + id + ":lines 2>/dev/null || true")); len(got) != lines {
		s.Errorf("run %s: the origin has the lines %q, want %d", id, got, lines)
	}
	for _, line := range strings.Fields(s.sh("git -C origin show ralph/" + id + ":lines 2>/dev/null || true")) {
		if line != id {
			s.Errorf("run %s has a line of %s", id, line)
		}
	}
}

// A network is between a worker and the server.
type network struct {
	net.Listener
	server string

	mu      sync.Mutex
	down    bool
	conns   []net.Conn
	refused chan struct{} // has a value for each connection that was refused
}

func (s *stage) network() *network {
	s.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { l.Close() })
	n := &network{Listener: l, server: s.host, refused: make(chan struct{}, 1000)}
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			n.mu.Lock()
			out, err := net.Dial("tcp", n.server)
			if n.down || err != nil {
				in.Close()
				n.refused <- struct{}{}
			} else {
				n.conns = append(n.conns, in, out)
				go func() { _, _ = io.Copy(in, out); in.Close() }()
				go func() { _, _ = io.Copy(out, in); out.Close() }()
			}
			n.mu.Unlock()
		}
	}()
	return n
}

// set ends all connections and refuses new ones, or accepts them again.
func (n *network) set(down bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down = down
	for _, c := range n.conns {
		c.Close()
	}
	n.conns = nil
}
