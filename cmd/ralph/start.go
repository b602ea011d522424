package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
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
	template   string
	todos      bool
	project    string
	force      bool

	text string // of the prompt: that of the template, or of the todos
}

func (a *app) startCommand() *cobra.Command {
	var f startFlags
	cmd := &cobra.Command{
		Use:   "start POLICY [PROMPT]...",
		Short: "Start a loop: write its file",
		Long: "start writes the file that a policy reads. There are two kinds:\n\n" +
			"ralph-wiggum and stravinsky repeat a prompt. It is any text: the words after the policy, a\n" +
			"file, or standard input. Put -- before words that begin with a dash. A template, or the\n" +
			"open todos of a session of Claude Code, also set the promise and the limit; words after\n" +
			"the policy then add to the text.\n\n" +
			"speckit and specum continue the tasks of a tool. The word after the policy is the name of\n" +
			"the feature or spec; without it the current one counts. start writes the first state of\n" +
			"its tasks, from its tasks.md.\n\n" +
			"start does not touch a loop that runs; --force archives it first. A state of a tool is\n" +
			"kept; --session sets its owner, if the schema of the state has a field session_id.\n\n" +
			"Several sessions can have a loop of one policy at once. If the loop that runs belongs to\n" +
			"another session, --session ID starts one that only this session follows, in a file of its\n" +
			"own; in a session of Claude Code its id is known.\n\nTemplates:\n" + strings.TrimRight(templateList(), "\n"),
		Example: "  ralph start ralph-wiggum 'Make all tests pass' --max 20 --promise DONE\n" +
			"  ralph start ralph-wiggum --prompt-file PROMPT.md --max 50\n" +
			"  git log -1 --format=%B | ralph start stravinsky --prompt-file -\n" +
			"  ralph start ralph-wiggum --max 5 -- --verbose must be documented\n" +
			"  ralph start stravinsky --template fix-tests 'Begin with the parser.'\n" +
			"  ralph start speckit 001-login",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("name the policy whose loop to start, such as ralph-wiggum")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			f.hasMax, f.hasPromise = cmd.Flags().Changed("max"), cmd.Flags().Changed("promise")
			return a.start(cmd.Context(), args[0], args[1:], f)
		},
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w; if it belongs to the prompt, put -- before the prompt", flagError(cmd, err))
	})
	fl := cmd.Flags()
	fl.StringVar(&f.promptFile, "prompt-file", "", "`file` that holds the prompt, - for standard input")
	fl.IntVar(&f.max, "max", 0, "end the loop after this many iterations")
	fl.StringVar(&f.promise, "promise", "", "`text` that the agent writes when it is done")
	fl.StringVar(&f.template, "template", "", "start from the template of this `name`")
	fl.BoolVar(&f.todos, "from-todos", false, "start from the open todos of a session of Claude Code")
	fl.StringVar(&f.session, "session", "", "`id` of the session that owns the loop, and whose todos are read (default: the one that runs this command)")
	projectFlag(fl, &f.project)
	fl.BoolVar(&f.force, "force", false, "archive a loop that is running")
	return cmd
}

// session is the session that the loop is for, "" if that is not known.
func (a *app) session(f startFlags) string {
	return cmp.Or(f.session, a.getenv("CLAUDE_CODE_SESSION_ID"))
}

