//go:build unix

package postgres_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ralph-sdk/ralph/stores/postgres"
)

// shared is the server of all tests that do not break theirs, and missing why there is none.
var (
	shared  *server
	missing error
)

// TestMain starts PostgreSQL. Without it, only the test runs that shows why.
func TestMain(m *testing.M) {
	if os.Getenv(workVariable) != "" {
		os.Exit(work(os.Stdin, os.Stdout))
	}
	flag.Parse()
	if shared, missing = start(""); missing != nil {
		_ = errors.Join(flag.Set("test.run", "^TestServer$"), flag.Set("test.bench", "^$"))
	} else {
		_ = os.Setenv("DATABASE_URL", shared.url("public")) // of the example
	}
	status := m.Run()
	if shared != nil {
		shared.end()
	}
	os.Exit(status)
}

func TestServer(t *testing.T) {
	if missing != nil {
		t.Skip("PostgreSQL cannot be started: ", missing)
	}
}

// server is a PostgreSQL of the tests, on a socket in a directory of its own.
type server struct {
	dir, bin string
	as       *syscall.SysProcAttr // PostgreSQL refuses to run as root
	watch    io.Closer            // closed, also by the end of this process: ends the server
	watcher  *exec.Cmd
}

// start starts a server in an empty directory, "" for a temporary one.
func start(dir string) (s *server, err error) {
	bins, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	slices.SortFunc(bins, func(a, b string) int { return major(b) - major(a) })
	if found, err := exec.LookPath("initdb"); err == nil {
		bins = append(bins, found)
	}
	if len(bins) == 0 {
		return nil, errors.New("initdb is neither in /usr/lib/postgresql/*/bin nor in the PATH; install the package postgresql")
	}
	s = &server{dir: dir, bin: filepath.Dir(bins[0])}
	if s.dir == "" {
		if s.dir, err = os.MkdirTemp("/tmp", "pg"); err != nil { // the path of a socket has at most 107 bytes
			return nil, err
		}
	}
	if os.Getuid() == 0 {
		u, err := user.Lookup("postgres")
		if err != nil {
			return nil, err
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		s.as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		if err := errors.Join(os.Chmod(s.dir, 0o755), os.Chown(s.dir, uid, gid)); err != nil {
			return nil, err
		}
	}
	if err := s.command("initdb", "-D", s.data(), "-U", "ralph", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C", "--wal-segsize=1"); err != nil {
		return nil, err
	}
	if err := s.up(); err != nil {
		return nil, err
	}
	s.watcher = exec.Command("sh", "-c", `read x; "$0/pg_ctl" -D "$1/data" -m immediate stop; rm -rf "$1"/*; rmdir "$1"`, s.bin, s.dir)
	s.watcher.SysProcAttr, s.watcher.Dir = s.as, s.dir
	s.watch, err = s.watcher.StdinPipe()
	return s, errors.Join(err, s.watcher.Start())
}

// major returns the version in the path of a program of Debian.
func major(path string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
	return n
}

func (s *server) data() string { return filepath.Join(s.dir, "data") }

func (s *server) command(name string, args ...string) error {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.SysProcAttr, cmd.Dir = s.as, s.dir
	var log strings.Builder
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.WaitDelay = 1 // the server keeps them open
	if err := cmd.Run(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return fmt.Errorf("%s: %w\n%s", name, err, log.String())
	}
	return nil
}

// up starts the server that was stopped.
func (s *server) up() error {
	return s.command("pg_ctl", "-w", "-D", s.data(), "-l", filepath.Join(s.dir, "log"),
		"-o", "-c listen_addresses='' -c unix_socket_directories="+s.dir, "start")
}

// down stops it, as if its machine were switched off.
func (s *server) down() error {
	return s.command("pg_ctl", "-w", "-D", s.data(), "-m", "immediate", "stop")
}

// end stops it and removes its directory.
func (s *server) end() {
	_ = s.watch.Close()
	_ = s.watcher.Wait()
}

// url returns the URL of a schema.
func (s *server) url(schema string) string {
	return fmt.Sprintf("postgres:///postgres?host=%s&user=ralph&search_path=%s", s.dir, schema)
}

// signal sends a signal to all processes of the server.
func (s *server) signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	main, _, _ := strings.Cut(string(file), "\n")
	children, err := exec.Command("ps", "-o", "pid=", "--ppid", main).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range append(strings.Fields(string(children)), main) {
		pid, err := strconv.Atoi(word)
		if err == nil {
			err = syscall.Kill(pid, sig)
		}
		if err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
	}
}

// private starts a server that the test may break.
func private(t *testing.T, dir string) *server {
	t.Helper()
	s, err := start(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.end)
	return s
}

var schemas atomic.Int64

// empty creates a schema and returns its URL.
func (s *server) empty(tb testing.TB) string {
	tb.Helper()
	name := fmt.Sprintf("test%d", schemas.Add(1))
	if _, err := connect(tb, s.url("public")).Exec(context.Background(), "CREATE SCHEMA "+name); err != nil {
		tb.Fatal(err)
	}
	return s.url(name)
}

// connect opens a pool, which the test may configure.
func connect(tb testing.TB, url string, change ...func(*pgxpool.Config)) *pgxpool.Pool {
	tb.Helper()
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		tb.Fatal(err)
	}
	config.MaxConns = 16
	for _, c := range change {
		c(config)
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(pool.Close)
	return pool
}

// open returns the store in the schema of a pool.
func open(tb testing.TB, pool *pgxpool.Pool) *postgres.Store {
	tb.Helper()
	if err := postgres.Migrate(context.Background(), pool); err != nil {
		tb.Fatal(err)
	}
	s, err := postgres.Open(context.Background(), pool)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}
