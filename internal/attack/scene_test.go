package attack_test

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// scene is a file of testdata. It begins with lines that describe what is done; the files of the project follow, each under a
// line "-- NAME --". The lines are
//
//	# TEXT              a comment
//	try VALUE           one attack, whose value replaces @X everywhere. A value in quotation marks has Go's escapes;
//	                    "a"*1000 "b" is a thousand a and a b
//	prepare COMMAND     a line for the shell, run in the project before
//	env NAME=VALUE      a variable for ralph
//	run COMMAND         what is attacked, in words and without a shell: ralph eval, unless the scene says otherwise.
//	                    It reads the file stdin, else the event of a stop. Other commands than ralph eval may print
//	                    what they like and fail, but not with status 2
//	want stop           what the last answer must be: stop (unless the scene says otherwise), continue, or any
//	says TEXT           what the answers must have, so that an attack that misses its aim does not pass
//	allow NAME…         where the secret may be, or what may change: stdout, stderr, or a path such as PROJECT/state.json,
//	                    or a directory such as PROJECT/.ralph/runs/
//	within DURATION     how long one command may take, 20s unless the scene says otherwise
//	memory MIB          how much memory it may take, 512 MiB unless the scene says otherwise (on Linux)
//
// The file judge is not a part of the project either: it is what the model's service answers, as it goes over the wire.
//
// In all of it @PROJECT is the project, @HOME the home directory, @STATE ralph's own directory and @OUT a directory
// outside of them all. @SECRET is a string in @OUT/secret.txt and in @HOME/.netrc; @MARK is a file that only a program
// that an attack starts would make; @SPY is an address to which nothing may connect.
type scene struct {
	try     []string
	prepare []string
	env     []string
	run     []string
	want    string
	says    []string
	allow   []string
	within  time.Duration
	memory  int64 // MiB
	files   []file
	stdin   string
	judge   string
}

type file struct{ name, text string }

func parse(src string) (*scene, error) {
	s := &scene{want: "stop", within: 20 * time.Second, memory: 512}
	var files []file
	for n, line := range strings.Split(src, "\n") {
		if name, ok := strings.CutPrefix(line, "-- "); ok {
			if name, ok := strings.CutSuffix(name, " --"); ok {
				files = append(files, file{name: name})
				continue
			}
		}
		if len(files) > 0 {
			files[len(files)-1].text += line + "\n"
			continue
		}
		if err := s.line(line); err != nil {
			return nil, fmt.Errorf("%d: %w", n+1, err)
		}
	}
	for _, f := range files {
		switch f.text = strings.TrimSuffix(f.text, "\n"); f.name {
		case "stdin":
			s.stdin = f.text
		case "judge":
			s.judge = strings.ReplaceAll(f.text, "\n", "\r\n")
		default:
			s.files = append(s.files, f)
		}
	}
	if s.try == nil {
		s.try = []string{""}
	}
	if s.run == nil {
		s.run = []string{"ralph eval"}
	}
	return s, nil
}

func (s *scene) line(line string) (err error) {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "", "#":
	case "try":
		var value string
		value, err = expand(rest)
		s.try = append(s.try, value)
	case "prepare":
		s.prepare = append(s.prepare, rest)
	case "env":
		s.env = append(s.env, rest)
	case "run":
		s.run = append(s.run, rest)
	case "want":
		if s.want = rest; rest != "stop" && rest != "continue" && rest != "any" {
			err = fmt.Errorf("want stop, continue or any, not %q", rest)
		}
	case "says":
		s.says = append(s.says, rest)
	case "allow":
		s.allow = append(s.allow, strings.Fields(rest)...)
	case "within":
		s.within, err = time.ParseDuration(rest)
	case "memory":
		s.memory, err = strconv.ParseInt(rest, 10, 64)
	default:
		err = fmt.Errorf("there is no directive %q", word)
	}
	return err
}

// expand reads a value: as it is, or in quotation marks, repeated and put together.
func expand(s string) (string, error) {
	if !strings.HasPrefix(s, `"`) {
		return s, nil
	}
	var b strings.Builder
	for s != "" {
		quoted, err := strconv.QuotedPrefix(s)
		if err != nil {
			return "", fmt.Errorf("%q: %w", s, err)
		}
		text, err := strconv.Unquote(quoted)
		if err != nil {
			return "", err
		}
		s = s[len(quoted):]
		times := 1
		if number, ok := strings.CutPrefix(s, "*"); ok {
			number, s, _ = strings.Cut(number, " ")
			if times, err = strconv.Atoi(number); err != nil {
				return "", err
			}
		}
		b.WriteString(strings.Repeat(text, times))
		s = strings.TrimLeft(s, " ")
	}
	return b.String(), nil
}
