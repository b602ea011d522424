package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-sdk/ralph/loop"
)

// stravinskyFile is where the policy stravinsky keeps its count.
const stravinskyFile = ".stravinsky/continuation-loop.md"

// countedLoop is such a file, with a body that must survive every edit.
func countedLoop(count int, body string) string {
	return fmt.Sprintf("---\niteration_count: %d # counts up\nmax_iterations: 1000\nunknown: [1, 2]\n---\n%s", count, body)
}

// countOf reads the count of a loop file and checks that it is all there.
func countOf(content []byte, body string) (int, error) {
	m := regexp.MustCompile(`iteration_count: (\d+) `).FindSubmatch(content)
	if m == nil {
		return 0, fmt.Errorf("there is no count in %.80q…", content)
	}
	n, err := strconv.Atoi(string(m[1]))
	if err != nil {
		return 0, err
	}
	if string(content) != countedLoop(n, body) {
		return 0, fmt.Errorf("the file is not whole: %d bytes", len(content))
	}
	return n, nil
}

// counter counts in such a file for every session: it has no owner.
const counter = `ralph: 1
facts:
  plan: {frontmatter: ` + stravinskyFile + `, schema: {properties: {iteration_count: {type: integer, default: 1}, max_iterations: {type: integer, default: 10}}}}
rules:
  - name: go-on
    when: plan.iteration_count < plan.max_iterations
    continue: this is iteration ${plan.iteration_count + 1} of ${plan.max_iterations}
    then:
      - set: plan.iteration_count = plan.iteration_count + 1
`

// 64 hooks at once on one counter: each continues and is counted once, whether they are
// of one session or of 64. A process that reads the file meanwhile sees all of it, and no
// older count than was answered.
func TestParallelHooks(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector sees nothing between processes, and 64 that it slows down hold a lock for too long")
	}
	const hooks = 64
	body := strings.Repeat("Some work to do.\n", 2000)
	for _, c := range []struct {
		name    string
		policy  string
		session func(i int) string
		total   int // continuations that the first session remembers
	}{
		{"one session", "stravinsky", func(int) string { return "s-1" }, hooks},
		{"as many sessions", "counter", func(i int) string { return fmt.Sprint("s-", i+1) }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHook(t, map[string]string{stravinskyFile: countedLoop(1, body), ".ralph/counter.yaml": counter}, "--policy", c.policy)
			path := filepath.Join(h.dir, stravinskyFile)
			results := make([]result, hooks)
			seen := make([]int, hooks) // in the file, after the answer
			var wg sync.WaitGroup
			for i := range hooks {
				one := h
				one.stdin = strings.NewReader(h.event(map[string]any{"session_id": c.session(i), "prompt_id": "p"}))
				wg.Go(func() {
					results[i] = one.run(t)
					content, err := os.ReadFile(path)
					if err == nil {
						seen[i], err = countOf(content, body)
					}
					if err != nil {
						t.Errorf("a reader saw: %v", err)
					}
				})
			}
			wg.Wait()

			iterations := map[int]bool{}
			for i, r := range results {
				a := r.answer(t)
				if r.status != 0 || a.Decision != "block" {
					t.Errorf("hook %d gave up: status %d, notice %q, stderr %q", i, r.status, a.SystemMessage, r.stderr)
					continue
				}
				n := 0
				if _, text, ok := strings.Cut(strings.ToLower(a.Reason), "iteration "); ok {
					fmt.Sscanf(text, "%d of 1000", &n)
				}
				iterations[n] = true
				if seen[i] < n {
					t.Errorf("hook %d said %d, and the file %d after that", i, n, seen[i])
				}
			}
			for n := 2; n < 2+hooks; n++ {
				if !iterations[n] {
					t.Errorf("no hook said that it is iteration %d", n)
				}
			}
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if n, err := countOf(content, body); err != nil || n != 1+hooks {
				t.Errorf("the count is %d, want %d; error %v", n, 1+hooks, err)
			}
			if left := leftovers(t, h.dir); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
			h.stdin = strings.NewReader(h.event(map[string]any{"prompt_id": "p"}))
			if streak := recordOf(t, h).Streak; streak.Total != c.total || streak.Continuations != c.total {
				t.Errorf("the first session remembers %+v, want %d", streak, c.total)
			}
		})
	}
}

// recordOf is the record of the next event, which is only rehearsed.
func recordOf(t *testing.T, h hook) loop.Record {
	t.Helper()
	h.args = append([]string{"explain", "--input", "-", "--format", "json"}, h.args[1:]...)
	out := h.run(t).stdout
	var records []loop.Record
	if err := json.Unmarshal([]byte(out), &records); err != nil || len(records) != 1 {
		t.Fatalf("%v in %s", err, out)
	}
	return records[0]
}

// leftovers lists temporary files.
func leftovers(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".tmp") {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