func (a *app) start(ctx context.Context, name string, words []string, f startFlags) error {
	root, err := a.openProject(f.project)
	if err != nil {
		return err
	}
	defer root.Close()
	l, ok, err := a.openLoop(ctx, root.Dir(), name)
	if err != nil {
		return err
	}
	if !ok {
		return a.startWithoutPrompt(ctx, root, name, words, f)
	}
	session := a.session(f)
	if f, err = a.filledIn(ctx, root, f, session); err != nil {
		return err
	}
	prompt, err := a.prompt(root.Dir(), words, f)
	if err != nil {
		return err
	}
	src, err := l.compose(prompt, f, session, time.Now())
	if err != nil {
		return err
	}
	shared := l.path
	if l, err = a.place(ctx, root, l, session, f.force); err != nil {
		return err
	}
	if err := a.clear(ctx, root, l, session, f.force); err != nil {
		return err
	}
	if err := writeNew(ctx, root, l.path, src); err != nil {
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
	if l.session != "" && root.Exists(shared) {
		fmt.Fprintf(a.stdout, "  beside the loop of %s, which goes on\n", shared)
	}
	fmt.Fprintf(a.stdout, "  pause it: ralph pause %s   end it: ralph stop %[1]s\n", l.args())
	a.adviseStarted(ctx, root, l.policy)
	return nil
}

// startWithoutPrompt starts the work of a tool, if the policy continues such work.
func (a *app) startWithoutPrompt(ctx context.Context, root *state.Root, name string, words []string, f startFlags) error {
	pointed := ""
	if len(words) > 0 {
		pointed = strings.TrimRight(words[0], "/")
	}
	t, ok, err := a.openTool(ctx, root, name)
	var s toolState
	if ok {
		s, ok, err = a.forStart(ctx, root, t, a.session(f), pointed)
	}
	switch {
	case err != nil:
		return err
	case !ok:
		return fmt.Errorf("%s has no loop file to write: its loop starts at a stop, when a continue rule holds. To see which: ralph explain --policy %s", name, name)
	case len(words) > 1 || f.promptFile != "" || f.template != "" || f.todos:
		return fmt.Errorf("%s repeats no prompt: it takes the name of the folder that %s names, or nothing", name, s.pointer)
	}
	return a.startTool(ctx, root, s, f)
}

// adviseStarted says what else keeps a loop that was started from running.
func (a *app) adviseStarted(ctx context.Context, root *state.Root, p policy) {
	if why, off := workspace.Off(root.Dir(), a.getenv); off {
		fmt.Fprintf(a.stdout, "loops are off, because %s; turn them on with: ralph resume\n", why)
	}
	if !a.asked(ctx, p) {
		fmt.Fprintf(a.stdout, "no agent uses this policy yet; install it with: ralph install claude-code --policy %s\n", p.shortName())
	}
}

// writeNew writes a file that must not be there yet.
func writeNew(ctx context.Context, root *state.Root, path string, src []byte) error {
	err := root.Write(ctx, path, src, "")
	if errors.Is(err, state.ErrChanged) {
		return fmt.Errorf("%s appeared just now: another command started a loop at the same time", path)
	}
	return err
}

func noField(policy, flag string) error { return fmt.Errorf("%s has no field for %s", policy, flag) }

// prompt gives the text that the loop repeats.
func (a *app) prompt(project string, words []string, f startFlags) (string, error) {
	text := strings.Join(words, " ")
	if f.text != "" {
		text = strings.TrimSpace(f.text + "\n\n" + text)
	}
	if f.promptFile != "" {
		if len(words) > 0 {
			return "", errors.New("give the prompt as words or with --prompt-file, not both")
		}
		r := a.stdin
		if f.promptFile != "-" {
			file, err := a.openNamed(project, f.promptFile)
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
		return "", errors.New("there is no prompt: write it after the policy, or name a file with --prompt-file (- is standard input)")
	case len(text) > state.MaxFileSize-4096:
		return "", fmt.Errorf("the prompt is too large (the limit is %d MiB)", state.MaxFileSize>>20)
	case !utf8.ValidString(text):
		return "", errors.New("the prompt is not valid UTF-8")
	}
	return text, nil
}

// compose makes the loop file.
func (l loopFile) compose(prompt string, f startFlags, session string, now time.Time) ([]byte, error) {
	var order []string
	values := map[string]any{}
	put := func(name string, value any) { order, values[name] = append(order, name), value }
	// want puts a value that was asked for, or what the schema has in its place.
	want := func(names []string, asked bool, value any, flag string) error {
		name, t := l.field(names)
		switch {
		case name == "" && asked:
			return noField(l.policy.name, flag)
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
	// With --from-todos the flag also says whose todos they are.
	if name, _ := l.field(ownerFields()); f.session != "" && !f.todos || session != "" && name != "" {
		if err := want(ownerFields(), true, session, "--session"); err != nil {
			return nil, err
		}
	}
	if name, t := l.field(startedFields()); name != "" && t.Kind == schema.String {
		put(name, now.UTC().Format(time.RFC3339))
	}
	if err := l.check(values); err != nil {
		return nil, err
	}
	return state.NewDocument(state.FrontMatter, order, values, prompt)
}

// check compares values with the schema of the file.
func (l loopFile) check(values map[string]any) error {
	checked := l.fact.Schema.Check(schema.Document{Value: values})
	for _, bad := range append(checked.Unusable, checked.Warnings...) {
		return fmt.Errorf("%s of %s %s", fieldName(bad), l.policy.shortName(), bad.Text())
	}
	return nil
}

// place chooses the file of a new loop: the session's own one, if that is there, or if the
// one that all sessions share is the loop of another session.
func (a *app) place(ctx context.Context, root *state.Root, shared loopFile, session string, force bool) (loopFile, error) {
	if session == "" {
		return shared, nil
	}
	own, ok, unfit := shared.ofSession(session)
	if !ok {
		return shared, nil
	}
	if unfit == nil && !own.absent(root, own.read(ctx, root)) {
		return own, nil
	}
	r := shared.read(ctx, root)
	if force || r.doc.Status != state.OK {
		return shared, nil
	}
	store, err := a.store()
	if err != nil {
		return shared, err
	}
	sessions, err := sessionsOf(store, root.Dir())
	if err != nil {
		return shared, err
	}
	if owner, _ := ownerOf(ctx, store, root, shared, r, sessions); owner == session {
		return shared, nil
	}
	return own, unfit
}

// clear makes room for a new loop, or says that one runs.
func (a *app) clear(ctx context.Context, root *state.Root, l loopFile, session string, force bool) error {
	old := l.read(ctx, root)
	if l.absent(root, old) {
		return nil
	}
	if force {
		return a.archive(ctx, root, l, old)
	}
	how := "a loop is already running"
	switch {
	case old.doc.Status == state.Missing:
		return fmt.Errorf("%s exists and is no loop: it %s; remove it, or archive it with --force", l.path, old.doc.Problem)
	case old.doc.Status == state.Invalid:
		return fmt.Errorf("%s exists and cannot be used: it %s; repair it, or archive it with --force", l.path, old.doc.Problem)
	case old.paused():
		how = "there is already a paused loop"
	}
	if p := old.progress(); p != "" {
		how += ", at " + p
	}
	beside := ""
	if _, ok := l.fact.File("*"); ok && session == "" {
		beside = "; for a loop beside it, name the session: --session ID"
	}
	return fmt.Errorf("%s: %s; end it with `ralph stop %s`, or archive it with --force%s", l.path, how, l.args(), beside)
}

// archive puts away what was there.
func (a *app) archive(ctx context.Context, root *state.Root, l loopFile, old loopState) error {
	err := a.putAway(ctx, root, l, old, "ralph start --force", time.Now())
	if err == nil {
		fmt.Fprintf(a.stdout, "archived the earlier loop in %s\n", state.ArchiveDir)
	}
	return err
}
