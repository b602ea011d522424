package main

import (
	"context"
	"fmt"
	"path"
	"strings"
	"unicode"

	"github.com/ralph-sdk/ralph/state"
)

// An ownFile is a file that one session has in the place of one that all share.
type ownFile struct {
	session string
	path    string
}

// ownFiles lists the files of single sessions. In the pattern a star stands for the id.
func ownFiles(ctx context.Context, root *state.Root, pattern string) []ownFile {
	before, after, ok := strings.Cut(path.Clean(pattern), "*")
	if !ok {
		return nil
	}
	literal := strings.NewReplacer("?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`, `\`, `\\`)
	files, _, err := state.ReadAll(ctx, root, state.File{Path: literal.Replace(before) + "*" + literal.Replace(after)}, 0, func(d state.Doc) ownFile {
		return ownFile{strings.TrimSuffix(strings.TrimPrefix(d.Path, before), after), d.Path}
	})
	if err != nil {
		return nil // as if there were none: status and doctor read each file that they know of by itself
	}
	return files
}

// ownPath puts the id of a session into such a pattern.
func ownPath(pattern, session string) (string, error) {
	bad := strings.ContainsAny(session, `/\`) || strings.ContainsFunc(session, unicode.IsControl) || strings.HasPrefix(session, ".")
	switch {
	case bad:
		return "", fmt.Errorf("the session id %q cannot be part of the name of a file, %s: the session cannot have a loop of its own beside another one", session, pattern)
	case len(session) > maxOwnID:
		return "", fmt.Errorf("the session id is too long for the name of a file (%d bytes, the limit is %d): the session cannot have a loop of its own beside another one", len(session), maxOwnID)
	}
	return strings.Replace(path.Clean(pattern), "*", session, 1), nil
}

// maxOwnID leaves room in a name, which can have 255 bytes.
const maxOwnID = 200
