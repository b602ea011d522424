//go:build hosts

package hosttest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/run"
)

// Claude Code reports how much of a subscription's usage windows is used, and the run ends at its limit.
func TestRunWindow(t *testing.T) {
	s := newScene(t, claude)
	s.script = func(request) reply { return reply{text: "Hello there."} }
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reset := fmt.Sprint(time.Now().Add(time.Hour).Unix())
		for name, value := range map[string]string{
			"status": "allowed", "reset": reset, "representative-claim": "five_hour", "5h-status": "allowed", "5h-reset": reset, "5h-utilization": "0.83",
			"7d-status": "allowed", "7d-reset": reset, "7d-utilization": "0.2",
		} {
			w.Header().Set("anthropic-ratelimit-unified-"+name, value)
		}
		s.ServeHTTP(w, r)
	}))
	t.Cleanup(h.Close)
	s.env = append(s.env, "ANTHROPIC_BASE_URL="+h.URL, "ANTHROPIC_API_KEY=", "CLAUDE_CODE_OAUTH_TOKEN=made-up")
	outcomes, end, all := s.loop(t.Context(), run.Claude(), []string{"-p"}, run.WithLimits(run.Limits{Window: 80}))
	if diff := cmp.Diff([]run.Outcome{run.OK}, outcomes); diff != "" || end.Ended != run.AtLimit || end.Limit != "window" || all[0].Window != 83 {
		t.Errorf("it ends with %+v after %+v (-want +got)\n%s", end, all, diff)
	}
}
