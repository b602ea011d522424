package main

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
)

// loopPlugins are plugins of Claude Code that answer stops themselves.
func loopPlugins() []string {
	return []string{"ralph-wiggum", "ralph-loop", "ralph-specum", "ralph-speckit", "double-shot-latte", "oh-my-claudecode", "planning-with-files"}
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
			if on, _ := plugins[name].(bool); !on || !slices.Contains(loopPlugins(), short) {
				continue
			}
			p, settings, ok := x.followerOf(ctx, short)
			if !ok {
				x.problem(check, in.file.shown, fmt.Sprintf("the plugin %s also answers stops; the agent continues if either says so", name),
					fmt.Sprintf("set %q to false under enabledPlugins in that file", name))
				continue
			}
			file, _ := settings.File()
			ignores := "have ralph ignore that file: " + p.setAdvice("settings=ignore")
			switch hookOn := readState(ctx, x.root, settings, file).values[enabledField] != false; {
			case hookOn:
				x.problem(check, in.file.shown, fmt.Sprintf("the plugin %s also answers stops; the agent continues if either says so", name),
					fmt.Sprintf("1. switch off its hook alone, so that its commands and agents stay: write `%s: false` into the front matter of %s", enabledField, file),
					"2. "+ignores, "3. run ralph doctor again; docs/policies/"+p.policy.shortName()+".md has more")
			case p.host != "" && p.param("settings") != "ignore":
				x.problem("switched-off", file, fmt.Sprintf("%s: false switches off %s too, not only the hook of %s", enabledField, p.name, name), ignores)
			}
		}
	}
}

// enabledField is the switch in the settings file of a plugin.
const enabledField = "enabled"

// followerOf finds the policy that reads the settings file of a plugin, which Claude
// Code's plugins keep in .claude/PLUGIN.local.md, and the fact that reads it. The
// policies that hosts ask come first.
func (x *examination) followerOf(ctx context.Context, plugin string) (p examined, settings *rules.Fact, ok bool) {
	all := slices.Clone(x.policies)
	for _, name := range projectPolicies(x.root.Dir()) {
		if p, program, err := x.app.open(ctx, x.root.Dir(), name, nil); err == nil {
			all = append(all, examined{name: name, policy: p, program: program})
		}
	}
	for _, p := range all {
		if p.program == nil {
			continue
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
