package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ralph-sdk/ralph/loop"
)

// writeCommand is write FILE CONTENT of a script. The file is old: one that was just written and is invalid is read again.
func writeCommand(ts *testscript.TestScript, _ bool, args []string) {
	path, old := ts.MkAbs(args[0]), time.Now().Add(-time.Hour)
	ts.Check(os.WriteFile(path, []byte(args[1]), 0o644))
	ts.Check(os.Chtimes(path, old, old))
}

// eventCommand is event POLICY[,POLICY] EVENT WANT of a script. It calls the hook of the policies with an event, which is of the session s
// and of the directory of the script unless it names others, after the time $after. WANT is a regular expression for all that comes of it:
// the decisions, "OUTCOME by RULE; …", then the reason for the agent after ": ", the notice to the person after " ! ", stderr after " # ".
func eventCommand(ts *testscript.TestScript, _ bool, args []string) {
	fields := map[string]any{"session_id": "s", "cwd": ts.MkAbs(".")}
	ts.Check(json.Unmarshal([]byte(args[1]), &fields))
	in, err := json.Marshal(fields)
	ts.Check(err)
	after := time.Duration(0)
	if s := ts.Getenv("after"); s != "" {
		after, err = time.ParseDuration(s)
		ts.Check(err)
	}
	hook := []string{"eval"}
	for _, policy := range strings.Split(args[0], ",") {
		hook = append(hook, "--policy", policy)
	}
	log := filepath.Join(ts.Getenv("RALPH_STATE_DIR"), "decisions.jsonl")
	before, err := decisions(log)
	ts.Check(err)
	var stdout, stderr bytes.Buffer
	now := time.Date(2025, 11, 3, 9, 0, 0, 0, time.UTC).Add(after)
	a := &app{stdin: bytes.NewReader(in), stdout: &stdout, stderr: &stderr, getenv: ts.Getenv, now: func() time.Time { return now }}
	if status := a.run(context.Background(), hook); status != exitOK {
		ts.Fatalf("the status is %d", status)
	}
	var answer struct{ Decision, Reason, SystemMessage string }
	if stdout.Len() > 0 {
		ts.Check(json.Unmarshal(stdout.Bytes(), &answer))
	}
	if (answer.Decision == "block") != (answer.Reason != "") {
		ts.Fatalf("the answer is %s", stdout.String())
	}
	all, err := decisions(log)
	ts.Check(err)
	got := strings.Join(all[len(before):], "; ")
	for _, x := range [][2]string{{": ", answer.Reason}, {" ! ", answer.SystemMessage}, {" # ", stderr.String()}} {
		if s := strings.TrimSpace(x[1]); s != "" {
			got += x[0] + s
		}
	}
	if !regexp.MustCompile("^(" + args[2] + ")$").MatchString(got) {
		ts.Fatalf("want %s\ngot  %s", args[2], got)
	}
}

// decisions returns those of a log, "OUTCOME by RULE". A line that is torn is an error.
func decisions(log string) (all []string, err error) {
	src, err := os.ReadFile(log)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	for line := range bytes.Lines(src) {
		var r loop.Record
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("%w: %s", err, line)
		}
		all = append(all, string(r.Outcome)+by(r.Rule))
	}
	return all, nil
}
