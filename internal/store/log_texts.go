package store

import (
	"bytes"
	"fmt"
	"io"

	"github.com/ralph-sdk/ralph/internal/jsontext"
)

// A text that recent decisions of the same file already have is kept once: later ones name its place in the file, or in
// their own line. The escape begins such a reference, because an encoder does not write it for this character.
const (
	leastShared = 256      // bytes of a text that is worth a reference
	recentTexts = 16 << 10 // bytes at the end of a file in which texts are looked for

	inFile = `\u0040%d %d`  // offset in the file, length
	inLine = `\u0040+%d %d` // offset in the line, length
)

// shared returns a line in which references replace texts that the file has, of which size bytes are written.
func shared(f io.ReaderAt, size int64, line []byte) []byte {
	long := false
	jsontext.Replace(line, func(_, text []byte) []byte {
		long = long || len(text) >= leastShared
		return text
	})
	if !long {
		return line
	}
	known := recent(f, size)
	own := map[string]int{}
	return jsontext.Replace(line, func(out, text []byte) []byte {
		if len(text) < leastShared {
			return text
		}
		if at, ok := known[string(text)]; ok {
			return fmt.Appendf(nil, inFile, at, len(text))
		}
		if at, ok := own[string(text)]; ok {
			return fmt.Appendf(nil, inLine, at, len(text))
		}
		own[string(text)] = len(out)
		return text
	})
}

// recent returns the long texts of the last lines of a file, and where each is.
func recent(f io.ReaderAt, size int64) map[string]int64 {
	start := max(0, size-recentTexts)
	tail := make([]byte, size-start)
	if _, err := f.ReadAt(tail, start); err != nil && err != io.EOF {
		return nil
	}
	known := map[string]int64{}
	for line := range bytes.Lines(tail) {
		from := start
		start += int64(len(line))
		if !bytes.HasPrefix(line, []byte("{")) { // its beginning is not in the tail
			continue
		}
		jsontext.Replace(line, func(out, text []byte) []byte {
			if at, n, ok := reference(text, from); ok {
				if found := textAt(f, at, n); found != nil {
					known[string(found)] = at
				}
			} else if len(text) >= leastShared {
				known[string(text)] = from + int64(len(out))
			}
			return text
		})
	}
	return known
}

// reference returns what a reference in the line at an offset of the file names.
func reference(text []byte, line int64) (at, n int64, ok bool) {
	if !bytes.HasPrefix(text, []byte(`\u0040`)) {
		return 0, 0, false
	}
	if count, _ := fmt.Sscanf(string(text), inLine, &at, &n); count == 2 && text[len(`\u0040`)] == '+' {
		at += line
	} else if count, _ := fmt.Sscanf(string(text), inFile, &at, &n); count != 2 {
		return 0, 0, false
	}
	return at, n, at > 0 && n >= leastShared && n <= MaxLogLine
}

// textAt returns the text at a place of a file, nil if there is none.
func textAt(f io.ReaderAt, at, n int64) []byte {
	quoted := make([]byte, n+2)
	if _, err := f.ReadAt(quoted, at-1); err != nil {
		return nil
	}
	text := quoted[1 : n+1]
	if quoted[0] != '"' || quoted[n+1] != '"' || bytes.IndexByte(text, '\n') >= 0 {
		return nil
	}
	return text
}

// whole returns the line at an offset of a file with the texts that it refers to. What is lost is said.
func whole(f io.ReaderAt, at int64, line []byte) []byte {
	if !bytes.Contains(line, []byte(`"\u0040`)) {
		return line
	}
	return jsontext.Replace(line, func(_, text []byte) []byte {
		from, n, ok := reference(text, at)
		if !ok {
			return text
		}
		if found := textAt(f, from, n); found != nil {
			return found
		}
		return fmt.Appendf(nil, "(%d bytes are lost)", n)
	})
}
