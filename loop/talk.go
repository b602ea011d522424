package loop

import (
	"context"
	"regexp"
	"slices"
	"strings"
)

// recent is how many turns are searched for commands that passed.
const recent = 50

// talk is what was said, read once for each event.
type talk struct {
	ev    *Event
	asked int // so many turns were asked for
	turns []Turn
	err   error
	index *index
}

// last returns the last n turns.
func (t *talk) last(ctx context.Context, n int) ([]Turn, error) {
	if t.ev.Conversation != nil && n > t.asked {
		t.asked = n
		func() {
			defer caught(&t.err)
			t.turns, t.err = t.ev.Conversation.Turns(ctx, n)
		}()
	}
	return t.turns[max(0, len(t.turns)-n):], t.err
}

// turn returns what the agent said and did since the last prompt or continuation, if the conversation has it already.
func (t *talk) turn(ctx context.Context) (Turn, error) {
	turns, err := t.last(ctx, 1)
	if err != nil || len(turns) == 0 || turns[0].Role != "assistant" {
		return Turn{}, err
	}
	return turns[0], nil
}

// message returns the agent's last text.
func (t *talk) message(ctx context.Context) (string, error) {
	if t.ev.Message != "" {
		return t.ev.Message, nil
	}
	turn, err := t.turn(ctx)
	return turn.Text, err
}

// indexed returns the index of the agent's own texts since the last prompt or continuation, the last first.
func (t *talk) indexed(ctx context.Context) (*index, error) {
	if t.index != nil {
		return t.index, nil
	}
	turn, err := t.turn(ctx)
	if err != nil && t.ev.Message == "" { // a message decides where it can
		return nil, err
	}
	t.index = newIndex(slices.DeleteFunc([]string{t.ev.Message, turn.Text}, func(s string) bool { return s == "" }))
	return t.index, nil
}

// transcript is the value of the name transcript.
func (w *work) transcript(ctx context.Context) (any, error) {
	turn, err := w.talk.turn(ctx)
	if err != nil {
		return nil, err
	}
	tools := []string{}
	for _, tool := range turn.Tools {
		tools = append(tools, tool.Name)
	}
	return map[string]any{
		"tools": tools, "tokens": turn.Tokens,
		"turns": func(n int) []any {
			turns, _ := w.talk.last(ctx, max(0, n)) // an error was that of the name
			list := make([]any, len(turns))
			for i, t := range turns {
				list[i] = map[string]any{"role": t.Role, "text": t.Text}
			}
			return list
		},
		"passed_since_edit": func(command string) bool {
			turns, _ := w.talk.last(ctx, recent)
			return passedSinceEdit(turns, command)
		},
	}, nil
}

// passedSinceEdit reports whether the last use of a shell command, named by its first words, succeeded, and no file was edited since. It may
// stand after others, and after variables. A line counts only if it shows the status of the command: alone, or joined to others by &&.
func passedSinceEdit(turns []Turn, command string) bool {
	words := strings.Fields(regexp.QuoteMeta(command))
	if len(words) == 0 {
		return false
	}
	runs := regexp.MustCompile(`(?:^|[|;&\n])[ \t]*(?:[^\s|;&]*=[^\s|;&]*[ \t]+)*` + strings.Join(words, `[ \t]+`) + `(?:[\s|;&]|$)`)
	passed := false
	for _, turn := range turns {
		for _, tool := range turn.Tools {
			switch {
			case tool.Edit && !tool.Failed:
				passed = false
			case runs.MatchString(tool.Command):
				passed = !tool.Failed && !strings.ContainsAny(strings.ReplaceAll(tool.Command, "&&", ""), "|;&\n")
			}
		}
	}
	return passed
}

// index finds words in texts, each of which it reads once, whatever number of rules ask.
type index struct {
	lines  []string // of all texts, without decoration, each with a space at its end; an empty one follows each text
	folded string   // the last text
}

func newIndex(texts []string) *index {
	i := &index{}
	for n, t := range texts {
		if n == 0 {
			i.folded = fold(t)
		}
		for line := range strings.Lines(t) {
			i.lines = append(i.lines, bare(line)+" ")
		}
		i.lines = append(i.lines, " ")
	}
	return i
}

// tags puts white space around tags, where it does not matter.
var tags = strings.NewReplacer(">", "> ", "<", " <")

// bare returns a line without the signs of emphasis, headings and code around it.
func bare(line string) string {
	return strings.Trim(squeeze(tags.Replace(line)), "#*_` ")
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

func fold(s string) string { return strings.ToLower(squeeze(s)) }

// said reports whether a marker is alone on its line. It may be broken over lines.
func (i *index) said(marker string) bool {
	marker = bare(marker) + " "
	for at := range i.lines {
		rest, begins := marker, marker != " "
		for next := at; begins && rest != ""; next++ { // an empty line ends it
			rest, begins = strings.CutPrefix(rest, i.lines[next])
		}
		if begins {
			return true
		}
	}
	return false
}

// mentions reports whether the last text has words, or one of several that | separates, in any case.
func (i *index) mentions(words string) bool {
	for _, w := range append(strings.Split(words, "|"), words) {
		if w = fold(w); w != "" && strings.Contains(i.folded, w) {
			return true
		}
	}
	return false
}
