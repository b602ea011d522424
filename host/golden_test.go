package host_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
)

var update = flag.Bool("update", false, "write what the hosts do now into testdata")

// TestHosts has one archive for each input, in the directory of the host that writes it: the input as the host sends
// it, the event that it becomes (without fields of zero value), and the answer.
func TestHosts(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	seen := map[string]bool{}
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))
		if name == "portable" {
			name = ""
		}
		seen[name] = true
		t.Run(strings.TrimSuffix(file, ".txtar"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want := parseArchive(string(data))
			input := []byte(want.sections[0].text)

			var given *host.Host // if the entry names it
			if known, ok := host.Lookup(name); ok && known.Settings.Args != nil {
				given = known
			}
			h, ev, err := host.Read(input, given)
			if h.Name != name || err != nil {
				t.Fatalf("host %q, error %v, want %q", h.Name, err, name)
			}
			got := archive{want.comment, []section{
				want.sections[0],
				{"event", event(t, ev)},
				{"continue", told(h.Encode(host.Reply{Event: ev.Name, Continue: true, Reason: "Task 2 <is> next.", Notice: "Task 2 of 3", Context: "Task 2 is open.", Log: []string{"[ralph] task 2"}}))},
				{"stop", told(h.Encode(host.Reply{Event: ev.Name}))},
				{"stop with notice", told(h.Encode(host.Reply{Event: ev.Name, Notice: "All done"}))},
			}}
			if *update {
				if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(want.String(), got.String()); diff != "" {
				t.Errorf("mismatch (-want +got); -update accepts it:\n%s", diff)
			}
		})
	}
	for _, name := range host.Names() {
		if !seen[name] {
			t.Errorf("no input of %s in testdata", name)
		}
	}
}

// event shows the fields that hold something, in the order of their declaration.
func event(t *testing.T, ev host.Event) string {
	t.Helper()
	var out strings.Builder
	v := reflect.ValueOf(ev)
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if v.Field(i).IsZero() || name == "Raw" || name == "LoopCount" && ev.LoopCount < 0 {
			continue
		}
		value, err := json.Marshal(v.Field(i).Interface())
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString(name + ": " + string(value) + "\n")
	}
	return out.String()
}

func told(a host.Answer) string {
	out := string(a.Stdout)
	if len(a.Stderr) > 0 {
		out += "stderr: " + string(a.Stderr)
	}
	if a.Status != 0 {
		out += "status " + string(rune('0'+a.Status)) + "\n"
	}
	return out
}

// archive is a comment and named sections, in txtar's format.
type archive struct {
	comment  string
	sections []section
}

type section struct{ name, text string }

func parseArchive(data string) archive {
	var a archive
	for line := range strings.Lines(data) {
		if name, ok := strings.CutPrefix(line, "-- "); ok {
			a.sections = append(a.sections, section{name: strings.TrimSuffix(name, " --\n")})
		} else if len(a.sections) == 0 {
			a.comment += line
		} else {
			a.sections[len(a.sections)-1].text += line
		}
	}
	return a
}

func (a archive) String() string {
	out := a.comment
	for _, s := range a.sections {
		out += "-- " + s.name + " --\n" + s.text
	}
	return out
}
