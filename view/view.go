// Package view shows what a project has done as a page in a browser: live from a server on this machine, or as one
// file. It may change in any version.
//
// Start with [New], and call [Server.Serve] on its result. [Write] writes the file. Both only read: their data comes
// from package project, and nothing in a request, decision or policy is used as a path.
package view

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ralph-sdk/ralph/project"
)

// Config configures the page.
type Config struct {
	Project *project.Project // one without a directory shows only the decisions of all projects
	Version string           // of ralph
	Home    string           // the user's home directory
	Session string           // ID of the session to show first, "" for all
	Run     string           // ID of the run to show first, "" for none
	Now     func() time.Time // default: time.Now

	// For a server.
	Port       int           // on 127.0.0.1; 0 is any free port
	AllowHosts []string      // other names of the server, as the address bar of a browser shows them, such as localhost:8080
	Idle       time.Duration // without a request or an open page until the server ends; 0 is forever
}

// Server is a page on 127.0.0.1.
type Server struct {
	data     *data
	guard    *guard
	listener net.Listener
	idle     time.Duration
	open     atomic.Int64 // requests under way
	latest   atomic.Int64 // when the latest request ended, in Unix nanoseconds
}

// New returns a server that listens on 127.0.0.1, after reading the latest decisions. Call Serve, which closes it.
func New(c Config) (*Server, error) {
	data, err := newData(c)
	if err != nil {
		return nil, err
	}
	ln, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(c.Port)))
	if err != nil {
		return nil, fmt.Errorf("the page cannot be served: %w", err)
	}
	return &Server{data: data, guard: newGuard(ln.Addr().String(), c.AllowHosts), listener: ln, idle: c.Idle}, nil
}

// URL returns the address that opens the page, once: its token is valid for one browser.
func (s *Server) URL() string { return "http://" + s.guard.address + "/?t=" + s.guard.token }

// Serve answers requests until ctx is done, or until the page was not used for Config.Idle.
func (s *Server) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx }, // streams end with it
	}
	s.latest.Store(time.Now().UnixNano())
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() { s.data.rows.read(ctx, s.data.Project) })
	all.Go(func() {
		defer cancel()
		s.wait(ctx)
		_ = server.Close() // what is under way only reads
	})
	err := server.Serve(s.listener)
	cancel()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// wait returns when ctx is done or the page was not used for long enough.
func (s *Server) wait(ctx context.Context) {
	for left := s.idle; ; {
		var timer <-chan time.Time
		if s.idle > 0 {
			timer = time.After(left)
		}
		select {
		case <-ctx.Done():
			return
		case <-timer:
		}
		if left = s.idle - time.Since(time.Unix(0, s.latest.Load())); s.open.Load() > 0 {
			left = s.idle
		} else if left <= 0 {
			return
		}
	}
}

// ServeHTTP answers a request, if the guard lets it pass.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.guard.admits(w, r) {
		return
	}
	s.open.Add(1)
	defer func() {
		s.latest.Store(time.Now().UnixNano())
		s.open.Add(-1)
	}()
	s.route(w, r)
}
