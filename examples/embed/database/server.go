package database

import (
	"context"
	"database/sql"
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"testing/fstest"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// Server decides by policies that its tenants write and that it does not trust:
//
//	PUT /TENANT             the body is the policy of the tenant
//	POST /TENANT/SESSION    the body is a JSON object with the facts of an event; the answer has action and reason
//
// A policy declares the facts of a request as inputs, and reads nothing else: no file, no variable, no program. Its size,
// and the time and work of each decision, have limits.
type Server struct {
	store *Store
	loops sync.Map   // of *loop.Loop, by tenant
	puts  sync.Mutex // held while one changes
}

// NewServer returns a server that keeps memories in a database.
func NewServer(ctx context.Context, db *sql.DB) (*Server, error) {
	store, err := NewStore(ctx, db)
	return &Server{store: store}, err
}

// Handler serves the requests.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /{tenant}", s.put)
	mux.HandleFunc("POST /{tenant}/{session}", s.decide)
	return mux
}

// put makes the loop of a tenant, or replaces its policy. The memories of its sessions stay.
func (s *Server) put(w http.ResponseWriter, r *http.Request) {
	policy, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<10))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	tenant, files := r.PathValue("tenant"), fstest.MapFS{"policy.yaml": {Data: policy}}
	s.puts.Lock()
	defer s.puts.Unlock()
	var found rules.Diagnostics
	if l, ok := s.loops.Load(tenant); ok {
		found = l.(*loop.Loop).Reload(r.Context(), files, "policy.yaml")
	} else if l, diags := loop.Load(r.Context(), files, "policy.yaml", s.options(tenant)...); l != nil {
		s.loops.Store(tenant, l)
	} else {
		found = diags
	}
	if found.Err() != nil {
		http.Error(w, found.Err().Error(), http.StatusUnprocessableEntity)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// options limit what the policy of a tenant may use, how large it may be, and what a decision may cost.
func (s *Server) options(tenant string) []loop.Option {
	return []loop.Option{
		loop.WithAllow(rules.Capabilities{Sources: []string{"input"}, Names: []string{"session_id"}}),
		loop.WithLimits(rules.LoadLimits{Nodes: 10_000, Patterns: 20_000}),
		loop.WithStore(s.store), loop.WithScope(tenant), // all tenants share it, and none counts what another does
		loop.WithBudget(rules.Budget{Steps: 100_000}),
		loop.WithDeadline(5 * time.Second),
		loop.WithEnv(func(string) string { return "" }), // that of the server is not for tenants
	}
}

// decide answers with what the policy of the tenant decides.
func (s *Server) decide(w http.ResponseWriter, r *http.Request) {
	l, ok := s.loops.Load(r.PathValue("tenant"))
	if !ok {
		http.Error(w, "the tenant has no policy", http.StatusNotFound)
		return
	}
	var facts map[string]any
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&facts); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	d, err := l.(*loop.Loop).Run(r.Context(), host.Event{SessionID: r.PathValue("session"), Values: facts})
	if err != nil && !d.Verdict.Cause.Undecided() { // it may succeed later, or with another event
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	answer := map[string]string{"action": d.Verdict.Action.String(), "reason": d.Verdict.Reason}
	if d.Outcome() == loop.Failed { // the policy could not judge
		answer["cause"] = string(d.Cause())
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // the client is gone
}
