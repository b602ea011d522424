package view_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/view"
)

// hostile texts, as policies, agents and users of a project can write them.
var hostile = []string{
	"<script>alert(1)</script>", "</style><script>alert(1)</script>", "</script><script>alert(1)</script>", "--><script>alert(1)</script>",
	"javascript:alert(1)", "\u202eabc\u2066", `"><img src=x onerror=alert(1)>`, "{{.Data}}${x}`", "a\x00b\x1b[31m", strings.Repeat("x", 64<<10),
}

// file writes the page as a file.
func (w *world) file(c view.Config, output bool) string {
	w.t.Helper()
	c.Project = w.project
	var out bytes.Buffer
	if err := view.Write(w.t.Context(), &out, c, output); err != nil {
		w.t.Fatal(err)
	}
	return out.String()
}

// opened returns the data of a file.
func opened(t *testing.T, file string) string {
	t.Helper()
	_, rest, _ := strings.Cut(file, `<script type="application/gzip" id="data">`)
	packed, _, found := strings.Cut(rest, "</script>")
	if !found {
		t.Fatal("the file has no data")
	}
	z := must(gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(packed))))
	return string(must(io.ReadAll(z)))
}

// The first lines of a file say what it has, to people who open it in a browser or in an editor.
func TestFileContents(t *testing.T) {
	w := newWorld(t)
	w.decide("s1")
	digest := w.serve(view.Config{}).all()[0].Digest
	at := func(s string) string { return strings.Replace(s, "2026-11-23T10:00:00Z", "2026-11-24T12:30:00Z", 1) }
	w.append(at(w.line("a", `"session":"s2"`, `"digest":"`+digest+`"`)))
	w.append(at(w.line("b", `"session":"<s3>-->"`)))
	for name, tt := range map[string]struct {
		c    view.Config
		want string
	}{
		"session": {view.Config{Session: "s2"}, "Decisions of session s2, written by ralph view. This file loads nothing and sends nothing.\n" +
			"1 decision, 2026-11-24 12:30 UTC to 2026-11-24 12:30 UTC, as the decision log has them: prompts and what else is private by their sizes.\n" +
			"The texts of the policies that made them: .ralph/policy.yaml, ralph:guards/waiting.yaml.\n" +
			"No output of agents.\n" +
			"Paths below the home directory begin with ~. Other paths, names of sessions, and reasons are as they are."},
		"hostile": {view.Config{Session: "<s3>-->"}, "Decisions of session <s3>-->, written by ralph view. This file loads nothing and sends nothing.\n" +
			"1 decision, 2026-11-24 12:30 UTC to 2026-11-24 12:30 UTC, as the decision log has them: prompts and what else is private by their sizes.\n" +
			"No texts of policies: they are no longer kept.\n" +
			"No output of agents.\n" +
			"Paths below the home directory begin with ~. Other paths, names of sessions, and reasons are as they are."},
	} {
		t.Run(name, func(t *testing.T) {
			file := w.file(tt.c, false)
			begin, rest, _ := strings.Cut(file, "\n-->\n")
			comment := strings.NewReplacer("--", "- -", "<", "(", ">", ")").Replace(tt.want)
			if diff := cmp.Diff("<!doctype html>\n<!--\n"+comment, begin); diff != "" {
				t.Errorf("the comment (-want +got)\n%s", diff)
			}
			_, rest, _ = strings.Cut(rest, "<section id=\"contents\" aria-label=\"What this file has\">\n<p>")
			header, _, _ := strings.Cut(rest, "</p>\n</section>")
			if diff := cmp.Diff(tt.want, html.UnescapeString(strings.ReplaceAll(header, "</p>\n<p>", "\n"))); diff != "" {
				t.Errorf("the header (-want +got)\n%s", diff)
			}
		})
	}
}

// A file has the decisions that it was made for, and nothing that the log does not have.
func TestFileData(t *testing.T) {
	w := newWorld(t)
	w.write("TODO.md", "- [ ] prompt-canary\n")
	w.decide("s1")
	w.append(w.line("run", `"session":"run:r-1"`, `"run":"r-1"`, `"loop":{"state":`+quoted(w.dir+"/loop.md")+`}`))
	w.decide("s2")
	home := filepath.Dir(w.dir)
	file := w.file(view.Config{Home: home, Version: "v1", Now: func() time.Time { return time.Unix(0, 0) }}, false)
	data := opened(t, file)
	if strings.Contains(data, home) || strings.Contains(file, home) {
		t.Errorf("the file has %s", home)
	}
	if !strings.Contains(data, "Next: prompt-canary") {
		t.Error("the file lacks the text for the agent")
	}
	var got struct {
		Page struct {
			Project, Version, Home string
			Now                    time.Time
			File                   struct {
				What      string
				Decisions int
			}
		}
		Status   struct{ Loops, Runs, Finished []any }
		Rows     []row
		Records  map[string][]struct{ Root string }
		Policies map[string]shownPolicy
	}
	if err := json.Unmarshal([]byte(data), &got); err != nil {
		t.Fatal(err)
	}
	project := "~/" + filepath.Base(w.dir)
	if got.Page.Project != project || got.Page.Version != "v1" || !got.Page.Now.Equal(time.Unix(0, 0)) || got.Page.File.What != "project "+project || got.Page.File.Decisions != 3 || got.Page.Home != "" || len(got.Status.Loops)+len(got.Status.Runs)+len(got.Status.Finished) > 0 {
		t.Errorf("the page is %+v, the status %+v", got.Page, got.Status)
	}
	if len(got.Rows) != 3 || len(got.Records) != 3 || got.Records["run"][0].Root != project || len(got.Policies) != 1 || got.Policies[got.Rows[0].Digest].SVG == "" {
		t.Errorf("%d rows, %d records, %d policies", len(got.Rows), len(got.Records), len(got.Policies))
	}
	for _, c := range []view.Config{{Session: "s1"}, {Session: "s2"}} {
		got.Rows = nil
		if err := json.Unmarshal([]byte(opened(t, w.file(c, false))), &got); err != nil || len(got.Rows) != 1 || got.Rows[0].Session != c.Session {
			t.Errorf("of session %s: %+v, %v", c.Session, got.Rows, err)
		}
	}
	for _, c := range []view.Config{{Session: "s4"}, {Run: "r-1"}} { // nothing is known of that run
		if c.Project = w.project; view.Write(t.Context(), io.Discard, c, false) == nil {
			t.Errorf("a file of %+v was written", c)
		}
	}
}

