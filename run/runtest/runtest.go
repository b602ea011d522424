// Package runtest tests adapters of package run, so that your own adapter meets the requirements of runs. It leaves out
// the meaning of a client's output, which is for your own tests. Start with [Adapter] in your tests, and also run them
// with -race. The package may change in any version.
package runtest

import (
	"bytes"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/ralph-sdk/ralph/run"
)

// Stream is what a client printed in one iteration, and the exit of its process.
type Stream struct {
	Name    string
	Stdout  []byte
	Process run.Process
}

// Adapter tests an adapter with the command line of its client, as users write it, and with streams that the client
// printed. Test the meaning of a stream yourself.
func Adapter(t *testing.T, a run.Adapter, args []string, streams ...Stream) {
	for _, c := range []struct {
		name string
		test func(*testing.T, run.Adapter, []string)
	}{
		{"name", name}, {"arguments are kept", kept}, {"the prompt arrives whole", prompt}, {"a session goes on", session},
		{"nothing printed", nothing}, {"concurrent use", concurrent},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, a, args) })
	}
	for _, s := range streams {
		t.Run(s.Name, func(t *testing.T) {
			for _, c := range []struct {
				name string
				test func(*testing.T, run.Adapter, Stream)
			}{
				{"the result is usable", usable}, {"a killed process is not ok", killed}, {"any part of it", parts}, {"other lines", others},
			} {
				t.Run(c.name, func(t *testing.T) { c.test(t, a, s) })
			}
		})
	}
	t.Run("memory", func(t *testing.T) { memory(t, a, streams) })
}

func name(t *testing.T, a run.Adapter, _ []string) {
	if n := a.Name(); n == "" || strings.ContainsAny(n, " \t\n/") || n != a.Name() {
		t.Errorf("the name is %q, which users cannot write", n)
	}
}

// command returns a command line, or ends the test.
func command(t *testing.T, a run.Adapter, i run.Invocation) run.Command {
	t.Helper()
	c, err := a.Command(i)
	if err != nil {
		t.Fatalf("Command fails: %v", err)
	}
	if len(c.Args) == 0 {
		t.Fatal("the command line has no program")
	}
	return c
}

func kept(t *testing.T, a run.Adapter, args []string) {
	own := append(slices.Clone(args), "left", "alone")[:len(args)] // an append to args would overwrite this
	c := command(t, a, run.Invocation{Args: own, Prompt: "the prompt", Dir: "/"})
	if !slices.Equal(own[:len(args)+2], append(slices.Clone(args), "left", "alone")) {
		t.Errorf("Command changes the arguments of its caller to %q", own[:len(args)+2])
	}
	at := 0
	for _, want := range args {
		n := slices.Index(c.Args[at:], want)
		if n < 0 {
			t.Fatalf("%q of the user is lost or out of order in %q", want, c.Args)
		}
		at += n + 1
	}
	if len(args) > 0 && c.Args[0] != args[0] {
		t.Errorf("the program is %q, want %q", c.Args[0], args[0])
	}
	if again := command(t, a, run.Invocation{Args: args, Prompt: "the prompt", Dir: "/"}); !reflect.DeepEqual(c, again) {
		t.Errorf("the same command line twice is %q and %q", c, again)
	}
}

func prompt(t *testing.T, a run.Adapter, args []string) {
	for _, text := range []string{
		"Fix the build.", "-p", "--help me", "-", "/compact", "{}", "$HOME `x` \"'\\", "two\nlines\n", " spaces ", "Füße ✓", strings.Repeat("long ", 100<<10),
	} {
		c, err := a.Command(run.Invocation{Args: args, Prompt: text, Dir: "/"})
		if err != nil {
			if len(text) < 100<<10 {
				t.Errorf("the prompt %.20q is refused: %v", text, err)
			}
			continue
		}
		other := command(t, a, run.Invocation{Args: args, Prompt: "another", Dir: "/"})
		n := 0
		if c.Stdin == text && other.Stdin == "another" {
			n++
		}
		for i, arg := range c.Args {
			if len(arg) >= 128<<10 {
				t.Errorf("an argument has %d bytes, more than Linux takes", len(arg))
			}
			whole := arg == text || strings.HasPrefix(text, "-") && arg == "\n"+text // no program treats it as a flag
			if whole && i < len(other.Args) && other.Args[i] == "another" {
				n++
			}
		}
		if n != 1 {
			t.Errorf("the prompt %.20q is %d times in the command line and stdin, want once", text, n)
		}
	}
}

