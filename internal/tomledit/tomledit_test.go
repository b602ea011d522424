package tomledit

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What was added and cut again leaves no byte.
func TestAddAndCut(t *testing.T) {
	const hook = `{"event": "Stop", "command": "trap '[ $? ]'; ralph", "timeout": 60}`
	const added = "[[hooks]]\nevent = \"Stop\"\ncommand = \"trap '[ $? ]'; ralph\"\ntimeout = 60"
	for name, c := range map[string]struct{ src, want string }{
		"an empty file":  {"", "\n" + added + "\n"},
		"other settings": {"# mine\nmodel = 'k2' # good\n\n[a.b]\nc = 1\n", "# mine\nmodel = 'k2' # good\n\n[a.b]\nc = 1\n\n" + added + "\n"},
		"no line end":    {"a = 1", "a = 1\n\n" + added},
		"blank end":      {"a = 1\n\n", "a = 1\n\n\n" + added + "\n"},
		"another hook":   {"[[hooks]]\nevent = \"Stop\"\ncommand = \"x\" # y\n[other]\nz = 1\n", "[[hooks]]\nevent = \"Stop\"\ncommand = \"x\" # y\n[other]\nz = 1\n\n" + added + "\n"},
		"Windows":        {"a = 1\r\n", strings.ReplaceAll("a = 1\n\n"+added+"\n", "\n", "\r\n")},
	} {
		t.Run(name, func(t *testing.T) {
			n := strings.Count(c.src, "[[hooks]]")
			got, err := Put([]byte(c.src), []any{"hooks", n}, []byte(hook))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			back, err := Cut(got, []any{"hooks", n})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.src, string(back)); diff != "" {
				t.Errorf("after the cut (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSet(t *testing.T) {
	const src = "a = 1\n[[hooks]] # ours\nevent = 'Stop'\ncommand = \"old\" # why\n\n# next\n[[hooks]]\nevent = \"Other\"\n"
	got, err := Put([]byte(src), []any{"hooks", 0, "command"}, []byte(`"new"`))
	if err == nil {
		got, err = Put(got, []any{"hooks", 0, "timeout"}, []byte("60"))
	}
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer(`"old" # why`, "\"new\"\ntimeout = 60 # why").Replace(src)
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	values, err := Decode(got)
	if err != nil {
		t.Fatal(err)
	}
	hooks := []any{map[string]any{"event": "Stop", "command": "new", "timeout": json.Number("60")}, map[string]any{"event": "Other"}}
	if diff := cmp.Diff(map[string]any{"a": json.Number("1"), "hooks": hooks}, values); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got, err = Cut(got, []any{"hooks", 0})
	if err != nil {
		t.Fatal(err)
	}
	if want := "a = 1\n\n# next\n[[hooks]]\nevent = \"Other\"\n"; string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What cannot be edited in place is an error.
func TestByHand(t *testing.T) {
	for _, src := range []string{"hooks = []\nx = [", "hooks = [{event = 'Stop'}]\n", "hooks = {}\n[[hooks]]\n"} {
		if out, err := Put([]byte(src), []any{"hooks", 0}, []byte(`{"event": "Stop"}`)); err == nil {
			t.Errorf("%q became %q", src, out)
		}
	}
}

func FuzzPut(f *testing.F) {
	f.Add("a = 1\n[[hooks]]\nb = \"\"\"\n[[hooks]]\n\"\"\"\n[hooks.c]\nd=1")
	f.Add("[[hooks.x]]\n")
	f.Fuzz(func(t *testing.T, src string) {
		before, err := Decode([]byte(src))
		if err != nil {
			return
		}
		hooks, _ := before["hooks"].([]any)
		out, err := Put([]byte(src), []any{"hooks", len(hooks)}, []byte(`{"event": "Stop"}`))
		if err != nil {
			return
		}
		if !strings.HasPrefix(string(out), src) {
			t.Errorf("%q became %q", src, out)
		}
		back, err := Cut(out, []any{"hooks", len(hooks)})
		if err != nil || string(back) != src {
			t.Errorf("%q became %q, then %q: %v", src, out, back, err)
		}
	})
}
