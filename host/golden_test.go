package host

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

var update = flag.Bool("update", false, "write what the hosts do now into testdata")

// One archive for each input, in the directory of the host that sends it: the input as hosts send it, the event that it becomes, and
// the answers.
func TestHosts(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	seen := map[string]bool{}
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))
		seen[name] = true
		t.Run(strings.TrimSuffix(file, ".txtar"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			about, rest, _ := strings.Cut(string(want), "-- input.json --\n")
			input, _, _ := strings.Cut(rest, "-- event --\n")
			row, _ := Lookup(name)
			byName := "" // its input shows what it is
			if row.Documented {
				byName = name
			}
			h, ev, err := Decode(byName, []byte(input), func(string) string { return "" })
			if h.Name != name || err != nil {
				t.Fatalf("host %q, error %v, want %q", h.Name, err, name)
			}
			goes := loop.Decision{Policy: "p", Outcome: rules.Continued, Reason: "Task 2 <is> next.", Notice: "Task 2 of 3", Log: []string{"task 2"}}
			note := loop.Decision{Note: "Task 2 is open."}
			got := about + "-- input.json --\n" + input + "-- event --\n" + shown(ev) +
				"-- continue --\n" + told(Encode(h, ev.Name, []loop.Decision{goes, note}, AsJSON)) +
				"-- stop --\n" + told(Encode(h, ev.Name, []loop.Decision{{Outcome: rules.Stopped}}, AsJSON)) +
				"-- stop with notice --\n" + told(Encode(h, ev.Name, []loop.Decision{{Outcome: rules.Done, Notice: "All done"}}, AsJSON))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("-update accepts this (-want +got):\n%s", diff)
			}
		})
	}
	for _, name := range Names() {
		if !seen[name] {
			t.Errorf("no input of %s in testdata", name)
		}
	}
}

// shown lists the fields of an event that hold something.
func shown(ev loop.Event) string {
	talk, _ := ev.Conversation.(*session)
	ev.Conversation, ev.Tasks = nil, nil
	raw, err := json.Marshal(struct {
		loop.Event
		Conversation, Tasks any `json:",omitempty"`
	}{Event: ev})
	if err != nil {
		panic(err)
	}
	var out strings.Builder
	fields := decoded[map[string]any](raw)
	for _, name := range []string{"Name", "Session", "PromptID", "NewPrompt", "AfterStop", "Dir", "Message", "Failed", "Names"} {
		if v := fields[name]; v != "" && v != false {
			b, _ := json.Marshal(v)
			out.WriteString(name + ": " + string(b) + "\n")
		}
	}
	if talk != nil && talk.path != "" {
		out.WriteString("session file: " + talk.path + "\n")
	}
	return out.String()
}

func told(r Reply) string {
	out := string(r.Stdout)
	if len(r.Stderr) > 0 {
		out += "stderr: " + string(r.Stderr)
	}
	if r.Status != 0 {
		out += "status " + string(rune('0'+r.Status)) + "\n"
	}
	return out
}
