package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ralph-sdk/ralph/internal/workspace"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/schema"
	"github.com/ralph-sdk/ralph/state"
)

type startFlags struct {
	promptFile string
	max        int
	hasMax     bool
	promise    string
	hasPromise bool
	session    string
	project    string
	force      bool
}

func (a *app) startCommand() *cobra.Command {
	var f startFlags
	cmd := &cobra.Command{
		Use:   "start POLICY [PROMPT]...",
		Short: "Start a loop: write the file that a policy goes by",
		Long: "start writes the loop file of a policy that has one, such as ralph-wiggum or stravinsky.\n" +
			"The prompt is any text: the words behind the policy, a file, or standard input. Put --\n" +
			"before words that begin with a dash. A loop that runs already is not touched; --force\n" +
			"archives it first.",
		Example: "  ralph start ralph-wiggum 'Make all tests pass' --max 20 --promise DONE\n" +
			"  ralph start ralph-wiggum --prompt-file PROMPT.md --max 50\n" +
			"  git log -1 --format=%B | ralph start stravinsky --prompt-file -\n" +
			"  ralph start ralph-wiggum --max 5 -- --verbose must be documented",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("name the policy whose loop is to start, such as ralph-wiggum")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			f.hasMax, f.hasPromise = cmd.Flags().Changed("max"), cmd.Flags().Changed("promise")
			return a.start(cmd.Context(), args[0], args[1:], f)
		},
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return fmt.Errorf("%w; if it belongs to the prompt, put -- before the prompt", err)
	})
	fl := cmd.Flags()
	fl.StringVar(&f.promptFile, "prompt-file", "", "`file` that holds the prompt, - for standard input")
	fl.IntVar(&f.max, "max", 0, "end the loop after so many iterations")
	fl.StringVar(&f.promise, "promise", "", "`text` by which the agent says that it is done")
	fl.StringVar(&f.session, "session", "", "only the session with this `id` is looped (default: the one that runs this command)")
	projectFlag(fl, &f.project)
	fl.BoolVar(&f.force, "force", false, "archive a loop that runs already")
	return cmd
}

func (a *app) start(ctx context.Context, name string, words []string, f startFlags) error {
	root, err := openProject(f.project)
	if err != nil {
		return err
	}
	defer root.Close()
	l, ok, err := a.openLoop(ctx, root.Dir(), name)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("%s has no loop file to write: it starts by itself when the agent stops and one of its continue rules holds; see: ralph explain --policy %s", name, name)
	}
	prompt, err := a.prompt(words, f)
	if err != nil {
		return err
	}
	src, err := l.compose(prompt, f, a.getenv("CLAUDE_CODE_SESSION_ID"), time.Now())
	if err != nil {
		return err
	}
	if err := a.clear(ctx, root, l, f.force); err != nil {
		return err
	}
	err = root.Write(ctx, l.path, src, "")
	if errors.Is(err, state.ErrChanged) {
		return fmt.Errorf("%s appeared just now: somebody else starts a loop too", l.path)
	}
	if err != nil {
		return err
	}
	r := l.read(ctx, root)
	fmt.Fprintf(a.stdout, "started %s: %s\n", name, l.path)
	line := r.progress()
	if p := r.text(promiseFields()); p != "" {
		line = strings.TrimPrefix(line+fmt.Sprintf(", until the agent says %q", p), ", ")
	}
	if s := r.text(ownerFields()); s != "" {
		line = strings.TrimPrefix(line+", for session "+s, ", ")
	}
	if line != "" {
		fmt.Fprintf(a.stdout, "  %s\n", line)
	}
	fmt.Fprintf(a.stdout, "  pause it: ralph pause %s   end it: ralph stop %s\n", name, name)
	if why, off := workspace.Off(root.Dir(), a.getenv); off {
		fmt.Fprintf(a.stdout, "loops are switched off, because %s; switch them on: ralph resume\n", why)
	}
	if !a.asked(ctx, l.policy) {
		fmt.Fprintf(a.stdout, "no agent asks this policy yet: ralph install claude-code --policy %s\n", name)
	}
	return nil
}

