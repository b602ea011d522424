package setup

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/jsonedit"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/schema"
)

// A Gate is something that a host asks its user for before it runs a hook. ralph reports
// gates and never passes one itself: that would forge the user's consent.
type Gate struct {
	Known bool // the host says so; else it may be passed already
	What  string
	Fix   []string
}

// A gateQuery is about ralph's entries in one settings file.
type gateQuery struct {
	Env
	scope   string
	file    File
	entries []Entry // of ralph
}

// Gates lists what is left before the host runs ralph's entries in a file, which may be one of Claude Code
// that the host reads too.
func (g Host) Gates(ctx context.Context, s File) []Gate {
	entries, err := s.Entries()
	if err != nil || g.gates == nil {
		return nil
	}
	entries = slices.DeleteFunc(entries, func(e Entry) bool { _, ok := e.Ralph(); return !ok })
	if len(entries) == 0 {
		return nil
	}
	return g.gates(ctx, gateQuery{g.env, s.scope, s, entries})
}

// codexPatience is how long codex may take to list its hooks.
const codexPatience = 10 * time.Second

// codexGates asks codex itself: a project needs a trusted folder, and each entry a trusted hash.
func codexGates(ctx context.Context, q gateQuery) []Gate {
	folder := Gate{
		Known: true,
		What:  "Codex does not trust this folder, so it reads no hooks of it",
		Fix:   []string{"start codex in " + q.Project + " and trust the folder; codex exec has --trust for that"},
	}
	hook := Gate{
		What: "Codex skips the entry until you trust it, and again after each change of it",
		Fix:  []string{"start codex, enter /hooks and trust the entry of ralph"},
	}
	hooks, err := codexHooks(ctx, q.Project)
	if err != nil {
		if q.scope == ScopeProject {
			folder.Known, folder.What = false, "Codex reads hooks of folders that you trust only"
			return []Gate{folder, hook}
		}
		return []Gate{hook}
	}
	found := false
	for _, h := range hooks {
		if !workspace.SameFile(h.SourcePath, q.file.place()) || !slices.ContainsFunc(q.entries, func(e Entry) bool { return e.Text == h.Command }) {
			continue
		}
		found = true
		switch {
		case !h.Enabled:
			return []Gate{{Known: true, What: "the entry is disabled in Codex", Fix: []string{"start codex, enter /hooks and enable the entry of ralph"}}}
		case h.TrustStatus != "trusted" && h.TrustStatus != "managed":
			hook.Known = true
			return []Gate{hook}
		}
	}
	if !found && q.scope == ScopeProject {
		return []Gate{folder, hook}
	}
	return nil
}

// codexHook is what codex says of a hook.
type codexHook struct {
	Command     string `json:"command"`
	SourcePath  string `json:"sourcePath"`
	Enabled     bool   `json:"enabled"`
	TrustStatus string `json:"trustStatus"`
}

// codexHooks has the user's codex list the hooks that it reads in a project. It starts no session and no hook.
func codexHooks(ctx context.Context, project string) ([]codexHook, error) {
	program, err := exec.LookPath("codex")
	if err != nil {
		return nil, err
	}
	if resolved, err := filepath.EvalSymlinks(program); err != nil || workspace.Beneath(project, program) || workspace.Beneath(project, resolved) {
		return nil, fmt.Errorf("%s is in the project, so it is not started", program)
	}
	ctx, cancel := context.WithTimeout(ctx, codexPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "app-server")
	cmd.Dir = project
	cmd.WaitDelay = time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { out.Close() }) // a wrapper that is killed may leave its program behind
	defer func() {
		stop()
		in.Close() // which ends it
		_ = cmd.Wait()
	}()
	type message map[string]any
	ask := json.NewEncoder(in)
	for _, m := range []message{
		{"id": 1, "method": "initialize", "params": message{"clientInfo": message{"name": "ralph", "version": "1"}}},
		{"method": "initialized"},
		{"id": 2, "method": "hooks/list", "params": message{"cwds": []string{project}}},
	} {
		if err := ask.Encode(m); err != nil {
			return nil, err
		}
	}
	answers := json.NewDecoder(out)
	for {
		var answer struct {
			ID     any `json:"id"`
			Result struct {
				Data []struct {
					Hooks []codexHook `json:"hooks"`
				} `json:"data"`
			} `json:"result"`
			Error any `json:"error"`
		}
		if err := answers.Decode(&answer); err != nil {
			return nil, err
		}
		if answer.ID != 2.0 {
			continue
		}
		if answer.Error != nil || len(answer.Result.Data) == 0 {
			return nil, fmt.Errorf("codex lists no hooks: %v", answer.Error)
		}
		return answer.Result.Data[0].Hooks, nil
	}
}

