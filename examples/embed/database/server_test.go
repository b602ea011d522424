package database_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-sdk/ralph/examples/embed/database"
)

// Tenants bring policies, replace them, and send facts. Their memories are in one database, which other
// servers can share, and stay when a policy is replaced.
func ExampleServer() {
	dir, err := os.MkdirTemp("", "server")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	db, err := open(filepath.Join(dir, "app.db"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	s, err := database.NewServer(context.Background(), db)
	if err != nil {
		fmt.Println(err)
		return
	}
	server := httptest.NewServer(s.Handler())
	defer server.Close()

	send := func(method, path, body string) {
		request, _ := http.NewRequest(method, server.URL+path, strings.NewReader(body))
		response, err := server.Client().Do(request)
		if err != nil {
			fmt.Println(err)
			return
		}
		defer response.Body.Close()
		text, _ := io.ReadAll(response.Body)
		fmt.Println(strings.TrimSpace(fmt.Sprint(response.StatusCode, " ", string(text))))
	}
	send("PUT", "/evil", `ralph: 1
facts: {users: {text: /etc/passwd}}
rules: [{name: leak, continue: "${users}"}]
`)
	send("PUT", "/busy", `ralph: 1
rules: [{name: spin, when: "any(1..9000, count(1..9000, true) < 0)", continue: Go on.}]
`)
	send("POST", "/busy/s1", "{}")
	send("PUT", "/acme", `ralph: 1
facts: {left: {input: {type: integer}}}
limits: {continuations: 2}
rules: [{name: left, when: left > 0, continue: "${left} targets are left."}]
`)
	for range 3 {
		send("POST", "/acme/s1", `{"left": 4}`)
	}
	send("PUT", "/acme", `ralph: 1
facts: {left: {input: {type: integer}}}
limits: {continuations: 3}
rules: [{name: left, when: left > 0, continue: "Now only ${left} are left."}]
`)
	for range 2 {
		send("POST", "/acme/s1", `{"left": 3}`)
	}
	send("PUT", "/acme", `ralph: 1
rules: [{name: leak, continue: "${env.HOME}"}]
`)
	send("POST", "/acme/s2", `{"left": 2}`) // the old policy decides
	send("POST", "/acme/s2", `{"left": "many"}`)
	send("POST", "/acme/s2", `{"lefft": 4}`)
	// Output:
	// 422 policy.yaml:2:9: the policy may not use the source "text"
	// policy.yaml:2:23: the policy may not use the path "/etc/passwd"
	// 204
	// 200 {"action":"stop","cause":"budget","reason":"the evaluation takes too many steps"}
	// 204
	// 200 {"action":"continue","reason":"4 targets are left."}
	// 200 {"action":"continue","reason":"4 targets are left."}
	// 200 {"action":"stop","reason":"the limit of 2 continuations per prompt is reached"}
	// 204
	// 200 {"action":"continue","reason":"Now only 3 are left."}
	// 200 {"action":"stop","reason":"the limit of 3 continuations per prompt is reached"}
	// 422 policy.yaml:2:35: the policy may not use the name "env.HOME"
	// 200 {"action":"continue","reason":"Now only 2 are left."}
	// 200 {"action":"stop","cause":"fact","reason":"the rule left is undecided: left is invalid: is \"many\", expected integer"}
	// 503 the value "lefft" is neither a fact of the policy policy.yaml nor one of ralph's names
}
