package main

import (
	"bytes"
	"io"
	"strings"
	"time"
)

// bareWait is how long ralph without arguments waits for the first byte of input.
const bareWait = time.Second

// bareInput reads the input of ralph without arguments, for hosts that ignore the arguments of an entry. ok reports
// whether JSON begins on stdin. It does not read a terminal, and stops waiting when late fires.
func bareInput(stdin io.Reader, late <-chan time.Time) (input io.Reader, ok bool) {
	if _, ok := terminalOf(stdin); ok {
		return nil, false
	}
	first := make(chan []byte, 1)
	go func() {
		b := make([]byte, 1)
		n, _ := io.ReadFull(stdin, b)
		first <- b[:n]
	}()
	select {
	case b := <-first:
		// An object, possibly after white space or a byte order mark.
		return io.MultiReader(bytes.NewReader(b), stdin), len(b) == 1 && strings.IndexByte("{ \t\r\n\xef", b[0]) >= 0
	case <-late:
		return nil, false
	}
}
