package main

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/host/setup"
	"github.com/ralph-sdk/ralph/project"
)

// checkPlugins checks which plugins also answer stops. If a policy needs a plugin's commands, only its hook can be
// disabled: with the field enabled in its settings file, which the policy also reads.
func (x *examination) checkPlugins(ctx context.Context) {
	const check = "competing-hook"
	for _, in := range x.installed.Settings {
		originals := x.installed.Originals(in)
		for _, name := range slices.Sorted(maps.Keys(originals)) {
			o := originals[name]
			short, _, _ := strings.Cut(name, "@")
			what := fmt.Sprintf("the plugin %s also answers stops; the agent continues if either continues it", name)
			if !o.Needed {
				x.problem(check, in.File.Shown, what, fmt.Sprintf("set %q to false under enabledPlugins in that file", name))
				continue
			}
			p := examined{name: o.Policy}
			if i := slices.IndexFunc(x.policies, func(e examined) bool { return e.host != "" && e.Short() == o.Policy }); i >= 0 {
				p = x.policies[i]
			} else if policy, err := x.project.Open(ctx, o.Policy, project.Load{}); err != nil || !slices.ContainsFunc(policy.Program.HeadFiles(), x.root.Exists) {
				continue // neither applies to this project
			}
			file := path.Join(".claude", short+".local.md")
			src, _, _ := x.root.ReadBytes(ctx, file) // checkState reports an unreadable file
			ignores := "have ralph ignore that file: " + p.setAdvice("settings=ignore")
			switch {
			case !setup.HookReadsOff(string(src)):
				x.problem(check, in.File.Shown, what,
					fmt.Sprintf("1. switch off its hook alone, so that its commands and agents stay: begin %s with the lines `---`, `%s: false` and `---`, without comments, blanks or CR", file, setup.EnabledField),
					"2. "+ignores, "3. run ralph doctor again; docs/policies/"+o.Policy+".md has more")
			case p.Program != nil && p.Param("settings") != "ignore":
				x.problem("switched-off", file, fmt.Sprintf("%s: false switches off %s too, not only the hook of %s", setup.EnabledField, p.name, name), ignores)
			}
		}
	}
}
