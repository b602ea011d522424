//go:build hosts

package hosttest

import (
	"strings"
	"testing"
)

// Each client reaches the scripted model and ends by itself.
func TestClient(t *testing.T) {
	for _, c := range all {
		t.Run(c.host, func(t *testing.T) {
			s := newScene(t, c)
			s.trust()
			r := s.run("Say hello.", func(request) reply { return reply{text: "Hello there."} })
			if r.status != 0 || len(s.asked) != 1 || !strings.Contains(s.asked[0].last, "Say hello.") || !strings.Contains(r.out, "Hello there.") {
				t.Errorf("status %d, %d requests, other requests: %q\n%s", r.status, len(s.asked), s.others, r.out)
			}
		})
	}
}
