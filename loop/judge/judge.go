// Package judge is the source judge of policies: it asks a language model one question about the end of a conversation, and its answer
// is a JSON object.
//
// It promises that the key is sent to its service only, follows no redirect and is in no error, that it reads at most 1 MiB of an
// answer, and that the conversation is quoted as material, which the texts in it cannot end. It leaves out the choice of the question
// and the use of the answer, which are the policy's, and whether it may ask at all, which the loop decides.
//
// Begin with [Option].
package judge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-sdk/ralph/internal/process"
	"github.com/ralph-sdk/ralph/internal/text"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
)

const (
	usualModel  = "claude-haiku-4-5-20251001"
	usualTurns  = "5"
	usualTokens = "1024"
	maxAnswer   = 1 << 20 // bytes
	maxBraces   = 100     // of an answer, that may begin an object
)

// Option adds the judge to a loop. It takes the key and the address of its service from the variables ANTHROPIC_API_KEY and
// ANTHROPIC_BASE_URL of this process.
func Option() loop.Option { return loop.WithSource("judge", Source(os.LookupEnv)) }

// Source returns the judge as a source whose variables come from lookup. A fact of it is missing without a key or without a
// conversation. With the option command, a program gets the prompt on stdin and prints the answer; it needs no key.
func Source(lookup func(string) (string, bool)) loop.SourceFunc {
	return func(ctx context.Context, ev loop.Event, q rules.Query) (any, error) {
		key, _ := lookup("ANTHROPIC_API_KEY")
		key = strings.TrimSpace(key)
		if key == "" && len(q.Command) == 0 {
			return nil, fmt.Errorf("ANTHROPIC_API_KEY is not set: %w", fs.ErrNotExist)
		}
		said, err := conversation(ctx, ev, q)
		if err != nil {
			return nil, err
		}
		ask := prompt(q.Args[0], said, q.Fact.Schema)
		var answer string
		if len(q.Command) > 0 {
			answer, err = run(ctx, q.Command, ev.Dir, system(q)+"\n\n"+ask)
		} else {
			base, _ := lookup("ANTHROPIC_BASE_URL")
			answer, err = post(ctx, q, base, key, ask)
		}
		if err != nil {
			return nil, err
		}
		return object(answer, q.Usable)
	}
}

// number returns an option that is a number above 0.
func number(q rules.Query, option, usual string) (int, error) {
	s := cmp.Or(q.Options[option], usual)
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s is %q: write a number above 0", option, s)
	}
	return n, nil
}

// conversation returns the last turns. The agent's last message may be in the event only, since session files lag.
func conversation(ctx context.Context, ev loop.Event, q rules.Query) (turns []loop.Turn, err error) {
	n, err := number(q, "turns", usualTurns)
	if err == nil && ev.Conversation != nil {
		turns, err = ev.Conversation.Turns(ctx, n)
	}
	if err == nil && len(turns) == 0 {
		err = fmt.Errorf("there is no conversation: %w", fs.ErrNotExist)
	}
	if err != nil || ev.Message == "" {
		return turns, err
	}
	turns = slices.Clone(turns)
	switch last := &turns[len(turns)-1]; {
	case last.Role != "assistant":
		turns = append(turns, loop.Turn{Role: "assistant", Text: ev.Message})
	case !strings.Contains(last.Text, strings.TrimSpace(ev.Message)):
		last.Text += "\n\n" + ev.Message
	}
	return turns[max(0, len(turns)-n):], nil
}

// run asks a program.
func run(ctx context.Context, command []string, dir, prompt string) (string, error) {
	r, err := process.Run(ctx, process.Command{Path: command[0], Args: command[1:], Dir: dir, Stdin: []byte(prompt), Limit: maxAnswer})
	if err != nil {
		return "", err
	}
	if r.Code != 0 {
		line, _, _ := strings.Cut(strings.TrimSpace(cmp.Or(string(r.Stderr), string(r.Stdout))), "\n")
		return "", fmt.Errorf("%s ended with status %d: %s", command[0], r.Code, text.Line(text.Cut(line, 200)))
	}
	return string(r.Stdout), nil
}

// object returns the first JSON object of an answer that the policy can use. A fence and words may surround it.
func object(answer string, usable func(any) error) (any, error) {
	found := errors.New("has no JSON object: " + cmp.Or(text.Line(text.Cut(strings.TrimSpace(answer), 80)), "it is empty"))
	rest := answer
	for bad := 0; bad < maxBraces; bad++ {
		_, after, ok := strings.Cut(rest, "{")
		if !ok {
			break
		}
		var raw json.RawMessage
		d := json.NewDecoder(strings.NewReader("{" + after))
		if rest = after; d.Decode(&raw) != nil { // a brace between words
			continue
		}
		v, err := schema.ParseJSON(raw)
		if err == nil {
			err = usable(v)
		}
		if err == nil {
			return v, nil
		}
		found = fmt.Errorf("cannot be used: %w", err)
		rest = rest[d.InputOffset()-1:]
	}
	return nil, fmt.Errorf("the judge's answer %w", found)
}
