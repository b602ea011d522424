package attack_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode"
)

// assault is one attack in its own world.
type assault struct {
	scene  *scene
	places map[string]string // PROJECT, HOME, STATE, OUT
	names  *strings.Replacer
	secret string
	mark   string
	spied  atomic.Bool
	env    []string
	before map[string]string
}

func newAssault(t *testing.T, s *scene, value string) *assault {
	t.Helper()
	world, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a := &assault{scene: s, places: map[string]string{}, secret: "s3cret-" + filepath.Base(filepath.Dir(world)) + "-c4nary", mark: filepath.Join(world, "mark")}
	for _, name := range []string{"PROJECT", "HOME", "STATE", "OUT"} {
		a.places[name] = filepath.Join(world, strings.ToLower(name))
		if err := os.Mkdir(a.places[name], 0o700); err != nil {
			t.Fatal(err)
		}
	}
	spy := a.listen(t, func(net.Conn) { a.spied.Store(true) })
	replace := []string{"@SECRET", a.secret, "@MARK", a.mark, "@SPY", spy}
	for name, dir := range a.places {
		replace = append(replace, "@"+name, dir)
	}
	a.names = strings.NewReplacer(append(replace, "@X", strings.NewReplacer(replace...).Replace(value))...)

	write := func(dir, name, text string) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(-time.Minute) // no agent is writing it
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	write(a.places["OUT"], "secret.txt", a.secret+"\n")
	write(a.places["HOME"], ".netrc", a.secret+"\n")
	for _, f := range s.files {
		write(a.places["PROJECT"], a.names.Replace(f.name), a.names.Replace(f.text))
	}
	// As in a user's shell, but that nothing of the one who runs the tests is seen.
	a.env = []string{
		"PATH=" + filepath.Dir(program) + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME=" + a.places["HOME"], "RALPH_STATE_DIR=" + a.places["STATE"], "TMPDIR=" + world, "LC_ALL=C",
	}
	if s.judge != "" {
		answer := a.names.Replace(s.judge)
		address := a.listen(t, func(c net.Conn) {
			request := make([]byte, 64<<10)
			if _, err := c.Read(request); err == nil {
				_, _ = io.WriteString(c, answer)
			}
		})
		a.env = append(a.env, "ANTHROPIC_BASE_URL="+address, "ANTHROPIC_API_KEY="+a.secret)
	}
	for _, command := range s.prepare {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", a.names.Replace(command))
		cmd.Dir, cmd.Env = a.places["PROJECT"], a.env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("prepare %s: %v\n%s", command, err, out)
		}
	}
	for _, variable := range s.env {
		a.env = append(a.env, a.names.Replace(variable))
	}
	return a
}

// listen serves connections on this machine until the test ends, and returns the address for HTTP.
func (a *assault) listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

// outcome is how a command ended.
type outcome struct {
	command        string
	stdout, stderr string
	status         int // -1 if a signal ended it
	late           bool
}

// hook reports whether the command is one that a host runs.
func (o outcome) hook() bool { return strings.HasPrefix(o.command, "ralph eval") }

// carryOut runs the commands of the scene and lists what was broken.
func (a *assault) carryOut() (breaches []string) {
	var err error
	if a.before, err = a.look(); err != nil {
		return []string{err.Error()}
	}
	var outcomes []outcome
	for _, command := range a.scene.run {
		outcomes = append(outcomes, a.execute(a.names.Replace(command)))
	}
	return a.breaches(outcomes)
}

func (a *assault) execute(command string) outcome {
	ctx, cancel := context.WithTimeout(context.Background(), a.scene.within)
	defer cancel()
	words := strings.Fields(command)
	if words[0] == "ralph" {
		words[0] = program
	}
	// The limit counts what the process may write to, where the system knows it: a Go program that reaches it ends.
	const limited = `ulimit -d "$0" 2>/dev/null; exec "$@"`
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", limited, fmt.Sprint(a.scene.memory << 10)}, words...)...)
	stdin := a.scene.stdin
	if stdin == "" {
		stdin = `{"session_id":"s-1","hook_event_name":"Stop","cwd":"@PROJECT","stop_hook_active":false}`
	}
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Env = a.places["PROJECT"], a.env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(a.names.Replace(stdin)), &stdout, &stderr
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	o := outcome{command: command, stdout: stdout.String(), stderr: stderr.String(), status: -1, late: ctx.Err() != nil}
	if cmd.ProcessState == nil {
		o.stderr += err.Error()
	} else {
		o.status = cmd.ProcessState.ExitCode()
	}
	return o
}

