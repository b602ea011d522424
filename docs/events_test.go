package docs_test

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/reference"
	"github.com/ralph-sdk/ralph/internal/vocab"
)

// The page about events says what the hook inputs become that the hosts are tested with.
func TestEventsPage(t *testing.T) {
	type sender struct{ host, name string }
	senders := map[string][]sender{}
	for _, known := range host.Names() {
		inputs, err := filepath.Glob(filepath.Join(root(t), "host", "testdata", known, "*.txtar"))
		if err != nil || len(inputs) == 0 {
			t.Fatalf("there are no inputs of %s: %v", known, err)
		}
		for _, file := range inputs {
			input := recordedInput(t, file)
			h, ok := host.Lookup(known)
			if !ok {
				t.Fatalf("there is no host %s", known)
			}
			ev, err := h.Decode(input)
			if err != nil {
				continue // an input that is broken on purpose
			}
			var names struct {
				Snake string `json:"hook_event_name"`
				Camel string `json:"hookEventName"`
				Goose string `json:"event"`
			}
			if err := json.Unmarshal(input, &names); err != nil {
				continue
			}
			s := sender{known, cmp.Or(names.Snake, names.Camel, names.Goose)}
			if !slices.Contains(senders[ev.Name], s) {
				senders[ev.Name] = append(senders[ev.Name], s)
			}
		}
	}
	p := reference.New(t, "events", "Events and hosts")
	p.Text("The events that a policy can list under `events`, and the hosts whose inputs the tests of ralph have. Policies see Claude Code's names on every host. " +
		"A host may send an event under further names, which [hosts](../hosts.md) lists. [Events and gates](../policy.md#events-and-gates) says what rules decide, " +
		"and [hosts](../hosts.md) where the hooks are set up.")
	for _, event := range vocab.Events() {
		p.Section(2, event)
		rows := [][]string{{"host", "the host's own name"}}
		for _, s := range senders[event] {
			own := "the input does not name it"
			if s.name != "" {
				own = reference.Code(s.name)
			}
			rows = append(rows, []string{reference.Code(s.host), own})
		}
		if len(rows) == 1 {
			t.Errorf("no host sends %s", event)
		}
		p.Table(rows...)
		delete(senders, event)
	}
	delete(senders, host.Unnamed)
	for event := range senders {
		t.Errorf("the inputs of hosts have %s, which no policy can list", event)
	}
	p.Section(2, "Other events")
	p.Text("Hosts send other events too, such as `SessionStart` and `PreToolUse`. No policy decides them: ralph reads nothing and answers nothing.")
	p.Check()
}

// recordedInput is the file input.json of an archive.
func recordedInput(t *testing.T, file string) []byte {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(strings.ReplaceAll(string(src), "\r\n", "\n"), "-- input.json --\n")
	if !ok {
		t.Fatalf("%s has no input.json", file)
	}
	input, _, _ := strings.Cut(after, "\n-- ")
	return []byte(input)
}
