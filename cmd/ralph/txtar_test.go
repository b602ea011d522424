package main

import (
	"bytes"
	"strings"
)

// An archive is a comment followed by files, each under a line "-- NAME --".
type archive struct {
	comment string
	files   []archived
}

type archived struct {
	name string
	data string
}

func parseArchive(src []byte) archive {
	var a archive
	into := &a.comment
	for line := range strings.Lines(string(bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n")))) {
		mark := strings.TrimRight(line, "\n")
		if name, ok := strings.CutPrefix(mark, "-- "); ok {
			if name, ok := strings.CutSuffix(name, " --"); ok {
				a.files = append(a.files, archived{name: strings.TrimSpace(name)})
				into = &a.files[len(a.files)-1].data
				continue
			}
		}
		*into += line
	}
	return a
}

func (a archive) format() []byte {
	var b strings.Builder
	b.WriteString(a.comment)
	for _, f := range a.files {
		b.WriteString("-- " + f.name + " --\n" + f.data)
	}
	return []byte(b.String())
}
