// Package view shows what a project does as one page in a browser: what runs, and each decision with its reasons.
//
// It promises that only the browser that opened the address first sees the page, that nothing of a policy, an agent or a request is taken
// for HTML or for a path, and that it changes nothing. It leaves out what the log leaves out: no text of an agent and no value of a fact
// is shown that the log does not keep. The page asks for new data every two seconds while it is visible.
//
// Begin with [Open], then [Listen] to serve the page, or [File] to write it as one file.
package view

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// Server is the page at an address of this machine. It is safe for concurrent use.
type Server struct {
	read     func(context.Context) Data
	listener net.Listener
	address  string // host and port
	token    string // of the address that is opened first
	used     atomic.Bool
	cookie   string // its name
	secret   string // its value
}

// Listen returns a server of what read returns, on a free port of 127.0.0.1. Call Serve, which closes it.
func Listen(read func(context.Context) Data) (*Server, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("the page cannot be served: %w", err)
	}
	address := l.Addr().String()
	_, port, err := net.SplitHostPort(address)
	return &Server{read: read, listener: l, address: address, token: rand.Text(), cookie: "ralph_" + port, secret: rand.Text()}, err
}

// URL returns the address that opens the page, in one browser.
func (s *Server) URL() string { return "http://" + s.address + "/?t=" + s.token }

// Serve answers requests until ctx is done.
func (s *Server) Serve(ctx context.Context) error {
	server := &http.Server{
		Handler: s, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })() // what is under way only reads
	if err := server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// ServeHTTP answers a request: the page, its data, or why not.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range map[string]string{
		"Content-Security-Policy": contentPolicy("'self'") + "; frame-ancestors 'none'", "X-Content-Type-Options": "nosniff",
		"Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		"Cache-Control": "no-store",
	} {
		w.Header().Set(name, value)
	}
	if !s.admits(w, r) {
		return
	}
	switch r.URL.Path {
	case "/":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(page("'self'", []byte("null")))
	case "/data":
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(s.read(r.Context()).json())
	default:
		refuse(w, http.StatusNotFound, "there is one page, at /")
	}
}