// prompt gives the text that the loop repeats.
func (a *app) prompt(words []string, f startFlags) (string, error) {
	text := strings.Join(words, " ")
	if f.promptFile != "" {
		if len(words) > 0 {
			return "", errors.New("the prompt stands in the words or in --prompt-file, not in both")
		}
		r := a.stdin
		if f.promptFile != "-" {
			file, err := os.Open(f.promptFile)
			if err != nil {
				return "", fmt.Errorf("the prompt cannot be read: %w", err)
			}
			defer file.Close()
			r = file
		}
		var b bytes.Buffer
		if _, err := io.Copy(&b, io.LimitReader(r, state.MaxFileSize+1)); err != nil {
			return "", fmt.Errorf("the prompt cannot be read: %w", err)
		}
		text = b.String()
	}
	switch {
	case strings.TrimSpace(text) == "":
		return "", errors.New("there is no prompt: write it behind the policy, or name a file with --prompt-file (- is standard input)")
	case len(text) > state.MaxFileSize-4096:
		return "", fmt.Errorf("the prompt is longer than %d MiB", state.MaxFileSize>>20)
	case !utf8.ValidString(text):
		return "", errors.New("the prompt is not text: it holds bytes that are not UTF-8")
	}
	return text, nil
}

// compose makes the loop file.
func (l loopFile) compose(prompt string, f startFlags, session string, now time.Time) ([]byte, error) {
	var sets []state.Set
	put := func(name string, value any) { sets = append(sets, state.Set{Path: []any{name}, Value: value}) }
	// want puts a value that was asked for, or what the schema has in its place.
	want := func(names []string, asked bool, value any, flag string) error {
		name, t := l.field(names)
		switch {
		case name == "" && asked:
			return fmt.Errorf("%s has no field for %s", l.policy.name, flag)
		case name == "":
		case asked:
			put(name, value)
		case t.HasDefault && t.Default != "":
			put(name, t.Default)
		}
		return nil
	}
	if name, t := l.field(activeFields()); name != "" && t.Kind == schema.Bool {
		put(name, true)
	}
	if err := want(counterFields(), false, nil, ""); err != nil {
		return nil, err
	}
	if err := want(maximumFields(), f.hasMax, f.max, "--max"); err != nil {
		return nil, err
	}
	if err := want(promiseFields(), f.hasPromise, f.promise, "--promise"); err != nil {
		return nil, err
	}
	if name, _ := l.field(ownerFields()); f.session != "" || session != "" && name != "" {
		if f.session != "" {
			session = f.session
		}
		if err := want(ownerFields(), true, session, "--session"); err != nil {
			return nil, err
		}
	}
	if name, t := l.field(startedFields()); name != "" && t.Kind == schema.String {
		put(name, now.UTC().Format(time.RFC3339))
	}
	values := map[string]any{}
	for _, s := range sets {
		values[s.Path[0].(string)] = s.Value
	}
	checked := l.fact.Schema.Check(schema.Document{Value: values})
	for _, bad := range append(checked.Unusable, checked.Warnings...) {
		return nil, fmt.Errorf("%s: %s", strings.TrimPrefix(bad.Pointer, "/"), bad.Text())
	}
	head, err := state.Edit([]byte("---\n---\n"), state.FrontMatter, sets)
	if err != nil {
		return nil, err
	}
	src := append(head, '\n')
	src = append(src, prompt...)
	if !strings.HasSuffix(prompt, "\n") {
		src = append(src, '\n')
	}
	return src, nil
}

// clear makes room for a new loop, or says that one runs.
func (a *app) clear(ctx context.Context, root *state.Root, l loopFile, force bool) error {
	old := l.read(ctx, root)
	if old.doc.Status == state.Missing && old.doc.Quiet && !root.Exists(l.path) {
		return nil
	}
	if force {
		if err := a.change(ctx, root, state.Change{Path: l.path, Op: state.OpArchive, Version: old.doc.Version, At: time.Now()}); err != nil {
			return err
		}
		fmt.Fprintf(a.stdout, "archived the loop that was there: %s\n", filepath.ToSlash(archiveFolder))
		return nil
	}
	how := "a loop is running already"
	if old.paused() {
		how = "there is a paused loop already"
	}
	if p := old.progress(); p != "" {
		how += ", at " + p
	}
	return fmt.Errorf("%s: %s; end it with: ralph stop %s, or start with --force, which archives it", l.path, how, l.policy.shortName())
}
