package loop

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/git"
	"github.com/ralph-sdk/ralph/rules"
)

// gatherGit returns what the git program reports about a path of the project. It takes no lock that the agent could
// wait for, never asks for a password, and runs no program that the repository names, see [git]. The paths of changed
// are relative to the repository, as in git.
func gatherGit(ctx context.Context, q Query) rules.Value {
	timeout := timeoutOf(q.Fact)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	repo, err := git.Find(q.Root.Dir())
	if err == nil {
		err = repo.Open(ctx)
	}
	var out string
	if err == nil {
		defer repo.Close()
		out, err = repo.Run(ctx, "--no-optional-locks", "status", "--porcelain=v2", "--branch", "-z",
			"--untracked-files=normal", "--ignore-submodules=dirty", "--", q.Args[0])
	}
	v := rules.Value{Status: rules.Missing, Path: q.Args[0]}
	switch {
	case errors.Is(err, git.ErrNone):
		return absent(err.Error())
	case errors.Is(err, exec.ErrNotFound):
		v.Problem = "there is no program git"
		return v
	case errors.Is(err, context.DeadlineExceeded):
		v.Problem = fmt.Sprintf("git did not answer within %s", timeout)
		return v
	case errors.Is(err, git.ErrLong):
		v.Problem = "the names of the changed files are longer than 1 MiB"
	case err != nil:
		said, _, _ := strings.Cut(err.Error(), "\n")
		v.Problem = "git: " + said
		return v
	}
	v.Status, v.V = rules.OK, gitStatus(strings.ToValidUTF8(out, "\ufffd"))
	return v
}

// gitStatus parses the second porcelain format with NUL after every entry.
func gitStatus(out string) map[string]any {
	branch, head := "", ""
	ahead, behind := 0, 0
	var changed []string
	entries := strings.Split(out, "\x00")
	for i := 0; i < len(entries); i++ {
		kind, rest, _ := strings.Cut(entries[i], " ")
		switch kind {
		case "#":
			name, value, _ := strings.Cut(rest, " ")
			switch {
			case name == "branch.oid" && value != "(initial)":
				head = value
			case name == "branch.head" && value != "(detached)":
				branch = value
			case name == "branch.ab":
				_, _ = fmt.Sscanf(value, "+%d -%d", &ahead, &behind)
			}
		case "1":
			changed = append(changed, field(rest, 7))
		case "2":
			changed = append(changed, field(rest, 8))
			i++ // the old name is in an entry of its own
		case "u":
			changed = append(changed, field(rest, 9))
		case "?":
			changed = append(changed, rest)
		}
	}
	slices.Sort(changed)
	changed = slices.DeleteFunc(slices.Compact(changed), func(s string) bool { return s == "" })
	return map[string]any{
		"repo": true, "branch": branch, "head": head, "dirty": len(changed) > 0, "changed": listOf(changed, asAny),
		"ahead": ahead, "behind": behind,
	}
}

// field returns what follows n fields that end with a space each, or "".
func field(s string, n int) string {
	parts := strings.SplitN(s, " ", n+1)
	if len(parts) <= n {
		return ""
	}
	return parts[n]
}
