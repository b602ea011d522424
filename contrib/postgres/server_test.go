//go:build unix

package postgres_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ralph-sdk/ralph/contrib/postgres"
)

// db is the server of the tests, and missing why there is none.
var (
	db      *server
	missing error
)

// TestMain starts PostgreSQL. Without it, only the test runs that says why. The program is also the processes of tests.
func TestMain(m *testing.M) {
	if os.Getenv(urlVariable) != "" {
		if err := work(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	flag.Parse()
	if db, missing = start(); missing != nil {
		_ = errors.Join(flag.Set("test.run", "^TestServer$"), flag.Set("test.bench", "^$"))
	} else {
		_ = os.Setenv("DATABASE_URL", db.url("public")) // of the example
	}
	status := m.Run()
	if db != nil {
		_ = db.watch.Close()
		_ = db.watcher.Wait()
	}
	os.Exit(status)
}

func TestServer(t *testing.T) {
	if missing != nil {
		t.Skip("skipped: PostgreSQL cannot be started: ", missing)
	}
}

// server is a PostgreSQL in a directory of its own, on a port of the loopback interface.
type server struct {
	dir, bin, port string
	as             *syscall.SysProcAttr // PostgreSQL refuses to run as root
	watch          io.Closer            // closed, also by the end of this process: ends the server
	watcher        *exec.Cmd
}

func start() (*server, error) {
	bins, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if found, err := exec.LookPath("initdb"); err == nil {
		bins = append(bins, found)
	}
	if len(bins) == 0 {
		return nil, errors.New("initdb is neither in /usr/lib/postgresql/*/bin nor in the PATH; install the package postgresql")
	}
	dir, err := os.MkdirTemp("/tmp", "pg") // also for a socket, whose path has at most 107 bytes
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	s := &server{dir: dir, bin: filepath.Dir(bins[0]), port: port}
	if os.Getuid() == 0 {
		u, err := user.Lookup("postgres")
		if err != nil {
			return nil, err
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		s.as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		if err := errors.Join(os.Chmod(dir, 0o755), os.Chown(dir, uid, gid)); err != nil {
			return nil, err
		}
	}
	if err := s.command("initdb", "-U", "ralph", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C"); err != nil {
		return nil, err
	}
	if err := s.up(); err != nil {
		return nil, err
	}
	s.watcher = exec.Command("sh", "-c", `trap "" INT TERM HUP; read x; "$0/pg_ctl" -D "$1/data" -m immediate stop; rm -rf "$1"/*; rmdir "$1"`, s.bin, dir)
	s.watcher.SysProcAttr, s.watcher.Dir = s.as, dir
	s.watch, err = s.watcher.StdinPipe()
	return s, errors.Join(err, s.watcher.Start())
}

func (s *server) command(name string, args ...string) error {
	cmd := exec.Command(filepath.Join(s.bin, name), append([]string{"-D", filepath.Join(s.dir, "data")}, args...)...)
	cmd.SysProcAttr, cmd.Dir = s.as, s.dir
	var log strings.Builder
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.WaitDelay = 1 // the server keeps them open
	if err := cmd.Run(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return fmt.Errorf("%s: %w\n%s", name, err, log.String())
	}
	return nil
}

func (s *server) up() error {
	return s.command("pg_ctl", "-w", "-l", filepath.Join(s.dir, "log"), "-o", "-h 127.0.0.1 -p "+s.port+" -k "+s.dir, "start")
}

// down ends the server, as if its machine were switched off.
func (s *server) down() error { return s.command("pg_ctl", "-w", "-m", "immediate", "stop") }

func (s *server) url(schema string) string {
	return fmt.Sprintf("postgres://ralph@127.0.0.1:%s/postgres?search_path=%s&pool_max_conns=16", s.port, schema)
}

var schemas atomic.Int64

// empty makes a schema without tables, and returns its URL.
func empty(tb testing.TB) string {
	tb.Helper()
	schema := fmt.Sprint("s", schemas.Add(1))
	if _, err := connect(tb, db.url("public")).Exec(tb.Context(), "CREATE SCHEMA "+schema); err != nil {
		tb.Fatal(err)
	}
	return db.url(schema)
}

func connect(tb testing.TB, url string) *pgxpool.Pool {
	tb.Helper()
	pool, err := pgxpool.New(context.Background(), url)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(pool.Close)
	return pool
}

func open(tb testing.TB, url string) *postgres.Store {
	tb.Helper()
	s, err := postgres.Open(tb.Context(), connect(tb, url))
	if err != nil {
		tb.Fatal(err)
	}
	return s
}
