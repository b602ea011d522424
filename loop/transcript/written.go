package transcript

import "strings"

// written lists the files that a shell line writes, as far as it names them: what output is redirected to, and what
// mv, cp, tee, touch, rm and sed -i are given. Words that the shell would change are left out.
func written(line string) []string {
	var files []string
	add := func(word string) {
		if word != "" && !strings.HasPrefix(word, "-") && !strings.ContainsAny(word, "$`*?&<>(){}") {
			files = append(files, word)
		}
	}
	for _, part := range splitShell(line) {
		var plain []string // words that are no redirection
		into := false
		for _, word := range shellWords(part.text) {
			target, redirects := redirection(word.text)
			redirects = redirects && !word.quoted
			switch {
			case into:
				add(word.text)
				into = false
			case redirects && target == "":
				into = true
			case redirects:
				add(target)
			default:
				plain = append(plain, word.text)
			}
		}
		for len(plain) > 0 && strings.Contains(plain[0], "=") {
			plain = plain[1:] // a variable
		}
		if len(plain) < 2 {
			continue
		}
		switch args := plain[1:]; plain[0] {
		case "tee", "touch", "rm":
			for _, a := range args {
				add(a)
			}
		case "mv":
			for _, a := range args { // what it was called is gone
				add(a)
			}
		case "cp":
			add(args[len(args)-1])
		case "sed":
			if strings.HasPrefix(args[0], "-i") || args[0] == "--in-place" {
				add(args[len(args)-1])
			}
		}
	}
	return files
}

// redirection reports whether a word redirects the output, and to where if the word says that.
func redirection(word string) (target string, ok bool) {
	word = strings.TrimLeft(word, "0123456789")
	word = strings.TrimPrefix(word, "&")
	if !strings.HasPrefix(word, ">") {
		return "", false
	}
	word = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(word, ">"), ">"), "|")
	return word, !strings.HasPrefix(word, "&")
}

// shellWord is a word of a command, without its quotes.
type shellWord struct {
	text   string
	quoted bool // it begins with a quote
}

// arrowSigns are what a redirection begins with.
const arrowSigns = "0123456789&>"

// shellWords takes a simple command apart, at its spaces. A redirection that touches a word is one with it.
func shellWords(command string) []shellWord {
	var words []shellWord
	var word strings.Builder
	in, quoted := false, false
	arrow := true // the word is one that > may follow without a break: &, digits and more of them
	end := func() {
		if in {
			words = append(words, shellWord{word.String(), quoted})
			word.Reset()
			in, quoted, arrow = false, false, true
		}
	}
	for i := 0; i < len(command); i++ {
		switch c := command[i]; c {
		case ' ', '\t', '\n':
			end()
		case '\'', '"':
			to := closingQuote(command, i)
			if to < 0 {
				return words
			}
			quoted = quoted || !in
			word.WriteString(command[i+1 : to])
			arrow = arrow && strings.Trim(command[i+1:to], arrowSigns) == ""
			in, i = true, to
		case '>':
			if in && !arrow {
				end() // echo x>file
			}
			word.WriteByte(c)
			in = true
		default:
			word.WriteByte(c)
			arrow = arrow && strings.IndexByte(arrowSigns, c) >= 0
			in = true
		}
	}
	end()
	return words
}
