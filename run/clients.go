package run

import (
	"slices"

	"github.com/ralph-sdk/ralph/host"
)

// client is an adapter that ships with ralph.
type client struct {
	name, host string
	reports    Reports
	packages   []string                         // other names, for clients that another program starts, such as npx
	complete   func(l *cmdline, session string) // adds flags that ralph needs, and rejects flags that conflict
	output     func() Output
}

func (c *client) Name() string     { return c.name }
func (c *client) Host() string     { return c.host }
func (c *client) Reports() Reports { return c.reports }
func (c *client) Output() Output   { return c.output() }

func (c *client) Command(i Invocation) (Command, error) {
	l := newCmdline(c.name, i.Args, c.packages...)
	c.complete(l, i.Session)
	if l.err != nil {
		return Command{}, l.err
	}
	return Command{Args: l.args, Stdin: i.Prompt}, nil
}

// Claude returns the adapter of Claude Code, "claude -p".
func Claude() Adapter {
	return &client{
		name: "claude", host: host.ClaudeCode, reports: Reports{Tokens: true, Cost: true, Window: true}, packages: []string{host.ClaudeCode},
		complete: completeClaude, output: func() Output { return &claudeOutput{} },
	}
}

// Codex returns the adapter of Codex, "codex exec".
func Codex() Adapter {
	return &client{name: host.Codex, host: host.Codex, reports: Reports{Tokens: true}, complete: completeCodex, output: func() Output { return &codexOutput{} }}
}

// Gemini returns the adapter of Gemini CLI. If the client itself waits for a rate limit, the iteration may end as
// [Timeout].
func Gemini() Adapter {
	return &client{
		name: host.Gemini, host: host.Gemini, reports: Reports{Tokens: true}, packages: []string{"gemini-cli"},
		complete: flags{
			prompts:  []string{"-i", "--prompt-interactive", "--acp", "--experimental-acp", "--"},
			sessions: []string{"-r", "--resume", "--session-id", "--session-file"},
			format:   []string{"--output-format", "-o"}, records: "stream-json",
		}.complete,
		output: func() Output { return &geminiOutput{text: tail{max: maxText}} },
	}
}

// Qwen returns the adapter of Qwen Code. If the client itself waits for a rate limit, the iteration may end as
// [Timeout].
func Qwen() Adapter {
	return &client{
		name: host.Qwen, host: host.Qwen, reports: Reports{Tokens: true}, packages: []string{"qwen-code"},
		complete: flags{
			prompts:  []string{"-i", "--prompt-interactive", "--input-format", "--acp", "--"},
			sessions: []string{"-c", "--continue", "-r", "--resume", "--session-id"},
			format:   []string{"--output-format", "-o"}, records: "stream-json",
		}.complete,
		output: func() Output { return &qwenOutput{} },
	}
}

// Copilot returns the adapter of GitHub Copilot CLI. It reports no cost. Tokens are in its session file, which is known
// once an iteration ended by itself.
func Copilot() Adapter {
	return &client{
		name: host.Copilot, host: host.Copilot, reports: Reports{Tokens: true},
		complete: flags{
			prompts:  []string{"-i", "--interactive", "--acp", "--"},
			sessions: []string{"--continue", "-r", "--resume", "--session-id", "--connect"},
			format:   []string{"--output-format"}, records: "json", joined: true,
		}.complete,
		output: func() Output { return &copilotOutput{} },
	}
}

// Clients returns the adapters that ship with ralph; the last one is [Generic].
func Clients() []Adapter {
	return []Adapter{Claude(), Codex(), Gemini(), Qwen(), Copilot(), Generic()}
}

// ClientOf returns the adapter for a command line, by the name of its program, or [Generic] for an unknown one. For a
// client that another program starts, such as npx, pick the adapter from [Clients] by its name.
func ClientOf(args []string) Adapter {
	if len(args) > 0 {
		clients, name := Clients(), program(args[0])
		if i := slices.IndexFunc(clients, func(a Adapter) bool { return a.Name() == name }); i >= 0 {
			return clients[i]
		}
	}
	return Generic()
}
