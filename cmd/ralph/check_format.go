package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/rules"
)

// checksPage is where each check has a section, named by its id.
const checksPage = "https://github.com/ralph-sdk/ralph/blob/main/docs/checks.md#"

// colors reports whether text on stdout is to be coloured.
func (a *app) colors(when string) bool {
	on := when == "always"
	if when == "auto" && a.getenv("NO_COLOR") == "" {
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

// colored is the text form of findings with colours: without them it is that of
// [rules.Diagnostics.Format].
func colored(diags rules.Diagnostics) string {
	var b strings.Builder
	for _, d := range diags {
		shade := red
		if d.Severity == rules.Warning {
			shade = yellow
		} else if d.Severity == rules.Info {
			shade = blue
		}
		text := strings.TrimSuffix(rules.Diagnostics{d}.Format(), "\n")
		for i, line := range strings.Split(text, "\n") {
			margin, rest, ok := strings.Cut(line, "|")
			switch at := strings.TrimLeft(line, " "); {
			case i == 0:
				where, what, _ := strings.Cut(line, ": ")
				severity, message, found := strings.Cut(what, ": ")
				if found && severity == d.Severity.String() {
					what = shade + severity + ":" + noColor + " " + message
				}
				b.WriteString(bold + where + ":" + noColor + " " + what)
			case strings.HasPrefix(at, "= "):
				word, message, _ := strings.Cut(at[2:], ": ")
				b.WriteString(line[:len(line)-len(at)] + blue + "=" + noColor + " " + bold + word + ":" + noColor + " " + message)
			case ok:
				b.WriteString(blue + margin + "|" + noColor)
				if i == 3 {
					rest = shade + rest + noColor
				}
				b.WriteString(rest)
			default:
				b.WriteString(line)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// githubCommands are the findings as a workflow of GitHub takes them: annotations
// at the lines of a change.
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

// wholeMessage is what a finding has to say, line by line, but for its place.
func wholeMessage(d rules.Diagnostic) []string {
	lines := []string{d.Message}
	if d.Help != "" {
		lines = append(lines, "help: "+d.Help)
	}
	if d.Witness != nil {
		lines = append(lines, "witness: "+string(d.Witness))
	}
	for _, r := range d.Related {
		lines = append(lines, fmt.Sprintf("note: %s (%s)", r.Message, r.Pos))
	}
	return lines
}

// The part of SARIF 2.1.0 that findings need.
type (
	sarif struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name  string      `json:"name"`
		Rules []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string       `json:"id"`
		ShortDescription sarifMessage `json:"shortDescription"`
		HelpURI          string       `json:"helpUri"`
		Configuration    sarifLevel   `json:"defaultConfiguration"`
	}
	sarifLevel struct {
		Level string `json:"level"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID     string           `json:"ruleId"`
		RuleIndex  int              `json:"ruleIndex"`
		Level      string           `json:"level"`
		Message    sarifMessage     `json:"message"`
		Locations  []sarifLocation  `json:"locations"`
		Related    []sarifLocation  `json:"relatedLocations,omitempty"`
		Properties *sarifProperties `json:"properties,omitempty"`
	}
	sarifProperties struct {
		Witness json.RawMessage `json:"witness"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
		Message  *sarifMessage `json:"message,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
		EndLine     int `json:"endLine,omitempty"`
		EndColumn   int `json:"endColumn,omitempty"`
	}
)

// sarifLog is the findings in the form that code scanning services read.
func sarifLog(diags rules.Diagnostics) sarif {
	level := map[rules.Severity]string{rules.Error: "error", rules.Warning: "warning", rules.Info: "note"}
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	run.Tool.Driver.Name = "ralph"
	for _, c := range rules.Checks() {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{
			ID: c.ID, ShortDescription: sarifMessage{c.Doc}, HelpURI: checksPage + c.ID,
			Configuration: sarifLevel{level[c.Severity]},
		})
	}
	for _, d := range diags {
		text := d.Message
		if d.Help != "" {
			text += "\n" + d.Help
		}
		r := sarifResult{
			RuleID: d.Check, Level: level[d.Severity], Message: sarifMessage{text},
			RuleIndex: slices.IndexFunc(run.Tool.Driver.Rules, func(x sarifRule) bool { return x.ID == d.Check }),
			Locations: []sarifLocation{sarifAt(d.Pos, d.End)},
		}
		for _, rel := range d.Related {
			l := sarifAt(rel.Pos, rules.Pos{})
			l.Message = &sarifMessage{rel.Message}
			r.Related = append(r.Related, l)
		}
		if d.Witness != nil {
			r.Properties = &sarifProperties{d.Witness}
		}
		run.Results = append(run.Results, r)
	}
	return sarif{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}}
}

// sarifAt is a place in a file.
func sarifAt(from, to rules.Pos) sarifLocation {
	l := sarifLocation{Physical: sarifPhysical{Artifact: sarifArtifact{(&url.URL{Path: from.File}).String()}}}
	if from.Line > 0 {
		l.Physical.Region = &sarifRegion{StartLine: from.Line, StartColumn: from.Col, EndLine: to.Line, EndColumn: to.Col}
	}
	return l
}