// A home directory is a whole path, in any form.
func TestWithoutHome(t *testing.T) {
	for _, tt := range []struct{ text, home, want string }{
		{"/home/ann/x", "/home/ann", "~/x"},
		{`{"root":"/home/ann"}`, "/home/ann", `{"root":"~"}`},
		{"see /home/ann, file:///home/ann/x", "/home/ann", "see ~, file://~/x"},
		{"/home/anna /srv/home/ann", "/home/ann", "/home/anna /srv/home/ann"},
		{`"C:\\Users\\ann\\x" C:/Users/ann/y`, `C:\Users\ann`, `"~\\x" ~/y`},
		{`/home/a\u0026b/x`, "/home/a&b", "~/x"},
		{"/x", "/", "/x"},
		{"/x", "", "/x"},
	} {
		if got := string(view.WithoutHome([]byte(tt.text), tt.home)); got != tt.want {
			t.Errorf("%s in %s is %s, want %s", tt.home, tt.text, got, tt.want)
		}
	}
}

// What is hostile is text in a file and in answers: the file has the scripts and styles that its policy names, and no others.
func TestHostile(t *testing.T) {
	w := newWorld(t)
	for i, text := range hostile {
		w.append(w.line(text, `"session":`+quoted(text), `"rule":`+quoted(text), `"reason":`+quoted(text), `"notices":[`+quoted(text)+`]`, `"action":"stop"`, `"loop":{"name":`+quoted(text)+`}`))
		if strings.ContainsAny(text, "\x00\x1b\u202e$") { // no policy is read with such
			continue
		}
		w.load("ralph: 1\ndescription: " + quoted(text) + "\nrules:\n  - {name: r" + fmt.Sprint(i) + ", stop: " + quoted(text) + "} # " + text + "\n")
		w.decide("s1")
	}
	b := w.serve(view.Config{})
	list := b.all()
	for _, r := range list {
		if r.Digest == "" {
			continue
		}
		var p shownPolicy
		b.ask("/api/policy"+query("digest", r.Digest), &p)
		for _, markup := range []string{p.SVG, p.Files[0].HTML} {
			if tag := regexp.MustCompile(`(?i)<(script|img|style|/style|a |[^>]* on[a-z]+=)`).FindString(markup); tag != "" {
				t.Errorf("markup has %s", tag)
			}
		}
	}
	r, body := b.get("/api/decisions")
	if r.Header.Get("Content-Type") != "application/json" || strings.Contains(body, "<") || len(body) > len(list)*8*300*4 {
		t.Errorf("%s of %d bytes: %.200s", r.Header.Get("Content-Type"), len(body), body)
	}
	for _, session := range append([]string{""}, hostile...) {
		file := w.file(view.Config{Session: session}, false)
		policy := html.UnescapeString(regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(file)[1])
		allowed := 0
		for _, part := range regexp.MustCompile(`(?s)<(script|style)( type="module")?>(.*?)</(script|style)>`).FindAllStringSubmatch(file, -1) {
			sum := sha256.Sum256([]byte(part[3]))
			if !strings.Contains(policy, part[1]+"-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'") {
				t.Errorf("%.20q: the policy %s does not allow %.100s", session, policy, part[0])
			}
			allowed++
		}
		if n := strings.Count(strings.ToLower(file), "<script"); allowed != 2 || n != 2 { // with the data
			t.Errorf("%.20q: %d allowed parts, %d scripts", session, allowed, n)
		}
		if strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") || !strings.HasPrefix(policy, "default-src 'none'") {
			t.Errorf("the policy is %s", policy)
		}
		if n := strings.Count(file, "-->"); n != 1 {
			t.Errorf("%.20q: %d ends of comments", session, n)
		}
		if strings.ContainsAny(file, "\x00\x1b\u202e\u2066") {
			t.Errorf("%.20q: the file has a character that cannot be seen", session)
		}
	}
}

// A file of 1,000 decisions is small enough to send.
func TestFileSize(t *testing.T) {
	w := newWorld(t)
	w.decide("s1")
	record := must(os.ReadFile(filepath.Join(w.state, "decisions.jsonl")))
	for i := range 1200 {
		w.append(strings.Replace(string(record), `"id":"`, fmt.Sprintf(`"id":"%d-`, i), 1))
	}
	if size := len(w.file(view.Config{}, false)); size > 3<<20 || size < 10<<10 {
		t.Errorf("it has %d bytes", size)
	}
}