func session(t *testing.T, a run.Adapter, args []string) {
	const id = "0199c0de-0000-7000-8000-00000000c0de"
	has := func(c run.Command) bool {
		return slices.ContainsFunc(c.Args, func(arg string) bool { return strings.Contains(arg, id) })
	}
	fresh := command(t, a, run.Invocation{Args: args, Prompt: "p", Dir: "/"})
	on := command(t, a, run.Invocation{Args: args, Prompt: "p", Session: id, Dir: "/"})
	if has(fresh) || !has(on) && !reflect.DeepEqual(fresh, on) {
		t.Errorf("a fresh session is %q, and one that goes on %q", fresh.Args, on.Args)
	}
}

// read returns the result of some lines. It overwrites each line after it was parsed, as a run does.
func read(a run.Adapter, p run.Process, lines ...[]byte) run.Result {
	o := a.Output()
	var buf []byte
	for _, line := range lines {
		buf = append(buf[:0], line...)
		o.Line(buf)
		for i := range buf {
			buf[i] = '#'
		}
	}
	return o.Result(p)
}

func linesOf(s Stream) [][]byte {
	return bytes.Split(bytes.TrimSuffix(s.Stdout, []byte("\n")), []byte("\n"))
}

func nothing(t *testing.T, a run.Adapter, _ []string) {
	for _, p := range []run.Process{{}, {Exit: 1}, {Exit: -1, Signal: "killed"}, {Exit: 255, Stderr: []byte{0, 255}, Dir: "/nosuch", Env: []string{"HOME=/nosuch", "=", ""}}} {
		check(t, a, p, read(a, p))
		check(t, a, p, read(a, p, nil, []byte{}))
	}
}

// check checks the requirements on every result.
func check(t *testing.T, a run.Adapter, p run.Process, r run.Result) {
	t.Helper()
	can := a.Reports()
	switch {
	case r.Outcome == run.OK && (p.Signal != "" || p.Exit != 0):
		t.Errorf("a process that ended by exit %d, signal %q, is ok", p.Exit, p.Signal)
	case r.Outcome == run.Timeout, r.Outcome == run.Interrupted, r.Outcome == run.Lost:
		t.Errorf("the outcome is %s, which only a run knows", r.Outcome)
	case r.Tokens < 0 || r.Used < 0 || r.Tokens > 0 && r.Used > 0:
		t.Errorf("the tokens are %d, and %d of the session", r.Tokens, r.Used)
	case !can.Tokens && r.Tokens+r.Used > 0:
		t.Error("there are tokens, which the adapter does not report")
	case r.Cost != nil && (!can.Cost || *r.Cost < 0 || math.IsNaN(*r.Cost) || math.IsInf(*r.Cost, 0)):
		t.Errorf("the cost is %v; the adapter reports it: %t", *r.Cost, can.Cost)
	case r.Window != 0 && (!can.Window || r.Window < 0 || math.IsNaN(r.Window)):
		t.Errorf("%v%% of the usage window is used; the adapter reports it: %t", r.Window, can.Window)
	case !r.ResetsAt.IsZero() && r.Outcome != run.RateLimited:
		t.Errorf("a limit resets, and the outcome is %q", r.Outcome)
	case !utf8.ValidString(r.Text):
		t.Error("the text is not UTF-8")
	}
}