// geminiGates sees whether Gemini CLI trusts the folder. Where it does not, it runs no hook of a project, and
// its -p ends at once.
func geminiGates(_ context.Context, q gateQuery) []Gate {
	if q.scope == ScopeUser {
		return nil
	}
	enabled, said := ofSettings[bool](orPath("", q.Home, ".gemini", "settings.json"), "security", "folderTrust", "enabled")
	if q.getenv("GEMINI_CLI_TRUST_WORKSPACE") == "true" || said && !enabled ||
		trusts(orPath(q.getenv("GEMINI_CLI_TRUSTED_FOLDERS_PATH"), q.Home, ".gemini", "trustedFolders.json"), q.Project) {
		return nil
	}
	return []Gate{{
		Known: true,
		What:  "Gemini CLI does not trust this folder, so it runs no hooks of it",
		Fix:   []string{"start gemini in " + q.Project + " and trust the folder; for gemini -p, GEMINI_CLI_TRUST_WORKSPACE=true does that for one run"},
	}}
}

// qwenGates sees whether Qwen Code trusts the folder, if its user has it ask for that.
func qwenGates(_ context.Context, q gateQuery) []Gate {
	dir := orPath(q.getenv("QWEN_HOME"), q.Home, ".qwen")
	enabled, _ := ofSettings[bool](orPath("", dir, "settings.json"), "security", "folderTrust", "enabled")
	if q.scope == ScopeUser || !enabled || trusts(orPath(q.getenv("QWEN_CODE_TRUSTED_FOLDERS_PATH"), dir, "trustedFolders.json"), q.Project) {
		return nil
	}
	return []Gate{{
		Known: true,
		What:  "Qwen Code does not trust this folder, so it runs no hooks of it",
		Fix:   []string{"start qwen in " + q.Project + " and trust the folder"},
	}}
}

// copilotGates sees whether Copilot CLI trusts the folder.
func copilotGates(_ context.Context, q gateQuery) []Gate {
	if q.scope == ScopeUser || q.getenv("GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS") == "true" {
		return nil
	}
	folders, _ := ofSettings[[]any](orPath("", orPath(q.getenv("COPILOT_HOME"), q.Home, ".copilot"), "config.json"), "trustedFolders")
	for _, folder := range folders {
		if folder, ok := folder.(string); ok && workspace.Beneath(folder, q.Project) {
			return nil
		}
	}
	return []Gate{{
		Known: true,
		What:  "Copilot CLI does not trust this folder, so it runs no hooks of it",
		Fix:   []string{"start copilot in " + q.Project + " and trust the folder; copilot -p has --trust-folder for one run"},
	}}
}

// orPath is a path that a variable names, else the one of these steps from a directory; "" if that is not known.
func orPath(named, dir string, steps ...string) string {
	if named != "" || dir == "" {
		return named
	}
	return filepath.Join(dir, filepath.Join(steps...))
}

// ofSettings returns a value of a host's own settings; false if it is not there. Hosts write comments
// into some of them.
func ofSettings[T any](file string, path ...string) (value T, ok bool) {
	doc, err := schema.ParseJSON(jsonedit.Uncommented([]byte(readUserFile(file))))
	if err != nil {
		return value, false
	}
	v := doc.Document().Value
	for _, step := range path {
		fields, _ := v.(map[string]any)
		v = fields[step]
	}
	value, ok = v.(T)
	return value, ok
}

// trusts reports whether a file of trusted folders has a folder, as Gemini CLI and Qwen Code read it: the
// longest path that it is beneath counts.
func trusts(file, folder string) bool {
	rules, _ := ofSettings[map[string]any](file)
	longest, trusted := -1, false
	for path, v := range rules {
		top, level := path, fmt.Sprint(v)
		if strings.HasSuffix(level, "_PARENT") {
			top = filepath.Dir(path)
		}
		if len(path) <= longest || !workspace.Beneath(top, folder) {
			continue
		}
		longest, trusted = len(path), strings.HasPrefix(level, "TRUST_")
	}
	return trusted
}
