package main

import (
	"fmt"
	"strings"

	"github.com/ralph-sdk/ralph/rules"
)

// colors reports whether to colour text on stdout.
func (a *app) colors() bool {
	on := false
	if a.getenv("NO_COLOR") == "" {
		force := a.getenv("CLICOLOR_FORCE")
		_, on = a.terminal(a.stdout)
		on = on || force != "" && force != "0"
	}
	if s, ok := a.stdout.(*screen); ok {
		s.colors = on
	}
	return on
}

// The colours of a terminal.
const (
	bold    = "\x1b[1m"
	red     = "\x1b[1;31m"
	yellow  = "\x1b[1;33m"
	blue    = "\x1b[1;34m"
	green   = "\x1b[1;32m"
	noColor = "\x1b[0m"
)

// colored returns findings as text with colours, otherwise like [rules.Diagnostics.Format].
func colored(diags rules.Diagnostics) string {
	var b strings.Builder
	for _, d := range diags {
		shade := map[rules.Severity]string{rules.Error: red, rules.Warning: yellow, rules.Info: blue}[d.Severity]
		for i, line := range strings.SplitAfter(strings.TrimSuffix(rules.Diagnostics{d}.Format(), "\n"), "\n") {
			margin, rest, ok := strings.Cut(line, "|")
			switch where, what, _ := strings.Cut(line, ": "); {
			case i == 0:
				b.WriteString(bold + where + ":" + noColor + " " + strings.Replace(what, d.Severity.String()+":", shade+d.Severity.String()+":"+noColor, 1))
			case i == 3 && ok: // what is marked
				b.WriteString(blue + margin + "|" + noColor + shade + rest + noColor)
			case ok:
				b.WriteString(blue + margin + "|" + noColor + rest)
			default:
				b.WriteString(line)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// githubCommands returns findings in the form of GitHub workflows: annotations at the lines of a change.
func githubCommands(diags rules.Diagnostics) string {
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	var b strings.Builder
	for _, d := range diags {
		command := map[rules.Severity]string{rules.Error: "error", rules.Warning: "warning", rules.Info: "notice"}[d.Severity]
		fmt.Fprintf(&b, "::%s file=%s", command, property.Replace(d.Pos.File))
		if d.Pos.Line > 0 {
			fmt.Fprintf(&b, ",line=%d,col=%d", d.Pos.Line, d.Pos.Col)
			if d.End.Line > 0 {
				fmt.Fprintf(&b, ",endLine=%d,endColumn=%d", d.End.Line, d.End.Col)
			}
		}
		fmt.Fprintf(&b, ",title=%s::%s\n", property.Replace(d.Check), data.Replace(strings.Join(wholeMessage(d), "\n")))
	}
	return b.String()
}

// wholeMessage returns the lines of a finding without its position.
func wholeMessage(d rules.Diagnostic) []string {
	lines := []string{d.Message}
	if d.Help != "" {
		lines = append(lines, "help: "+d.Help)
	}
	if d.Situation != nil {
		lines = append(lines, "situation: "+string(d.Situation))
	}
	for _, r := range d.Related {
		lines = append(lines, fmt.Sprintf("note: %s (%s)", r.Message, r.Pos))
	}
	return lines
}
