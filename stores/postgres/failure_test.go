//go:build unix

package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// events returns the lines of n events of a session, from the first.
func events(session string, first, n int) (lines []string) {
	for i := range n {
		lines = append(lines, fmt.Sprintf("%s e%d", session, first+i))
	}
	return lines
}

// total returns what is counted in a session.
func total(t *testing.T, s loop.Store, scope, session string) int {
	t.Helper()
	e, err := s.Load(t.Context(), loop.Key{Scope: scope, Policy: "p.yaml", Session: session})
	if err != nil {
		t.Fatal(err)
	}
	return e[0].Memory.Total
}

// Two processes on one session count each continuation once, together hold the limit, and neither starves.
func TestTwoProcesses(t *testing.T) {
	const limit, each = 400, 500
	url := shared.empty(t)
	pool := connect(t, url)
	s := open(t, pool)
	w := workload{URL: url, Scope: "acme", Limit: limit, Goroutines: 8}
	one, two := w.begin(t), w.begin(t)
	one.send(events("s", 0, each)...)
	two.send(events("s", each, each)...)
	var continued [2]int
	for i, p := range []*process{one, two} {
		for _, d := range p.read(t, each) {
			if d.Failed {
				t.Errorf("%s failed: %s", d.ID, d.Reason)
			}
			if d.Continued {
				continued[i]++
			}
		}
	}
	if n := total(t, s, "acme", "s"); continued[0]+continued[1] != limit || n != limit {
		t.Errorf("%d of %d events were continued and %d counted, want %d", continued, 2*each, n, limit)
	}
	if min(continued[0], continued[1]) < limit/10 { // without a lock it was 0 to 9 in three of four
		t.Errorf("one of the processes starved: they made %d continuations", continued)
	}
	if n := len(records(t, pool)); n != 2*each {
		t.Errorf("%d records are kept, want %d", n, 2*each)
	}
}

// Two processes that get the same deliveries at once decide each once.
func TestSameDeliveries(t *testing.T) {
	const sessions = 200
	url := shared.empty(t)
	pool := connect(t, url)
	s := open(t, pool)
	w := workload{URL: url, Scope: "acme", Limit: 10, Goroutines: 8}
	one, two := w.begin(t), w.begin(t)
	var lines []string
	for i := range sessions {
		lines = append(lines, fmt.Sprintf("s%d e", i))
	}
	one.send(lines...)
	two.send(lines...)
	for _, d := range append(one.read(t, sessions), two.read(t, sessions)...) {
		if d.Failed || !d.Continued {
			t.Errorf("%s was not continued: %s", d.Session, d.Reason)
		}
	}
	for i := range sessions {
		if n := total(t, s, "acme", fmt.Sprint("s", i)); n != 1 {
			t.Errorf("the delivery to session %d is counted %d times", i, n)
		}
	}
	if n := len(records(t, pool)); n != sessions {
		t.Errorf("%d records are kept, want %d", n, sessions)
	}
}

// Processes are killed in the middle of 1,000 events of one session. What one had not answered is delivered to the next.
func TestKilledProcess(t *testing.T) {
	const all, each = 1000, 200
	url := shared.empty(t)
	pool := connect(t, url)
	s := open(t, pool)
	w := workload{URL: url, Scope: "acme", Limit: 10_000, Goroutines: 4}
	answered := map[string]bool{}
	note := func(list []decided) {
		for _, d := range list {
			if d.Failed || !d.Continued {
				t.Errorf("%s was not continued: %s", d.ID, d.Reason)
			}
			answered[d.ID] = true
		}
	}
	killed := 0
	for len(answered) < all && !t.Failed() {
		var rest []string
		for _, line := range events("s", 0, all) {
			if _, id, _ := strings.Cut(line, " "); !answered[id] {
				rest = append(rest, line)
			}
		}
		p := w.begin(t)
		p.send(rest...)
		note(p.read(t, each))
		if len(answered) == all {
			break
		}
		if err := p.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		killed++
		note(p.read(t, all)) // what it wrote before the kill
	}
	if n := total(t, s, "acme", "s"); n != all || killed == 0 {
		t.Errorf("%d continuations are counted after %d kills, want %d", n, killed, all)
	}
	if n := len(records(t, pool)); n != all {
		t.Errorf("%d records are kept, want %d", n, all)
	}
}

// gone has what a loop does on a store that is gone and comes back.
type gone struct {
	*testing.T
	loop      *loop.Loop
	continued int
}

// run decides an event. It is continued, or else the decision failed and says of which store.
func (g *gone) run(session string) bool {
	g.Helper()
	d, err := g.loop.Run(g.Context(), host.Event{SessionID: session})
	if d.Verdict.Action == rules.Continue && err == nil {
		return true
	}
	if err == nil || d.Verdict.Action != rules.Stop || !strings.Contains(d.Verdict.Reason, "PostgreSQL (database ") {
		g.Errorf("with a store that does not work, the answer is %s (%s), %v", d.Verdict.Action, d.Verdict.Reason, err)
	}
	return false
}