// usable parses a stream with lines that are overwritten, and with lines that stay, next to another output.
func usable(t *testing.T, a run.Adapter, s Stream) {
	want := read(a, s.Process, linesOf(s)...)
	check(t, a, s.Process, want)
	one, other := a.Output(), a.Output()
	for _, line := range linesOf(s) {
		one.Line(bytes.Clone(line))
		other.Line(bytes.Clone(line))
	}
	if got := one.Result(s.Process); !reflect.DeepEqual(got, want) {
		t.Errorf("the result is %+v, and %+v where each line is overwritten by the next one: an output keeps a line, or shares something with another", got, want)
	}
}

func killed(t *testing.T, a run.Adapter, s Stream) {
	for _, p := range []run.Process{{Exit: -1, Signal: "killed"}, {Exit: 137}} {
		p.Dir, p.Start = s.Process.Dir, s.Process.Start
		check(t, a, p, read(a, p, linesOf(s)...))
	}
}

// parts ends the stream after each of its lines, and within each.
func parts(t *testing.T, a run.Adapter, s Stream) {
	lines := linesOf(s)
	for i := range lines {
		check(t, a, s.Process, read(a, s.Process, lines[:i]...))
		cut := append(slices.Clone(lines[:i]), lines[i][:len(lines[i])/2])
		check(t, a, s.Process, read(a, s.Process, cut...))
		check(t, a, s.Process, read(a, s.Process, lines[i:]...))
	}
}

// strange are lines that no client writes.
var strange = [][]byte{
	nil, []byte(" "), []byte("null"), []byte("[]"), []byte("{}"), []byte("0"), []byte(`"text"`), []byte("{"), []byte(`{"type":`), []byte("Warning: 429 error"),
	[]byte(`{"type":null,"message":[],"item":0,"data":"x","error":[],"result":{},"usage":"many"}`), {0, 255, 254, '{'},
}

// others mixes lines that are not records with those of the client.
func others(t *testing.T, a run.Adapter, s Stream) {
	want := read(a, s.Process, linesOf(s)...)
	var mixed [][]byte
	for _, line := range linesOf(s) {
		mixed = append(append(mixed, strange...), line)
	}
	got := read(a, s.Process, append(mixed, strange...)...)
	check(t, a, s.Process, got)
	if got.Outcome != want.Outcome || got.Tokens != want.Tokens || got.Used != want.Used {
		t.Errorf("with other lines among it, the outcome is %q and the tokens are %d, want %q and %d", got.Outcome, got.Tokens+got.Used, want.Outcome, want.Tokens+want.Used)
	}
}

// huge are lines that are expensive for a careless parser.
var huge = [][]byte{
	bytes.Repeat([]byte("["), run.MaxLine/8), append([]byte(`{"type":`), bytes.Repeat([]byte("["), run.MaxLine/8)...), bytes.Repeat([]byte("x"), run.MaxLine),
	append([]byte(`{"type":"`), bytes.Repeat([]byte("x"), run.MaxLine-9)...),
}

func concurrent(t *testing.T, a run.Adapter, args []string) {
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			_, _ = a.Command(run.Invocation{Args: args, Prompt: "p"})
			o := a.Output()
			o.Line([]byte("{}"))
			o.Result(run.Process{})
			a.Reports()
		})
	}
	all.Wait()
}

// memory parses all streams repeatedly, as one long iteration. An adapter may keep the end of it.
func memory(t *testing.T, a run.Adapter, streams []Stream) {
	const most, total = 3 << 20, 6 << 20
	if len(streams) == 0 {
		return
	}
	o := a.Output()
	before := inUse()
	for _, l := range huge {
		o.Line(l)
	}
	for n := 0; n < total; {
		for _, s := range streams {
			for _, l := range linesOf(s) {
				o.Line(l)
				n += len(l) + 1
			}
		}
	}
	if grown := inUse() - before; grown > most {
		t.Errorf("after %d MiB of output, %d MiB are kept, want at most %d", total>>20, grown>>20, most>>20)
	}
	check(t, a, run.Process{Exit: 1}, o.Result(run.Process{Exit: 1}))
}

// inUse returns the memory in use, in bytes.
func inUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
