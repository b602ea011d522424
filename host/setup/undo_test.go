package setup

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
)

// What install adds looks different from what was there, so uninstall restores every byte: in each host, for files in each layout,
// with one entry and with two, whichever goes first.
func TestUninstallRestoresEachByte(t *testing.T) {
	seen := map[string]bool{}
	for _, g := range (Env{Project: t.TempDir(), Home: "~"}).Hosts() {
		form := fmt.Sprint(g.Settings.Form)
		if seen[form] {
			continue // one that is written alike was tried
		}
		seen[form] = true
		t.Run(g.Name, func(t *testing.T) {
			events, _ := g.Events([]string{host.Stop, host.SubagentStop})
			for _, src := range settings(g, events[0]) {
				f := File{Shown: "settings", host: g, scope: ScopeProject}
				if src != "no file" {
					f.Src = []byte(src)
				}
				for _, order := range [][]string{{"a"}, {"a", "b"}, {"b", "a"}} {
					if got := undone(t, f, events, order); !cmp.Equal(got, f.Src) {
						t.Fatalf("%q, without %s again, is %q", f.Src, order, got)
					}
				}
			}
		})
	}
}

// undone returns settings after entries for the policies a and b were added, and removed in an order.
func undone(t *testing.T, f File, events, order []string) []byte {
	t.Helper()
	was := f.Src
	for _, policy := range []string{"a", "b"} {
		if !slices.Contains(order, policy) {
			continue
		}
		src, err := f.With(Want{Program: "ralph", Events: events, Policies: []string{policy}})
		if err != nil {
			t.Fatalf("%q with %s: %v", was, policy, err)
		}
		if f.Src = src; f.Src == nil {
			t.Fatalf("%q with %s is no file", was, policy)
		}
	}
	for _, policy := range order {
		entries, err := f.Entries()
		if err != nil {
			t.Fatalf("%q became %q: %v", was, f.Src, err)
		}
		var ours []Entry
		for _, e := range entries {
			if asked, ok := e.Ralph(); ok && asked[0] == policy {
				ours = append(ours, e)
			}
		}
		if len(ours) == 0 {
			t.Fatalf("%q became %q, without an entry of %s", was, f.Src, policy)
		}
		if f.Src, err = f.Without(ours); err != nil {
			t.Fatalf("%q without %s: %v", was, policy, err)
		}
	}
	return f.Src
}

// settings returns files of a host in many layouts; > is a level of indentation and a line end.
func settings(g Host, event string) []string {
	all := []string{"no file"}
	if g.Settings.TOML {
		for _, src := range []string{"", "\n", "# mine\n", "a = 1", "a = 1\n", "a = 1\n\n", "a = 1 # x\n\n[b]\nc = 'd'\n",
			"[[hooks]]\nevent = \"Stop\"\ncommand = \"say done\"\n", "[[hooks]]\nevent = \"Stop\"\ncommand = \"say done\"\n[b]\nc = 1"} {
			all = append(all, src, strings.ReplaceAll(src, "\n", "\r\n"))
		}
		return all
	}
	version := g.Settings.Version
	if version == "" {
		version = "1"
	}
	key := fmt.Sprintf("%q", g.root())
	bodies := []string{"", "> ", "\"version\": " + version, "\"a\": {},> \"b\": [ 1,2 ]"}
	if g.Settings.Listed != "" {
		own := fmt.Sprintf(`{"trigger": %q, "action": {"type": "command", "command": "say done"}}`, event)
		bodies = append(bodies, key+": []", key+": [ ]", key+": [> ]", key+": ["+own+"]", "\"a\": 1,> "+key+": [> > "+own+"> ]", key+": [],> \"version\": "+version)
	} else {
		own := fmt.Sprintf(`{"type": "command", %q: "say done"}`, g.commandKey())
		if !g.Settings.Flat {
			own = `{"hooks": [` + own + `]}`
		}
		for _, hooks := range []string{"{}", "{ }", "{> }", "{%q: []}", "{%q: [ ]}", "{> > %q: [> > ]> }", "{%q: [" + own + "]}", "{> > %q: [> > > " + own + "> > ]> }",
			"{\"Other\": [" + own + "],> > %q: []}", "{%q: [],> > \"Other\": []> }"} {
			if strings.Contains(hooks, "%q") {
				hooks = fmt.Sprintf(hooks, event)
			}
			bodies = append(bodies, key+": "+hooks, "\"a\": 1,> "+key+": "+hooks, key+": "+hooks+",> \"version\": "+version)
		}
	}
	if g.Settings.Comments {
		bodies = append(bodies, "> // mine> ", "/* mine */", "> // mine> \"a\": 1 // yours\n")
		if g.Settings.Listed == "" {
			bodies = append(bodies, fmt.Sprintf("%s: {%q: [ /* none */ ]}", key, event), fmt.Sprintf("%s: {> > %q: [> > > // none> > ] /* x */}", key, event))
		}
	}
	for _, body := range bodies {
		if g.Settings.Named && (strings.Contains(body, "1") || strings.Contains(body, "mine")) {
			continue // its other fields are groups of hooks
		}
		for _, layout := range []struct{ line, indent string }{{"\n", "  "}, {"\r\n", "\t"}, {"\n\n", "\t"}} {
			line := layout.line
			text := strings.ReplaceAll(strings.ReplaceAll(body, "> ", ">"+layout.indent), ">", line)
			all = append(all, "{"+text+"}", "{"+line+layout.indent+text+line+"}"+line, "\ufeff{"+text+" }"+line)
		}
		if !strings.Contains(body, "//") {
			all = append(all, "{"+strings.ReplaceAll(strings.ReplaceAll(body, "> ", ""), " ", "")+"}")
		}
	}
	return all
}
