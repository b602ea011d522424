package view

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/run"
)

// A server keeps the latest rows: older ones make room.
func TestMostRows(t *testing.T) {
	p, err := project.Open(project.Config{State: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	x := emptyRows(p)
	x.most = 5
	decision := func(i int) project.Decision {
		return project.Decision{Head: loop.Head{V: 1, ID: fmt.Sprint(i), Time: time.Unix(int64(i), 0)}}
	}
	have := func(want ...string) {
		t.Helper()
		p := x.before(0, 100)
		var got []string
		for i, r := range p.Rows {
			got = append(got, r.ID)
			if r.N != p.First+i || r.N > p.Last {
				t.Errorf("row %d of %d to %d has the number %d", i, p.First, p.Last, r.N)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || p.Total != len(want) {
			t.Errorf("%d in all (-want +got)\n%s", p.Total, diff)
		}
	}
	have()
	x.add(decision(4))
	x.add(decision(5))
	for i := 3; x.addOlder(decision(i)); i-- {
	}
	have("1", "2", "3", "4", "5")
	for i := range 3 {
		x.add(decision(6 + i))
	}
	have("4", "5", "6", "7", "8")
	for i := range 20 {
		x.add(decision(9 + i))
	}
	have("24", "25", "26", "27", "28")
	late, _ := x.after(0, 2) // a browser that slept for long
	if len(late) != 2 || late[0].ID != "24" {
		t.Errorf("after all that is gone: %+v", late)
	}
	if list, _ := x.after(1<<40, 2); len(list) != 0 {
		t.Errorf("after a number that nothing has: %+v", list)
	}
	if p := x.before(-1, 2); len(p.Rows) != 2 {
		t.Errorf("before a number that nothing has: %+v", p)
	}
}

// An iteration has what its agent used alone, and no time that is not known.
func TestIterations(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	totals := func(tokens int, usd float64) run.Totals { return run.Totals{Tokens: tokens, Cost: &usd} }
	start := func(n, s int) run.Event { return run.Event{Kind: run.IterationStart, Iteration: n, Time: at(s)} }
	end := func(n, s int, o run.Outcome, t run.Totals) run.Event {
		return run.Event{Kind: run.IterationEnd, Iteration: n, Time: at(s), Outcome: o, Totals: t}
	}
	denied := []run.Denial{{Tool: "Bash", Input: "make deploy"}}
	events := []run.Event{
		{Kind: run.RunStart}, start(1, 10), end(1, 15, run.OK, totals(100, 0.5)), {Kind: run.VerdictMade, Iteration: 1},
		start(2, 20), {Kind: run.IterationEnd, Iteration: 2, Time: at(21), Outcome: run.Crashed, Denied: denied, Totals: totals(150, 0.75)}, {Kind: run.Waiting, Iteration: 2, Why: "the agent failed"},
		start(3, 30), {Kind: run.RunResume}, end(3, 99, run.Lost, totals(150, 0.75)), start(4, 100),
	}
	want := []iteration{
		{N: 1, Started: at(10), Took: 5 * time.Second, State: "ok", Tokens: 100, USD: 0.5},
		{N: 2, Started: at(20), Took: time.Second, State: "crashed", Tokens: 50, USD: 0.25, Waiting: "the agent failed", Denied: denied},
		{N: 3, Started: at(30), State: "lost"},
		{N: 4, Started: at(100), State: "running"},
	}
	if diff := cmp.Diff(want, iterations(run.Info{Running: true}, events)); diff != "" {
		t.Errorf("a live run (-want +got)\n%s", diff)
	}
	want[3].State = "lost"
	if diff := cmp.Diff(want, iterations(run.Info{}, events)); diff != "" {
		t.Errorf("one that was killed (-want +got)\n%s", diff)
	}
	want = want[1:3]
	want[0].Tokens, want[0].USD = 0, 0 // the totals before it are not known
	if diff := cmp.Diff(want, iterations(run.Info{}, events[2:10])); diff != "" {
		t.Errorf("the end of the events (-want +got)\n%s", diff)
	}
	var many []run.Event
	for n := range 2 * maxIterations {
		many = append(many, start(n+1, n))
	}
	if all := iterations(run.Info{}, many); len(all) != maxIterations || all[len(all)-1].N != 2*maxIterations {
		t.Errorf("%d iterations", len(all))
	}
}

func TestColoured(t *testing.T) {
	for _, tt := range []struct{ src, want string }{
		{"ralph: 1", "<k>ralph</k>: <s>1</s>"},
		{"# a: b\nx: 1\n  # c", "<c># a: b</c>\n<k>x</k>: <s>1</s>\n  <c># c</c>"},
		{"rules:\n  - when: any(a, .b) # x", "<k>rules</k>:\n  - <k>when</k>: <e>any(a, .b)</e> <c># x</c>"},
		{"stop: \"a # ${b + 1} c\" # d", "<k>stop</k>: <s>\"a # </s><e>${b + 1}</e><s> c\"</s> <c># d</c>"},
		{"continue: |\n  a\n\n  # b ${c}\nx: 1\r\n", "<k>continue</k>: <s>|</s>\n<s>  a</s>\n\n<s>  # b </s><e>${c}</e>\n<k>x</k>: <s>1</s>"},
		{"not: [yaml", "not: [yaml"},
		{"a: <b>&'\u202e", "<k>a</k>: <s><b>&'[U+202E]</s>"},
		{`{"a": [1, "b"]}`, `{<k>"a"</k>: [<s>1</s>, <s>"b"</s>]}`},
		{"a: \xff", "a: �"},
		{"", ""},
	} {
		got := coloured(0, []byte(tt.src))
		for i := range strings.Count(tt.src, "\n") + 1 {
			got = strings.Replace(got, fmt.Sprintf(`<span class="line" id="f0-L%d">`, i+1), "", 1)
		}
		got = strings.TrimSuffix(strings.ReplaceAll(got, "</span>\n", "\n"), "\n")
		got = regexp.MustCompile(`<span class="u">(.*?)</span>`).ReplaceAllString(got, "[$1]")
		got = regexp.MustCompile(`<span class="(.)">(.*?)</span>`).ReplaceAllString(got, "<$1>$2</$1>")
		if strings.Contains(got, "span") {
			t.Errorf("%q: a span is left in %s", tt.src, got)
		}
		got = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&", "&#39;", "'", "&#34;", `"`).Replace(got)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q (-want +got)\n%s", tt.src, diff)
		}
	}
}

// The modules of the page become one script: each is there once, after those that it imports, and no name occurs twice.
func TestJoined(t *testing.T) {
	script, style, err := joined()
	if err != nil {
		t.Fatal(err)
	}
	entries, err := files.ReadDir("page")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		src, err := files.ReadFile("page/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(e.Name(), ".js") {
			body := regexp.MustCompile(`(?m)^import .*\n|^export `).ReplaceAllString(string(src), "")
			if n := strings.Count(script, body); n != 1 {
				t.Errorf("%s is there %d times", e.Name(), n)
			}
		}
	}
	if found := regexp.MustCompile(`(?m)^(import|export)\b.*|https?://(?:www\.)?[a-z]+\.[a-z]+.*|\bimport\(.*`).FindAllString(strings.ReplaceAll(script, "http://www.w3.org/", ""), -1); found != nil {
		t.Errorf("the script has %q", found)
	}
	names := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^(?:async )?(?:function\*?|const|let|class) (\w+)`).FindAllStringSubmatch(script, -1) {
		if names[m[1]] {
			t.Errorf("two modules have %s", m[1])
		}
		names[m[1]] = true
	}
	if len(names) < 20 || !strings.Contains(style, ".ralph-graph") || strings.Contains(style, "url(") || strings.Contains(style, "@import") {
		t.Errorf("%d names, %d bytes of style", len(names), len(style))
	}
}

// A row has no path of a session's file.
func TestRowHidesSessionFile(t *testing.T) {
	var d project.Decision
	d.SessionFile = "/home/you/session.jsonl"
	if got := newRow(d).SessionFile; got != "" {
		t.Errorf("the row has %q", got)
	}
}
