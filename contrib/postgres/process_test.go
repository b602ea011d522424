//go:build unix

package postgres_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ralph-sdk/ralph/contrib/postgres"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// The variables of a process, which is this test binary again.
const (
	urlVariable        = "RALPH_TEST_URL"
	goroutinesVariable = "RALPH_TEST_GOROUTINES"
	deadlineVariable   = "RALPH_TEST_DEADLINE"
)

// most is how often the policy of tests continues a prompt.
const most = 300

// count returns a loop whose policy continues, and says how often it has. Its fact is gathered by the program, within the decision.
func count(s loop.Store, gather func(), opts ...loop.Option) (*loop.Loop, error) {
	policy := fmt.Sprintf("ralph: 1\nfacts: {word: {program: word}}\nlimits: {continuations: %d}\nrules: [{name: on, when: word != '', continue: '${loop.continuations}'}]\n", most)
	opts = append(opts, loop.WithStore(s), loop.WithSource("program", func(context.Context, loop.Event, rules.Query) (any, error) {
		gather()
		return "word", nil
	}))
	return loop.Load(fstest.MapFS{"p.yaml": {Data: []byte(policy)}}, "p.yaml", opts...)
}

// work decides events, a line SESSION ID each, and answers each with a line ID OUTCOME REASON. Of an event whose ID is "hold" it says
// "within" in the middle of the decision, and goes on after the next line.
func work(ctx context.Context) error {
	pool, err := pgxpool.New(ctx, os.Getenv(urlVariable))
	if err != nil {
		return err
	}
	defer pool.Close()
	s, err := postgres.Open(ctx, pool)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(os.Stdin)
	deadline, _ := time.ParseDuration(os.Getenv(deadlineVariable))
	holding := false
	l, err := count(s, func() {
		if holding {
			fmt.Println("within")
			lines.Scan()
		}
	}, loop.WithDeadline(deadline))
	if err != nil {
		return err
	}
	decide := func(line string) {
		session, id, _ := strings.Cut(line, " ")
		d, _ := l.Decide(ctx, loop.Event{Session: session, ID: id})
		fmt.Printf("%s %s %s\n", id, d.Outcome, d.Reason)
	}
	fmt.Println("ready")
	events := make(chan string)
	var all sync.WaitGroup
	goroutines, _ := strconv.Atoi(os.Getenv(goroutinesVariable))
	for range goroutines {
		all.Go(func() {
			for line := range events {
				decide(line)
			}
		})
	}
	for lines.Scan() {
		if holding = strings.HasSuffix(lines.Text(), " hold"); holding {
			decide(lines.Text())
			continue
		}
		events <- lines.Text()
	}
	close(events)
	all.Wait()
	return nil
}

// process is a process that decides.
type process struct {
	*testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func newProcess(t *testing.T, url string, goroutines int, deadline time.Duration) *process {
	t.Helper()
	p := &process{T: t, cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), urlVariable+"="+url, fmt.Sprint(goroutinesVariable, "=", goroutines), fmt.Sprint(deadlineVariable, "=", deadline))
	p.cmd.Stderr = os.Stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.signal(syscall.SIGKILL); _ = p.cmd.Wait() })
	p.in, p.out = in, bufio.NewScanner(out)
	p.expect("ready")
	return p
}

// send sends lines, as far as the process reads them.
func (p *process) send(lines ...string) {
	_, _ = io.WriteString(p.in, strings.Join(lines, "\n")+"\n")
}

func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// expect waits for a line that begins so, and returns it.
func (p *process) expect(begin string) string {
	p.Helper()
	if !p.out.Scan() || !strings.HasPrefix(p.out.Text(), begin) {
		p.Fatalf("the process says %q, want %q", p.out.Text(), begin)
	}
	return p.out.Text()
}

// events returns the lines of n events of a session.
func events(session, name string, n int) (lines []string) {
	for i := range n {
		lines = append(lines, fmt.Sprintf("%s %s%d", session, name, i))
	}
	return lines
}

// Two processes on one session together continue it as often as its limit says, number each continuation once, and take turns.
func TestTwoProcesses(t *testing.T) {
	url := empty(t)
	open(t, url)
	one, two := newProcess(t, url, 8, time.Minute), newProcess(t, url, 8, time.Minute)
	go one.send(events("s", "a", most)...)
	go two.send(events("s", "b", most)...)
	seen := map[string]bool{}
	continued := map[*process]int{}
	for _, p := range []*process{one, two} {
		for range most {
			words := strings.Fields(p.expect(""))
			if words[1] == string(rules.Continued) {
				continued[p]++
				seen[words[2]] = true
			} else if words[1] != string(rules.Limit) {
				t.Errorf("a decision: %q", words)
			}
		}
	}
	if n := continued[one] + continued[two]; n != most || len(seen) != most {
		t.Errorf("%d continuations with %d numbers, want %d", n, len(seen), most)
	}
	if min(continued[one], continued[two]) < most/3 {
		t.Errorf("one has %d continuations, the other %d", continued[one], continued[two])
	}
}

// A process is killed after each few answers of a session. What it had not answered comes again to the next one, and each event is
// counted once.
func TestKilled(t *testing.T) {
	url := empty(t)
	open(t, url)
	answered := 0
	for kills := 0; answered < 60; kills++ {
		p := newProcess(t, url, 1, time.Minute)
		p.send(events("s", "e", 60)[answered:]...)
		for i := 0; (i < 7+kills || p.out.Text() == "") && answered < 60; i++ {
			if got, want := p.expect(""), fmt.Sprintf("e%d continued %d", answered, answered); got != want {
				t.Fatalf("the answer is %q, want %q", got, want)
			}
			answered++
		}
		p.signal(syscall.SIGKILL)
		for p.out.Scan() { // what it wrote before the kill
			if got, want := p.out.Text(), fmt.Sprintf("e%d continued %d", answered, answered); got == want {
				answered++
			}
		}
	}
}

// A process is killed in the middle of a decision: the session is free, and nothing is counted of it.
func TestKilledWithin(t *testing.T) {
	url := empty(t)
	open(t, url)
	one, two := newProcess(t, url, 1, time.Minute), newProcess(t, url, 1, time.Minute)
	one.send("s hold")
	one.expect("within")
	two.send("s e")
	one.signal(syscall.SIGKILL)
	two.expect("e continued 0")
}

// A process is frozen in the middle of a decision: the session is free after its deadline, and what the process decides when it is
// back is not counted, so its agent stops.
func TestFrozen(t *testing.T) {
	url := empty(t)
	open(t, url)
	one, two := newProcess(t, url, 1, 2*time.Second), newProcess(t, url, 1, time.Minute)
	one.send("s hold")
	one.expect("within")
	one.signal(syscall.SIGSTOP)
	two.send(events("s", "e", 2)...)
	two.expect("e0 continued 0")
	one.signal(syscall.SIGCONT)
	one.send("go on")
	one.expect("hold failed")
	two.expect("e1 continued 1")
	one.send("s again")
	one.expect("again continued 2")
}

// A delivery that comes to two processes at once is counted once, and both get the same answer.
func TestDeliveries(t *testing.T) {
	url := empty(t)
	open(t, url)
	one, two := newProcess(t, url, 4, time.Minute), newProcess(t, url, 4, time.Minute)
	for i := range 40 {
		line := fmt.Sprintf("s e%d", i)
		one.send(line)
		two.send(line)
		want := fmt.Sprintf("e%d continued %d", i, i)
		if a, b := one.expect(""), two.expect(""); a != want || b != want {
			t.Fatalf("the answers are %q and %q, want %q", a, b, want)
		}
	}
}