// breaches holds the promises against what happened.
func (a *assault) breaches(outcomes []outcome) (breaches []string) {
	broken := func(format string, args ...any) { breaches = append(breaches, fmt.Sprintf(format, args...)) }
	said := ""
	for i, o := range outcomes {
		said += o.stdout + o.stderr
		switch {
		case o.late:
			broken("%s: did not end within %s", o.command, a.scene.within)
		case o.status < 0:
			broken("%s: a signal ended it\n%.2000s", o.command, o.stderr)
		case o.status == 2, o.status != 0 && o.hook():
			broken("%s: status %d\n%.2000s", o.command, o.status, o.stderr)
		}
		goesOn, err := answer(o.stdout)
		switch {
		case !o.hook():
		case err != nil:
			broken("%s: stdout is not one JSON object: %.200q", o.command, o.stdout)
		case i < len(outcomes)-1: // what is wanted is the last answer
		case goesOn && a.scene.want == "stop":
			broken("%s: the agent may not stop: %.2000s", o.command, o.stdout)
		case !goesOn && a.scene.want == "continue":
			broken("%s: the agent may stop: %.2000s%.2000s", o.command, o.stdout, o.stderr)
		}
		for name, text := range map[string]string{"stdout": o.stdout, "stderr": o.stderr} {
			if strings.Contains(text, a.secret) && !slices.Contains(a.scene.allow, name) {
				broken("%s: the secret is in %s: %.2000q", o.command, name, text)
			}
			if at := strings.IndexFunc(text, speaks); at >= 0 && (name == "stderr" || !o.hook()) {
				broken("%s: %s has for the terminal: %.200q", o.command, name, text[at:])
			}
		}
	}
	for _, text := range a.scene.says {
		if !strings.Contains(said, a.names.Replace(text)) {
			broken("nothing says %q: %.2000s", text, said)
		}
	}
	if _, err := os.Lstat(a.mark); err == nil {
		broken("the canary ran")
	}
	if a.spied.Load() {
		broken("something was sent to the spy")
	}
	after, err := a.look()
	if err != nil {
		return append(breaches, err.Error())
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		old, known := a.before[name]
		switch own := strings.HasPrefix(name, "STATE/"); {
		case a.allowed(name), known && old == after[name]:
		case strings.Contains(after[name], a.secret):
			broken("the secret is in %s", name)
		case own:
		case !known:
			broken("%s was made", name)
		default:
			broken("%s was changed", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.before)) {
		if _, ok := after[name]; !ok && !strings.HasPrefix(name, "STATE/") && !a.allowed(name) {
			broken("%s was removed", name)
		}
	}
	return breaches
}

// allowed reports whether a file may change: it is listed, or in a directory that is listed with a slash at its end.
func (a *assault) allowed(name string) bool {
	return slices.ContainsFunc(a.scene.allow, func(allowed string) bool {
		return name == allowed || strings.HasSuffix(allowed, "/") && strings.HasPrefix(name+"/", allowed)
	})
}

// speaks reports whether a terminal obeys a character.
func speaks(r rune) bool {
	return r != '\n' && r != '\t' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
}

// answer reads a hook's answer in any host's format and reports whether the agent continues.
func answer(stdout string) (goesOn bool, err error) {
	if stdout == "" {
		return false, nil
	}
	var a struct {
		Decision string `json:"decision"`
		Followup string `json:"followup_message"`
		Specific struct {
			Decision string `json:"decision"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal([]byte(stdout), &a); err != nil {
		return false, err
	}
	return a.Decision == "block" || a.Decision == "deny" || a.Followup != "" || a.Specific.Decision == "block", nil
}

// look describes every file of the world by its kind, mode and content; large ones by a checksum, or by size and time.
func (a *assault) look() (map[string]string, error) {
	seen := map[string]string{}
	for place, dir := range a.places {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			name := place + strings.TrimPrefix(path, dir)
			switch seen[name] = info.Mode().String(); {
			case info.Mode()&fs.ModeSymlink != 0:
				target, err := os.Readlink(path)
				seen[name] += target
				return err
			case info.Mode().IsRegular() && info.Size() > 32<<20: // none that ralph writes
				seen[name] += fmt.Sprint(info.Size(), info.ModTime())
			case info.Mode().IsRegular():
				content, err := os.ReadFile(path)
				if len(content) > 1<<20 && !bytes.Contains(content, []byte(a.secret)) {
					content = fmt.Appendf(nil, "%x", sha256.Sum256(content))
				}
				seen[name] += string(content)
				return err
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return seen, nil
}
