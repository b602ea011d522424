package web_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/web"
)

// openFile opens a file of ralph view --out in a tab.
func openFile(t *testing.T, b *web.Browser, file string) *page {
	t.Helper()
	f := &page{must(b.Tab())(t), t, nil, b}
	t.Cleanup(f.Close)
	f.open("file://" + file)
	return f
}

// alone fails the test if a file asked for anything but itself, or the console has an error.
func (p *page) alone(file string) {
	p.t.Helper()
	for _, r := range p.Requests() {
		u, _ := url.Parse(r)
		if r != "data:," && !strings.HasPrefix(r, "blob:") && (u == nil || u.Scheme != "file" || u.Path != file) {
			p.t.Errorf("the file asked for %.200s", r)
		}
	}
	if got := p.Problems(); len(got) > 0 {
		p.t.Errorf("the console has %q", got)
	}
}

// A file has all views, without a server, and neither loads nor sends anything.
func TestFile(t *testing.T) {
	w := world(t)
	ok(t, w.Fill(t.Context(), 60, 3))
	want := logged(t, w)
	file := filepath.Join(t.TempDir(), "session.html")
	must(w.Ralph(t.Context(), "", "view", "--out", file))(t)
	p := openFile(t, browser(t), file)
	p.view("#/timeline")
	p.shows(want)
	p.view("#/decision/" + want[0])
	p.wait("document.querySelector('main .rules li')")
	p.eval("document.querySelector('main a[href^=\"#/policy/\"]').click()", nil)
	p.wait("document.querySelector('main svg') && document.querySelector('main .source')")
	p.has("the policy", "Works through TODO.md", "none(background_tasks")
	var sent string
	p.eval(`(async () => { const tried = [];
		try { await fetch('http://127.0.0.1:1/'); tried.push('fetch'); } catch {}
		try { navigator.sendBeacon('http://127.0.0.1:1/x'); } catch {}
		new Image().src = 'http://127.0.0.1:1/x.png';
		try { eval('1'); tried.push('eval'); } catch {}
		return tried.join(); })()`, &sent)
	if sent != "" {
		t.Errorf("a script of the file could use %s", sent)
	}
	p.Problems() // of what was refused
	p.open("file://" + file + "#/decision/" + want[5])
	p.wait("document.querySelector('main .rules li')")
	if home := w.Home; strings.Contains(p.text("body"), home) {
		t.Errorf("the file names %s", home)
	}
}

// The page and a file of it show the same of a run: one of the words for how it ended, why, and its iterations.
func TestRuns(t *testing.T) {
	w := world(t)
	ended := func(words string, agent string) string {
		t.Helper()
		_, _ = w.Ralph(t.Context(), "", "run", "--max", "3", "--client", "generic", "--", "sh", "-c", agent) // most end with a status
		list := must(w.Ralph(t.Context(), "", "run", "--list"))(t)
		if line, _, _ := strings.Cut(list, "\n"); !strings.Contains(line, "  "+words) {
			t.Fatalf("the list has %s, want %s", line, words)
		}
		return strings.Fields(list)[0]
	}
	const work = "sed -i '0,/\\[ \\]/s//[x]/' TODO.md; "
	runs := []struct {
		id, verdict string
		rows        []string
	}{
		{ended("lost: the run was killed", work+"kill -KILL $(ps -o ppid= -p $PPID)"), "lost the run was killed", []string{"start continued", "1 lost"}},
		{ended("asked", work+"echo '- [ ] three' >>TODO.md; kill -INT $(ps -o ppid= -p $PPID); sleep 0.1"), "asked the run was interrupted", []string{"start continued", "1 ok continued"}},
		{ended("limit", "exit 0"), "limit 3 of 3 iterations were started", []string{"start continued", "1 ok continued", "2 ok continued", "3 ok continued"}},
		{ended("done", work), "done every box is ticked", []string{"start continued", "1 ok done"}},
	}
	file := filepath.Join(t.TempDir(), "out.html")
	must(w.Ralph(t.Context(), "", "view", "--out", file))(t)
	p := serve(t, w)
	for name, p := range map[string]*page{"live": p, "file": openFile(t, p.browser, file)} {
		p.view("#/timeline")
		p.view("#/")
		p.wait("[...document.querySelectorAll('main h2')].some((h) => h.textContent === 'Runs')")
		for _, r := range runs {
			word, _, _ := strings.Cut(r.verdict, " ")
			var overview string
			p.eval("[...document.querySelectorAll('.card, tr')].find((e) => e.querySelector('a[href=\"#/run/"+r.id+"\"]')).innerText", &overview)
			if !strings.Contains(overview, word) {
				t.Errorf("%s: the overview has %q, want %s", name, overview, word)
			}
		}
		for _, r := range runs {
			p.view("#/run/" + r.id)
			if got := strings.Join(strings.Fields(p.text("main .verdict")), " "); got != r.verdict {
				t.Errorf("%s: %q, want %q", name, got, r.verdict)
			}
			var rows []string
			p.eval("[...document.querySelectorAll('.stacked tbody tr')].map((tr) => [tr.cells[0].innerText, ...[...tr.querySelectorAll('.badge')].map((b) => b.innerText)].join(' ').trim())", &rows)
			if diff := cmp.Diff(r.rows, rows); diff != "" {
				t.Errorf("%s: %s (-want +got)\n%s", name, r.verdict, diff)
			}
		}
	}
}

// Firefox shows the page, too: it follows the log once the first view is drawn.
func TestFirefox(t *testing.T) {
	program, err := exec.LookPath("firefox-esr")
	if err != nil {
		if program, err = exec.LookPath("firefox"); err != nil {
			t.Skip("Firefox is not installed; on Debian: apt-get install firefox-esr")
		}
	}
	w := world(t)
	ok(t, w.Fill(t.Context(), 20, 2))
	ln := must(net.Listen("tcp4", "127.0.0.1:0"))(t)
	s := must(w.View(context.Background(), "--allow-host", ln.Addr().String()))(t)
	defer s.Close()
	through := httputil.NewSingleHostReverseProxy(must(url.Parse(s.Base))(t))
	through.FlushInterval = -1
	asked := make(chan string, 1000)
	proxy := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path
		through.ServeHTTP(w, r)
	}), ReadHeaderTimeout: time.Minute}
	defer proxy.Close()
	go func() { _ = proxy.Serve(ln) }()

	dir := t.TempDir()
	ok(t, os.Mkdir(filepath.Join(dir, "profile"), 0o700))
	cmd := exec.CommandContext(t.Context(), program, "--headless", "--no-remote", "--profile", filepath.Join(dir, "profile"), strings.Replace(s.URL, s.Base, "http://"+ln.Addr().String(), 1))
	cmd.Env = append(cmd.Environ(), "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	ok(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	defer func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // with the processes of its pages
		<-ended
	}()
	missing := map[string]bool{"/": true, "/page/app.js": true, "/page/style.css": true, "/api/page": true, "/api/decisions": true, "/api/status": true, "/api/events": true}
	for len(missing) > 0 {
		select {
		case path := <-asked:
			delete(missing, path)
		case err := <-ended:
			ended <- err
			t.Fatalf("Firefox ended (%v) before it asked for %v", err, missing)
		case <-time.After(time.Minute):
			t.Fatalf("Firefox did not ask for %v", missing)
		}
	}
}
