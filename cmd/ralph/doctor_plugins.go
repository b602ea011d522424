package main

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// An original is what a shipped policy replaces, or another loop.
type original struct {
	policy  string   // "" if no shipped policy replaces it
	plugins []string // of Claude Code, that answer events themselves
	hooks   []string // their programs, without the extension
	needed  bool     // the policy needs the commands of the plugin
}

func originals() []original {
	return []original{
		{"ralph-wiggum", []string{"ralph-wiggum", "ralph-loop"}, []string{"stop-hook"}, false},
		{"specum", []string{"ralph-specum"}, []string{"stop-watcher"}, true},
		{"speckit", []string{"ralph-speckit"}, []string{"stop-watcher"}, true},
		{"stravinsky", nil, []string{"stop_hook"}, false},
		{"todo-reminder", nil, []string{"todo_continuation"}, false},
		{"system3", nil, []string{"unified-stop-gate"}, false},
		{"double-shot-latte", []string{"double-shot-latte"}, []string{"claude-judge-continuation"}, false},
		{"", []string{"oh-my-claudecode"}, []string{"persistent-mode"}, false},
		{"", []string{"planning-with-files"}, []string{"gate-stop"}, false},
	}
}

// originalOf returns the original whose program a command runs.
func originalOf(command string) (original, bool) {
	words := strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`/\\;&|()<>=", r) })
	for _, o := range originals() {
		for _, w := range words {
			if slices.Contains(o.hooks, strings.TrimSuffix(w, path.Ext(w))) {
				return o, true
			}
		}
	}
	return original{}, false
}

// checkPlugins sees which plugins answer stops too. A plugin whose commands a policy needs has a switch for its hook alone:
// the field enabled of its settings file, which the policy reads as well.
func (x *examination) checkPlugins(ctx context.Context) {
	const check = "competing-hook"
	for _, in := range x.settings {
		plugins, _ := in.values["enabledPlugins"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(plugins)) {
			short, _, _ := strings.Cut(name, "@")
			i := slices.IndexFunc(originals(), func(o original) bool { return slices.Contains(o.plugins, short) })
			if on, _ := plugins[name].(bool); !on || i < 0 {
				continue
			}
			what := fmt.Sprintf("the plugin %s also answers stops; the agent continues if either says so", name)
			o := originals()[i]
			if !o.needed {
				x.problem(check, in.file.shown, what, fmt.Sprintf("set %q to false under enabledPlugins in that file", name))
				continue
			}
			p := examined{name: o.policy}
			if i := slices.IndexFunc(x.policies, func(e examined) bool { return e.host != "" && e.policy.shortName() == o.policy }); i >= 0 {
				p = x.policies[i]
			} else if _, program, err := x.app.open(ctx, x.root.Dir(), o.policy, nil); err != nil || !slices.ContainsFunc(program.HeadFiles(), x.root.Exists) {
				continue // neither is for this project
			}
			file := path.Join(".claude", short+".local.md")
			src, _, _ := x.root.ReadBytes(ctx, file) // one that cannot be read is checkState's
			ignores := "have ralph ignore that file: " + p.setAdvice("settings=ignore")
			switch {
			case !hookReadsOff(string(src)):
				x.problem(check, in.file.shown, what,
					fmt.Sprintf("1. switch off its hook alone, so that its commands and agents stay: begin %s with the lines `---`, `%s: false` and `---`, without comments, blanks or CR", file, enabledField),
					"2. "+ignores, "3. run ralph doctor again; docs/policies/"+o.policy+".md has more")
			case p.program != nil && p.param("settings") != "ignore":
				x.problem("switched-off", file, fmt.Sprintf("%s: false switches off %s too, not only the hook of %s", enabledField, p.name, name), ignores)
			}
		}
	}
}

// enabledField is the switch in the settings file of a plugin.
const enabledField = "enabled"

// hookReadsOff reports whether the hooks of such plugins read their settings as off.
// They know no YAML: the first line enabled: between lines that are exactly --- counts,
// without blanks and quotes.
func hookReadsOff(src string) bool {
	inside := false
	for line := range strings.SplitSeq(src, "\n") {
		value, ok := strings.CutPrefix(line, enabledField+":")
		switch {
		case line == "---":
			inside = !inside
		case inside && ok:
			return strings.EqualFold(strings.NewReplacer(" ", "", "\t", "", `"`, "", "'", "").Replace(value), "false")
		}
	}
	return false
}