func (g *gone) decides() {
	g.Helper()
	if !g.run("s") {
		g.Fatal("with a store that works, the decision failed")
	}
	g.continued++
}

func (g *gone) fails() {
	g.Helper()
	if g.run("s") {
		g.Error("with a store that does not work, the agent was continued")
	}
}

// gone opens a store, and a loop on it.
func (s *server) gone(t *testing.T, change ...func(*pgxpool.Config)) (*gone, loop.Store) {
	t.Helper()
	store := open(t, connect(t, s.empty(t), change...))
	l, err := newLoop(store, "acme", 1000, loop.WithDeadline(2*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	return &gone{T: t, loop: l}, store
}

// counted checks that each continuation was counted, and that a decision that failed counts once at most.
func (g *gone) counted(s loop.Store, failed int) {
	g.Helper()
	if n := total(g.T, s, "acme", "s"); n < g.continued || n > g.continued+failed {
		g.Errorf("%d continuations are counted after %d, and %d failed decisions", n, g.continued, failed)
	}
}

func TestStoppedServer(t *testing.T) {
	t.Parallel()
	server := private(t, "")
	g, s := server.gone(t)
	g.decides()
	for range 2 {
		if err := server.down(); err != nil {
			t.Fatal(err)
		}
		g.fails()
		if err := server.up(); err != nil {
			t.Fatal(err)
		}
		g.decides()
	}
	if err := errors.Join(server.down(), server.up()); err != nil { // the pool has a dead connection
		t.Fatal(err)
	}
	g.decides()
	g.counted(s, 0)
}

func TestFrozenServer(t *testing.T) {
	t.Parallel()
	server := private(t, "")
	g, s := server.gone(t)
	g.decides()
	server.signal(t, syscall.SIGSTOP)
	g.fails()
	server.signal(t, syscall.SIGCONT)
	g.decides()
	g.counted(s, 1)
}

func TestReadOnlyServer(t *testing.T) {
	var mode atomic.Value
	mode.Store("off")
	g, s := shared.gone(t, func(c *pgxpool.Config) {
		c.PrepareConn = func(ctx context.Context, conn *pgx.Conn) (bool, error) {
			_, err := conn.Exec(ctx, "SET default_transaction_read_only = "+mode.Load().(string))
			return err == nil, err
		}
	})
	g.decides()
	mode.Store("on")
	g.fails()
	mode.Store("off")
	g.decides()
	g.counted(s, 0)
}

// A server that writes no longer is left for another of the URL.
func TestFailover(t *testing.T) {
	t.Parallel()
	first := private(t, "")
	url := first.empty(t)
	second := strings.Replace(url, first.dir, shared.dir, 1)
	if _, err := connect(t, second).Exec(t.Context(), "CREATE SCHEMA "+url[strings.LastIndex(url, "=")+1:]); err != nil {
		t.Fatal(err)
	}
	open(t, connect(t, second))
	pool := connect(t, strings.Replace(url, first.dir, first.dir+","+shared.dir, 1)+"&target_session_attrs=read-write", func(c *pgxpool.Config) { c.MaxConns = 1 })
	l, err := newLoop(open(t, pool), "acme", 1000)
	if err != nil {
		t.Fatal(err)
	}
	g := &gone{T: t, loop: l}
	g.decides()
	admin := connect(t, first.url("public"))
	for _, sql := range []string{"ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()"} {
		if _, err := admin.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	for mode := ""; mode != "on"; {
		if err := pool.QueryRow(t.Context(), "SHOW default_transaction_read_only").Scan(&mode); err != nil {
			t.Fatal(err)
		}
	}
	g.fails()
	g.decides()
}

// A full disk is a small file system in memory, which takes root.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("/tmp", "pg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(dir) })
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=96m", "ralph-test", dir).CombinedOutput(); err != nil {
		t.Skipf("no small file system can be mounted: %s", out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", dir).Run() })
	server := private(t, dir)
	g, s := server.gone(t)
	g.decides()
	if err := fill(filepath.Join(dir, "ballast")); err != nil {
		t.Fatal(err)
	}
	sessions := 0
	for ; sessions < 10_000; sessions++ { // each new one needs more room
		if !g.run(fmt.Sprint(sessions)) {
			break
		}
	}
	if sessions == 10_000 {
		t.Error("no decision failed with a full disk")
	}
	if err := os.Remove(filepath.Join(dir, "ballast")); err != nil {
		t.Fatal(err)
	}
	_ = server.up() // without room for its log it has ended
	for i := range sessions {
		if n := total(t, s, "acme", fmt.Sprint(i)); n != 1 {
			t.Errorf("session %d was continued once and is counted %d times", i, n)
		}
	}
	g.decides()
	g.counted(s, 0)
}

// fill writes a file until there is no room.
func fill(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	for size := 1 << 20; size > 0; size /= 2 {
		for err == nil {
			_, err = io.CopyN(f, zeros{}, int64(size))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			return err
		}
		err = nil
	}
	return nil
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }
