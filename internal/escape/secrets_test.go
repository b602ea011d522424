package escape_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/internal/escape"
)

func TestSecrets(t *testing.T) {
	type words []string
	for _, c := range []struct {
		args, want words
		secret     bool
	}{
		{words{"claude", "-p", "fix a = b", "--max-turns", "5"}, nil, false},
		{words{"env", "NAME=v w", "claude", "--model=opus"}, words{"env", "NAME=…", "claude", "--model=…"}, false},
		{words{"env", "API_KEY=v w"}, words{"env", "API_KEY=…"}, true},
		{words{"sh", "-c", "X=1 TOKEN=2 claude"}, words{"sh", "-c", "X=…"}, true},
		{words{"sh", "-c", "claude --api-key v -p"}, words{"sh", "-c", "claude --api-key …"}, true},
		{words{"a", "--api-key", "v", "-p"}, words{"a", "--api-key", "…", "-p"}, true},
		{words{"a", "--auth-token=v"}, words{"a", "--auth-token=…"}, true},
		{words{"a", "-password", "v"}, words{"a", "-password", "…"}, true},
		{words{"a", "--no-auth", "-p"}, nil, false},
		{words{"curl", "-H", "Authorization: Bearer v"}, words{"curl", "-H", "Authorization: …"}, true},
		{words{"a", "--header", "bearer v"}, words{"a", "--header", "bearer …"}, true},
		{words{"a", "Bearer", "v"}, words{"a", "Bearer", "…"}, true},
		{words{"a", `{"api_key": "v"}`}, words{"a", `{"api_key": …`}, true},
		{words{"a", "https://user:v@host/x"}, words{"a", "https://…"}, true},
		{words{"a", "http://localhost:8080/x"}, nil, false},
	} {
		if c.want == nil {
			c.want = c.args
		}
		shown, secret := escape.Secrets(c.args)
		if diff := cmp.Diff([]string(c.want), shown); diff != "" || secret != c.secret {
			t.Errorf("%q: secret %v, -want +got\n%s", c.args, secret, diff)
		}
	}
}
