//go:build unix

package main

import (
	"bufio"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// view prints an address, at which the page and each new decision are, until Ctrl-C.
func TestView(t *testing.T) {
	b := &bench{t: t, dir: t.TempDir()}
	b.write(".ralph/policy.yaml", "ralph: 1\nrules:\n  - {name: go, continue: next}\n")
	ralph := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "ralph", args...)
		cmd.Dir, cmd.Stdin = b.dir, strings.NewReader(event)
		cmd.Env = append(os.Environ(), "RALPH_STATE_DIR="+b.dir+"-state")
		return cmd
	}
	view := ralph("view")
	out, err := view.StdoutPipe()
	if err == nil {
		err = view.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url := strings.TrimSpace(line)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	get := func(url string) string {
		r, err := browser.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	if page := get(url); !strings.HasPrefix(page, "<!doctype html>") {
		t.Errorf("%s is %s", url, page)
	}
	base, _, _ := strings.Cut(url, "?")
	for n := range 3 {
		if data := get(base + "data"); strings.Count(data, `"rule":"go","reason":"next"`) != n {
			t.Errorf("after %d decisions: %s", n, data)
		}
		if err := ralph("eval").Run(); err != nil {
			t.Fatal(err)
		}
	}
	browser.CloseIdleConnections()
	if err := view.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := view.Wait(); err != nil {
		t.Errorf("after Ctrl-C: %v", err)
	}
}
