package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// bareWait is how long ralph without arguments waits for the first byte of a hook's input.
const bareWait = time.Second

// bareInput reads the input of ralph without arguments, as some hosts start it that ignore the arguments of an entry:
// ok reports whether JSON begins on stdin. A terminal is not read, and nothing is when no byte comes in time.
func bareInput(stdin io.Reader, late <-chan time.Time) (input io.Reader, ok bool) {
	if f, isFile := stdin.(*os.File); isFile {
		if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice != 0 {
			return nil, false
		}
	}
	first := make(chan []byte, 1)
	go func() {
		b := make([]byte, 1)
		n, _ := io.ReadFull(stdin, b)
		first <- b[:n]
	}()
	select {
	case b := <-first:
		// An object, perhaps behind white space or a byte order mark.
		return io.MultiReader(bytes.NewReader(b), stdin), len(b) == 1 && strings.IndexByte("{ \t\r\n\xef", b[0]) >= 0
	case <-late:
		return nil, false
	}
}

// bareScope is the scope of ralph without arguments: user where an entry of the user's own settings can be what started it, because
// its arguments are in a list, which a host may ignore, or because it has none. What cannot be read may have one.
func (a *app) bareScope(ctx context.Context) string {
	for _, g := range agents(a.homeDir(), a.getenv) {
		for _, scope := range []string{scopeUser, scopeManaged} {
			if g.files[scope] == "" {
				continue
			}
			s, err := g.open(ctx, "", "", scope)
			if err != nil {
				return scopeUser
			}
			entries, err := s.hookEntries()
			if err != nil || slices.ContainsFunc(entries, hookEntry.startsBare) {
				return scopeUser
			}
		}
	}
	return scopeProject
}

// startsBare reports whether a host that ignores lists of arguments starts ralph without arguments.
func (e hookEntry) startsBare() bool {
	return len(e.words) > 0 && isRalph(e.words[0].text) && (e.listed || len(e.words) == 1)
}
