package embed_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// service decides over HTTP for tenants, each with a policy of its own. Tenants share one store.
type service struct {
	store loop.Store
	mu    sync.RWMutex
	loops map[string]*loop.Loop // by tenant
}

// put loads or replaces the policy of a tenant. What it reaches and how often it continues is the service's to say.
func (s *service) put(tenant string, policy []byte) error {
	l, err := loop.Load(fstest.MapFS{"policy.yaml": {Data: policy}}, "policy.yaml",
		loop.WithStore(s.store),
		loop.WithScope(tenant), // its sessions are not those of another
		loop.WithAllow(),       // no program, no model, no variable, no file
		loop.WithCeilings(rules.Limits{Continuations: 50, Total: 500, Elapsed: time.Hour}),
		loop.WithDeadline(2*time.Second))
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loops[tenant] = l
	return nil
}

// ServeHTTP decides one event: POST /TENANT with {"id", "session", "message", "state"}.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		ID, Session, Message string
		State                json.RawMessage // it is validated by the schema of the policy
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&in); err != nil || in.Session == "" {
		http.Error(w, "write a JSON object with a session", http.StatusBadRequest)
		return
	}
	s.mu.RLock()
	l := s.loops[strings.TrimPrefix(r.URL.Path, "/")]
	s.mu.RUnlock()
	if l == nil {
		http.NotFound(w, r)
		return
	}
	d, _ := l.Decide(r.Context(), loop.Event{ID: in.ID, Session: in.Session, Message: in.Message, Values: map[string]any{"state": in.State}})
	if fault := new(loop.Fault); errors.As(d.Err, &fault) { // nothing was decided
		status := http.StatusInternalServerError
		if fault.Again { // such as a store that is down
			status = http.StatusServiceUnavailable
		}
		http.Error(w, fault.Error(), status)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"continue": d.Continue(), "outcome": d.Outcome, "reason": d.Reason})
}

// A delivery that comes twice, here "e1", gets the same answer and counts once.
func Example_service() {
	s := &service{store: loop.Map(), loops: map[string]*loop.Loop{}}
	err := s.put("acme", []byte(`ralph: 1
facts:
  state: {value: state, schema: {required: [left], properties: {left: {type: integer}}}}
limits: {continuations: 2}
rules:
  - {name: done, when: state.left == 0, done: nothing is left}
  - {name: more, when: state.left > 0, continue: "${state.left} are left."}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, body := range []string{
		`{"id": "e1", "session": "s1", "state": {"left": 2}}`,
		`{"id": "e1", "session": "s1", "state": {"left": 2}}`,
		`{"id": "e2", "session": "s1", "state": {"left": "two"}}`,
		`{"id": "e3", "session": "s1", "state": {"left": 0}}`,
		`{"id": "late", "session": "s1", "state": {"left": 0}}`,
	} {
		ctx, cancel := context.WithCancel(context.Background())
		if strings.Contains(body, "late") {
			cancel()
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "POST", "/acme", strings.NewReader(body)))
		cancel()
		fmt.Print(w.Code, " ", w.Body)
	}
	// Output:
	// 200 {"continue":true,"outcome":"continued","reason":"2 are left."}
	// 200 {"continue":true,"outcome":"continued","reason":"2 are left."}
	// 200 {"continue":false,"outcome":"failed","reason":"rule done (line 6): state: left must be a whole number, and is \"two\""}
	// 200 {"continue":false,"outcome":"done","reason":"nothing is left"}
	// 503 it was not decided in time (context canceled)
}

// Tenants with sessions of the same name, policies that are replaced meanwhile, and one that is broken: each tenant's limit holds exactly.
func TestService(t *testing.T) {
	const tenants, senders, posts = 4, 16, 10
	s := &service{store: loop.Map(), loops: map[string]*loop.Loop{}}
	policy := func(limit int) []byte {
		return fmt.Appendf(nil, "ralph: 1\nfacts: {state: {value: state}}\nlimits: {continuations: %d}\nrules: [{name: more, continue: Go on.}]\n", limit)
	}
	var wg sync.WaitGroup
	continued := make([]atomic.Int64, tenants)
	for tenant := range tenants {
		name, limit := fmt.Sprint("t", tenant), 5*(tenant+1)
		if err := s.put(name, policy(limit)); err != nil {
			t.Fatal(err)
		}
		for range senders {
			wg.Go(func() {
				for i := range posts {
					w := httptest.NewRecorder()
					s.ServeHTTP(w, httptest.NewRequest("POST", "/"+name, strings.NewReader(`{"session": "s1", "state": {}}`)))
					if strings.Contains(w.Body.String(), `"continue":true`) {
						continued[tenant].Add(1)
					}
					if err := s.put(name, policy(limit)); err != nil || i == 0 && s.put(name, []byte("ralph: 2")) == nil {
						t.Errorf("put: %v", err)
					}
				}
			})
		}
	}
	wg.Wait()
	for tenant := range tenants {
		if got, want := continued[tenant].Load(), int64(5*(tenant+1)); got != want {
			t.Errorf("tenant %d was continued %d times, and its limit is %d", tenant, got, want)
		}
	}
}
