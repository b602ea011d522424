package run

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/host"
)

// agent is a row of the table of agents that print JSON records, one a line.
type agent struct {
	name     string
	packages []string // other names of its program
	host     string   // whose session files it writes; "": ralph reads none
	cost     bool     // it reports what an iteration costs

	command []string // a subcommand and flags that ralph adds, each unless it was typed: first words of the command
	format  []string // the flags that make it print records; if the first was typed, it stays
	bare    []string // flags that take a prompt, which comes on standard input: they go where they stand last, without one

	exits  map[int]string // outcomes by exit status
	prints prints
}

// prints says where a record has what. A place is a path into a record, after conditions on it; see [places]. Of several records, the last
// one with a value counts.
type prints struct {
	session string   // place of the session
	texts   []string // places of what the agent itself says
	part    string   // a place that has something if the text belongs to that of the record before
	ended   string   // a place that only the record of the end has
	failed  string   // a place that only the record of a failed end has
	codes   []string // places of names of a failure
	problem []string // places of its message
	spent   string   // place of US dollars
	tokens  []string // places of numbers that are summed up
	resets  string   // place of the time, in seconds, at which the rate limit resets
	denied  string   // place of uses of tools that were not allowed
}

// agents is the table. Qwen Code is a descendant of Gemini CLI that prints Claude Code's records.
var agents = []agent{
	{
		name: "claude", packages: []string{"claude-code"}, host: host.ClaudeCode, cost: true,
		command: []string{"-p|--print"}, format: []string{"--output-format", "stream-json", "--verbose"},
		prints: prints{
			session: "session_id",
			texts:   []string{"type=assistant parent_tool_use_id= error= message.content.*.text"},
			ended:   "type=result type", failed: "type=result is_error=true type",
			codes:   []string{"type=assistant parent_tool_use_id= error", "type=result subtype", "type=result terminal_reason", "type=result api_error_status"},
			problem: []string{"type=result result", "type=result errors.*"},
			spent:   "type=result total_cost_usd",
			tokens: []string{"type=result modelUsage.*.inputTokens", "type=result modelUsage.*.outputTokens",
				"type=result modelUsage.*.cacheReadInputTokens", "type=result modelUsage.*.cacheCreationInputTokens"},
			resets: "rate_limit_info.status=rejected rate_limit_info.resetsAt",
			denied: "type=result permission_denials.*",
		},
	},
	{
		name: "codex", host: "codex",
		command: []string{"exec|e"}, format: []string{"--json"},
		prints: prints{
			session: "thread_id",
			texts:   []string{"type=item.completed item.type=agent_message item.text"},
			ended:   "type=turn.completed|turn.failed type", failed: "type=turn.failed type",
			problem: []string{"type=turn.failed error.message"},
			tokens:  []string{"type=turn.completed usage.input_tokens", "type=turn.completed usage.output_tokens"},
		},
	},
	{
		name: "gemini", packages: []string{"gemini-cli"}, host: "gemini",
		format: []string{"--output-format|-o", "stream-json"}, bare: []string{"-p", "--prompt"},
		prints: prints{
			session: "session_id",
			texts:   []string{"type=message role=assistant content"}, part: "delta=true delta",
			ended: "type=result type", failed: "type=result status=error type",
			codes:   []string{"type=result error.type"},
			problem: []string{"type=result error.message"},
			tokens:  []string{"type=result stats.total_tokens"},
			denied:  "error.type=policy_violation tool_id",
		},
		exits: map[int]string{41: SignIn, 53: TurnLimit},
	},
	{
		name: "qwen", packages: []string{"qwen-code"}, host: "qwen",
		format: []string{"--output-format|-o", "stream-json"}, bare: []string{"-p", "--prompt"},
		prints: prints{
			session: "session_id",
			texts:   []string{"type=assistant parent_tool_use_id= message.content.*.text"},
			ended:   "type=result type", failed: "type=result is_error=true type",
			problem: []string{"type=result error.message"},
			tokens:  []string{"type=result usage.total_tokens"},
			denied:  "type=result permission_denials.*",
		},
		exits: map[int]string{53: TurnLimit, 55: TurnLimit},
	},
}

// agentOf returns the row of a command's agent, also if another program such as npx starts it, and where in the command its name is. The
// zero row is any other program: its output is its text, and its status its outcome.
func agentOf(args []string) (a agent, at int) {
	for i, arg := range args {
		name := strings.ToLower(filepath.Base(filepath.ToSlash(arg)))
		name, _, _ = strings.Cut(name, "@") // a version
		name = strings.TrimSuffix(strings.TrimSuffix(name, ".exe"), ".cmd")
		for _, a := range agents {
			if (i == 0 || isStarter(args[0])) && (name == a.name || slices.Contains(a.packages, name)) {
				return a, i
			}
		}
	}
	return agent{}, 0
}

// isStarter reports whether a program starts others whose names are its arguments.
func isStarter(program string) bool {
	name := strings.TrimSuffix(filepath.Base(filepath.ToSlash(program)), ".cmd")
	return slices.Contains([]string{"npx", "bunx", "pnpm", "env", "timeout", "nice", "docker", "podman", "sudo"}, name)
}

// complete returns a command with what ralph needs, and what goes to its standard input. The prompt replaces the argument {}, else it is
// standard input: it may have any length there, and no flag can take it.
func complete(args []string, prompt string) (command []string, stdin []byte) {
	a, at := agentOf(args)
	args = slices.Clone(args)
	if n := len(args) - 1; n > at && slices.Contains(a.bare, args[n]) {
		args = args[:n]
	}
	begin := at + 1
	for _, words := range a.command {
		if i := find(args[begin:], words); i >= 0 {
			if !strings.HasPrefix(words, "-") {
				begin += i + 1
			}
			continue
		}
		word, _, _ := strings.Cut(words, "|")
		args = slices.Insert(args, begin, word)
		begin++
	}
	if len(a.format) > 0 && find(args[begin:], a.format[0]) < 0 {
		first, _, _ := strings.Cut(a.format[0], "|")
		args = slices.Insert(args, begin, append([]string{first}, a.format[1:]...)...)
	}
	if i := slices.Index(args, "{}"); i >= 0 {
		args[i] = prompt
		return args, nil
	}
	if prompt != "" {
		prompt = strings.TrimSuffix(prompt, "\n") + "\n" // for shells that read lines
	}
	return args, []byte(prompt)
}

// find returns where one of some words, with | between them, is among arguments, perhaps with = and a value; -1 if it is not there.
func find(args []string, words string) int {
	return slices.IndexFunc(args, func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return slices.Contains(strings.Split(words, "|"), name)
	})
}
