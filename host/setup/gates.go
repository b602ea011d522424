package setup

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/hookfile"
	"github.com/ralph-sdk/ralph/internal/jsonedit"
	"github.com/ralph-sdk/ralph/internal/jsontext"
	"github.com/ralph-sdk/ralph/internal/process"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/schema"
)

// A Gate is a confirmation that a host needs from its user before it runs a hook. ralph reports gates and never passes
// one itself: that would forge the user's consent.
type Gate struct {
	Known bool // reported by the host; otherwise it may already be passed
	What  string
	Fix   []string
}

// Gates returns what remains to confirm before the host runs ralph's entries in a file, which may be another host's
// file that the host also reads.
func (g Host) Gates(ctx context.Context, s File) []Gate {
	t := g.Settings.Trust
	entries, err := s.Entries()
	if err != nil || t == nil {
		return nil
	}
	entries = slices.DeleteFunc(entries, func(e Entry) bool { _, ok := e.Ralph(); return !ok })
	switch {
	case len(entries) == 0:
		return nil
	case t.List != nil:
		return g.listedGates(ctx, s, entries)
	case s.scope == ScopeUser || g.trusted():
		return nil
	}
	return []Gate{g.gate(true, t.What, t.Fix)}
}

// gate returns a gate with these texts.
func (g Host) gate(known bool, what, fix string) Gate {
	return Gate{Known: known, What: what, Fix: []string{strings.ReplaceAll(fix, "PROJECT", g.env.Project)}}
}

// trusted reports whether the host trusts the project's directory, or needs no trust.
func (g Host) trusted() bool {
	t, dir := g.Settings.Trust, g.env.dir(g.Host)
	asks, said := ofSettings[bool](g.env.path(hookfile.Path{Name: t.Switch}, dir), "security", "folderTrust", "enabled")
	if !said {
		asks = t.Asks
	}
	variable, value, _ := strings.Cut(t.Env, "=")
	file := g.env.path(t.Folders, dir)
	if !asks || variable != "" && g.env.getenv(variable) == value {
		return true
	}
	if t.Key == "" {
		return trusts(file, g.env.Project)
	}
	directories, _ := ofSettings[[]any](file, t.Key)
	return slices.ContainsFunc(directories, func(v any) bool {
		top, ok := v.(string)
		return ok && workspace.Beneath(top, g.env.Project)
	})
}

// patience is how long to wait for a host's list of hooks.
const patience = 10 * time.Second

// listedGates asks the host itself, which trusts a directory and each entry in it.
func (g Host) listedGates(ctx context.Context, s File, entries []Entry) []Gate {
	t := g.Settings.Trust
	var directory []Gate
	if s.scope == ScopeProject {
		directory = []Gate{g.gate(true, t.What, t.Fix)}
	}
	entry := g.gate(false, t.Entry, t.EntryFix)
	hooks, err := listHooks(ctx, g.env.Project, t)
	if err != nil {
		for i := range directory {
			directory[i].Known, directory[i].What = false, t.Maybe
		}
		return append(directory, entry)
	}
	found := false
	for _, h := range hooks {
		if !workspace.SameFile(h.SourcePath, s.place()) || !slices.ContainsFunc(entries, func(e Entry) bool { return e.Text == h.Command }) {
			continue
		}
		found = true
		switch {
		case !h.Enabled:
			return []Gate{g.gate(true, t.Disabled, t.Enable)}
		case h.TrustStatus != "trusted" && h.TrustStatus != "managed":
			entry.Known = true
			return []Gate{entry}
		}
	}
	if !found && directory != nil {
		return append(directory, entry)
	}
	return nil
}

// listedHook is a hook as a host lists it.
type listedHook struct {
	Command     string `json:"command"`
	SourcePath  string `json:"sourcePath"`
	Enabled     bool   `json:"enabled"`
	TrustStatus string `json:"trustStatus"`
}

// listHooks starts the user's program of a host to list the hooks that it reads in a project.
func listHooks(ctx context.Context, project string, t *hookfile.Trust) ([]listedHook, error) {
	program, err := exec.LookPath(t.List[0])
	if err != nil {
		return nil, err
	}
	if resolved, err := filepath.EvalSymlinks(program); err != nil || workspace.Beneath(project, program) || workspace.Beneath(project, resolved) {
		return nil, fmt.Errorf("%s is in the project, so it is not started", program)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	in, ask := io.Pipe() // its end ends the program
	out, printed := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, err := process.Command{Args: t.List, Path: program, Dir: project, Env: os.Environ(), Stdin: in, Stdout: printed}.Run(ctx)
		in.Close()
		printed.CloseWithError(cmp.Or(err, io.EOF))
	}()
	defer func() {
		ask.Close()
		out.Close()
		<-ended
	}()
	if _, err := fmt.Fprintln(ask, strings.ReplaceAll(strings.Join(t.Ask, "\n"), "PROJECT", string(jsontext.Encode(project)))); err != nil {
		return nil, err
	}
	answers := json.NewDecoder(out)
	for {
		var answer struct {
			ID     any `json:"id"`
			Result struct {
				Data []struct {
					Hooks []listedHook `json:"hooks"`
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
			return nil, fmt.Errorf("%s lists no hooks: %v", t.List[0], answer.Error)
		}
		return answer.Result.Data[0].Hooks, nil
	}
}

// ofSettings returns a value of a host's own settings; ok is false if it is not set. Some hosts write comments into
// them.
func ofSettings[T any](file string, path ...string) (value T, ok bool) {
	doc, err := schema.ParseJSON(jsonedit.Uncommented([]byte(readUserFile(file))))
	if err != nil {
		return value, false
	}
	v := doc.Value
	for _, step := range path {
		fields, _ := v.(map[string]any)
		v = fields[step]
	}
	value, ok = v.(T)
	return value, ok
}

// trusts reports whether a file of trusted directories includes folder, as Gemini CLI and Qwen Code read it: the
// longest path above it counts.
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
