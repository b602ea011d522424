package loop

import (
	"context"
	"strings"
)

// recent is how many turns are searched for commands that passed.
const recent = 50

// talk is what was said, read once for each event.
type talk struct {
	ev    Event
	asked int // so many turns were asked for
	turns []Turn
	err   error
	index *index
}

// last returns the last n turns.
func (t *talk) last(ctx context.Context, n int) ([]Turn, error) {
	if t.ev.Conversation != nil && n > t.asked {
		t.asked = n
		v, err := guarded(func() (any, error) { return nilError(t.ev.Conversation.Turns(ctx, n)) })
		t.turns, _ = v.([]Turn)
		t.err = err
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

// texts returns the agent's own texts since the last prompt or continuation, the last first.
func (t *talk) texts(ctx context.Context) ([]string, error) {
	turn, err := t.turn(ctx)
	var texts []string
	for _, s := range []string{t.ev.Message, turn.Text} {
		if s != "" {
			texts = append(texts, s)
		}
	}
	if t.ev.Message != "" {
		err = nil // it decides where it can
	}
	return texts, err
}

func (t *talk) indexed(ctx context.Context) (*index, error) {
	if t.index == nil {
		texts, err := t.texts(ctx)
		if err != nil {
			return nil, err
		}
		t.index = newIndex(texts)
	}
	return t.index, nil
}

func (t *talk) said(ctx context.Context, marker string) (bool, error) {
	i, err := t.indexed(ctx)
	return err == nil && i.said(marker), err
}

func (t *talk) mentions(ctx context.Context, words string) (bool, error) {
	i, err := t.indexed(ctx)
	return err == nil && i.mentions(words), err
}

// transcript is the value of the name transcript.
func (w *work) transcript(ctx context.Context) (any, error) {
	turn, err := w.talk.turn(ctx)
	if err != nil {
		return nil, err
	}
	tools := make([]any, len(turn.Tools))
	for i, tool := range turn.Tools {
		tools[i] = tool.Name
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

// passedSinceEdit reports whether the last use of a shell command, named by its first words, succeeded, and no file was edited since.
// A line counts only if it shows the status of the command: alone, or joined to others by &&.
func passedSinceEdit(turns []Turn, command string) bool {
	words := strings.Fields(command)
	passed := false
	for _, turn := range turns {
		for _, tool := range turn.Tools {
			switch {
			case tool.Edit && !tool.Failed:
				passed = false
			case len(words) > 0 && runs(tool.Command, words):
				passed = !tool.Failed && !strings.ContainsAny(strings.ReplaceAll(tool.Command, "&&", ""), "|;&\n")
			}
		}
	}
	return passed
}

// runs reports whether a line of a shell starts a command, perhaps after others and with variables before it.
func runs(line string, words []string) bool {
	parts := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune("|;&\n", r) })
	for _, part := range parts {
		have := strings.Fields(part)
		for len(have) > 0 && strings.Contains(have[0], "=") {
			have = have[1:]
		}
		if len(have) >= len(words) && strings.Join(have[:len(words)], " ") == strings.Join(words, " ") {
			return true
		}
	}
	return false
}
