package main

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
	"github.com/ralph-sdk/ralph/state"
)

// An original is what a shipped policy replaces, or another loop.
type original struct {
	policy  string   // "" if no shipped policy replaces it
	plugins []string // of Claude Code, that answer events themselves
	hooks   []string // their programs, without the extension
}

func originals() []original {
	return []original{
		{"ralph-wiggum", []string{"ralph-wiggum", "ralph-loop"}, []string{"stop-hook"}},
		{"specum", []string{"ralph-specum"}, []string{"stop-watcher"}},
		{"speckit", []string{"ralph-speckit"}, []string{"stop-watcher"}},
		{"stravinsky", nil, []string{"stop_hook"}},
		{"todo-reminder", nil, []string{"todo_continuation"}},
		{"system3", nil, []string{"unified-stop-gate"}},
		{"double-shot-latte", []string{"double-shot-latte"}, []string{"claude-judge-continuation"}},
		{"", []string{"oh-my-claudecode"}, []string{"persistent-mode"}},
		{"", []string{"planning-with-files"}, []string{"gate-stop"}},
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

// checkPlugins sees which plugins answer stops too. A plugin whose commands a policy
// needs has a switch for its hook alone: the field enabled of the settings file that
// the policy reads as well.
func (x *examination) checkPlugins(ctx context.Context) {
	const check = "competing-hook"
	for _, in := range x.settings {
		plugins, _ := in.values["enabledPlugins"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(plugins)) {
			short, _, _ := strings.Cut(name, "@")
			if on, _ := plugins[name].(bool); !on || !slices.ContainsFunc(originals(), func(o original) bool { return slices.Contains(o.plugins, short) }) {
				continue
			}
			p, settings, ok := x.followerOf(ctx, short)
			if !ok {
				x.problem(check, in.file.shown, fmt.Sprintf("the plugin %s also answers stops; the agent continues if either says so", name),
					fmt.Sprintf("set %q to false under enabledPlugins in that file", name))
				continue
			}
			if p.host == "" && !slices.ContainsFunc(p.program.HeadFiles(), x.root.Exists) {
				continue // neither is for this project
			}
			file, _ := settings.File()
			src, _, _ := x.root.ReadBytes(ctx, file) // one that cannot be read is checkState's
			off := x.switchedOff(ctx, settings, file)
			ignores := "have ralph ignore that file: " + p.setAdvice("settings=ignore")
			switch hookOff := hookReadsOff(string(src)); {
			case off && !hookOff:
				x.problem(check, file, fmt.Sprintf("the hook of the plugin %s does not read this file as switched off, and answers stops; the agent continues if either says so", name),
					fmt.Sprintf("1. begin the file with the lines `---`, `%s: false` and `---`, as the hook compares them byte by byte: no byte order mark, line breaks without CR, nothing behind the dashes, no comment", enabledField),
					"2. "+ignores)
			case !hookOff:
				x.problem(check, in.file.shown, fmt.Sprintf("the plugin %s also answers stops; the agent continues if either says so", name),
					fmt.Sprintf("1. switch off its hook alone, so that its commands and agents stay: write `%s: false` into the front matter of %s", enabledField, file),
					"2. "+ignores, "3. run ralph doctor again; docs/policies/"+p.policy.shortName()+".md has more")
			case off && p.host != "" && p.param("settings") != "ignore":
				x.problem("switched-off", file, fmt.Sprintf("%s: false switches off %s too, not only the hook of %s", enabledField, p.name, name), ignores)
			}
		}
	}
}

// enabledField is the switch in the settings file of a plugin.
const enabledField = "enabled"

// switchedOff reports whether a settings file says so, as its policy reads it.
func (x *examination) switchedOff(ctx context.Context, settings *rules.Fact, file string) bool {
	doc := x.root.Read(ctx, state.File{Path: file, Format: state.LenientFrontMatter, Schema: settings.Schema})
	if doc.Status != state.OK || settings.Schema == nil {
		return false
	}
	values, _ := settings.Schema.Check(doc.Document).Value.(map[string]any)
	return values[enabledField] == false
}

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

// followerOf finds the policy that reads the settings file of a plugin, which Claude
// Code's plugins keep in .claude/PLUGIN.local.md, and the fact that reads it. The
// policies that hosts ask come first, the shipped ones last: also where a policy cannot
// be used as it is set up, its plugin must not be disabled.
func (x *examination) followerOf(ctx context.Context, plugin string) (p examined, settings *rules.Fact, ok bool) {
	all := slices.Clone(x.policies)
	for _, name := range projectPolicies(x.root.Dir()) {
		if p, err := findPolicy(x.root.Dir(), name); err == nil {
			all = append(all, examined{name: name, policy: p})
		}
	}
	for _, name := range builtins() {
		all = append(all, examined{name: name, policy: policy{project: x.root.Dir(), name: name, fsys: examples.FS, file: name + "/" + name + ".yaml", shipped: true}})
	}
	for _, p := range all {
		if p.program == nil { // params do not change which facts there are
			if p.program, _ = rules.Load(ctx, p.policy.fsys, p.policy.file, x.app.language()); p.program == nil {
				continue
			}
		}
		for _, f := range p.program.Facts() {
			file, _ := f.File()
			if file == path.Join(".claude", plugin+".local.md") && f.Schema != nil && f.Schema.Type().At(enabledField) != nil &&
				f.Schema.Type().At(enabledField).Kind == schema.Bool {
				return p, f, true
			}
		}
	}
	return p, nil, false
}
