package run

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/escape"
	"github.com/ralph-sdk/ralph/internal/jsontext"
	"github.com/ralph-sdk/ralph/internal/shellwords"
)

// maxDenials bounds what is remembered of one iteration.
const maxDenials = 64

// denials are what a client did not let its agent do.
type denials struct {
	all   []Denial
	begun map[string]Denial // by the ID of the use
}

// useOf returns the use of a tool. Its input is the first argument that is a string. What permits it is known only if that
// is one short line, which rules do not read as a pattern.
func useOf(tool string, args json.RawMessage, permit func(tool, input string) string) Denial {
	input := ""
	for c := jsontext.Value(args).Members(); c.Next() && input == ""; {
		text, _ := c.Value.Decode()
		input = strings.TrimSpace(text)
	}
	use := Denial{Tool: tool, Input: firstLine(input)}
	if permit != nil && escape.Brief(use.Input) == input && !strings.ContainsAny(input, "*()") {
		use.Allow = permit(tool, input)
	}
	return use
}

// begin remembers a use that may be denied.
func (d *denials) begin(id string, use Denial) {
	if d.begun == nil {
		d.begun = map[string]Denial{}
	}
	if len(d.begun) < maxDenials {
		d.begun[id] = use
	}
}

// end forgets a use, and keeps it if it was denied, with the reason of the client.
func (d *denials) end(id string, denied bool, why string) {
	if use, ok := d.begun[id]; ok && denied && len(d.all) < maxDenials {
		use.Why = why
		d.all = append(d.all, use)
	}
	delete(d.begun, id)
}

// permission is a denial in the result record of Claude Code; Qwen Code writes the same.
type permission struct {
	Tool  string          `json:"tool_name"`
	ID    string          `json:"tool_use_id"`
	Input json.RawMessage `json:"tool_input"`
}

// read keeps the denials of a result record. The reason of one came before.
func (d *denials) read(list []permission, permit func(tool, input string) string) {
	for _, p := range list {
		why := d.begun[p.ID].Why
		d.begin(p.ID, useOf(p.Tool, p.Input, permit))
		d.end(p.ID, true, why)
	}
}

// permitIn returns how a rule permits something in a client's settings of the project.
func permitIn(client, rule string) string {
	h, _ := host.Lookup(client)
	return "add " + string(jsontext.Encode(rule)) + " to permissions.allow in " + cmp.Or(h.Settings.Local, h.Settings.Project)
}

// plainCommand reports whether a command is only a program with arguments.
func plainCommand(command string) bool {
	for word := range strings.FieldsSeq(command) {
		if !shellwords.Plain(word, false) {
			return false
		}
	}
	return command != ""
}
