package view

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/amount"
	"github.com/ralph-sdk/ralph/internal/escape"
	"github.com/ralph-sdk/ralph/project"
)

// inFile bounds the decisions in a file; the latest are kept.
const inFile = 1000

// contents says what a file has.
type contents struct {
	What      string    `json:"what"` // a session, a run or a project
	Decisions int       `json:"decisions"`
	From      time.Time `json:"from"`
	To        time.Time `json:"to"`
	Policies  []string  `json:"policies"` // whose texts are in it
	Output    bool      `json:"output"`   // the end of what agents printed is in it
}

// saved is the data of a file. The page reads what a server answers.
type saved struct {
	Page   about `json:"page"`
	Status struct {
		Runs []shownRun `json:"runs,omitempty"` // all else has texts that the log does not have
	} `json:"status"`
	Rows     []row                        `json:"rows"`
	Records  map[string][]json.RawMessage `json:"records"`
	Policies map[string]*shownPolicy      `json:"policies"`
	Runs     map[string]shownRun          `json:"runs"`
}

// Write writes the page as one file that loads nothing and sends nothing: the latest 1,000 decisions of a session, a
// run or the project, the texts of their policies, and with output the end of the agents' output in their runs. Its
// first lines say so. Decisions are as in the log, and paths below the home directory begin with ~.
func Write(ctx context.Context, w io.Writer, c Config, output bool) error {
	d, err := newSaved(ctx, c, output)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	_, _ = z.Write(withoutHome(asJSON(d), c.Home)) // a buffer takes all
	_ = z.Close()
	script, style, err := joined()
	if err != nil {
		return err
	}
	lines := d.lines(c.Home)
	_, err = io.WriteString(w, inline{
		comment: strings.NewReplacer("--", "- -", "<", "(", ">", ")").Replace(strings.Join(lines, "\n")), lines: lines,
		policy: "default-src 'none'; script-src " + hashed(script) + "; style-src " + hashed(style) + "; img-src data:; base-uri 'none'; form-action 'none'; " +
			"require-trusted-types-for 'script'; trusted-types ralph",
		script: script, style: style, data: base64.StdEncoding.EncodeToString(packed.Bytes()),
	}.page())
	return err
}

// newSaved collects the data of a file.
func newSaved(ctx context.Context, c Config, output bool) (*saved, error) {
	if c.Run != "" {
		if _, err := findRun(c.Project, c.Run); err != nil {
			return nil, err
		}
	}
	q := project.Query{Session: c.Session, Last: inFile}
	if c.Run != "" {
		q.Match = func(d project.Decision) bool { return d.Run == c.Run }
	}
	entries, err := c.Project.History(q)
	if err == nil && len(entries) == 0 {
		err = errors.New("there is nothing to write: the decision log has no such decision; ralph log shows what it has")
	}
	if err != nil {
		return nil, err
	}
	source := &data{Config: c, rows: emptyRows(c.Project)}
	s := &saved{Records: map[string][]json.RawMessage{}, Policies: map[string]*shownPolicy{}, Runs: map[string]shownRun{}}
	for _, e := range entries {
		source.rows.add(e.Decision)
		id := short(e.ID)
		s.Records[id] = append(s.Records[id], e.Line)
	}
	s.Rows, _ = source.rows.after(0, len(entries))
	s.Page = source.about()
	s.Page.Home = ""
	s.Page.File = &contents{What: s.what(c), Decisions: len(entries), From: s.Rows[0].Time, To: s.Rows[len(s.Rows)-1].Time, Output: output}
	for _, r := range s.Rows {
		if _, ok := s.Policies[r.Digest]; !ok && source.rows.used[r.Digest] != nil {
			shown, err := source.policy(ctx, r.Digest)
			if err != nil {
				return nil, err
			}
			s.Policies[r.Digest] = shown
			for _, f := range shown.Files {
				s.Page.File.Policies = append(s.Page.File.Policies, f.Name)
			}
		}
		if _, ok := s.Runs[r.Run]; !ok && r.Run != "" {
			shown, err := source.run(ctx, r.Run)
			if errors.As(err, new(unknownError)) { // it was removed
				continue
			} else if err != nil {
				return nil, err
			}
			if shown.Info.Labels = nil; !output { // labels have the values of params
				shown.withoutOutput()
			}
			s.Runs[r.Run] = shown
			s.Status.Runs = append([]shownRun{{Info: shown.Info, State: shown.State, Why: shown.Why}}, s.Status.Runs...)
		}
	}
	return s, nil
}

// what names what a file is about.
func (s *saved) what(c Config) string {
	switch {
	case c.Session != "":
		return "session " + c.Session
	case c.Run != "":
		return "run " + c.Run
	case c.Project.Dir() == "":
		return "all projects"
	}
	return "project " + c.Project.Dir()
}

// lines say what a file has, each on one line.
func (s *saved) lines(home string) []string {
	c := s.Page.File
	day := func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }
	policies, output := "No texts of policies: they are no longer kept.", "No output of agents."
	if len(c.Policies) > 0 {
		policies = "The texts of the policies that made them: " + strings.Join(c.Policies, ", ") + "."
	}
	if c.Output {
		output = fmt.Sprintf("The end of what agents printed in %s, as it is.", amount.Of(len(s.Runs), "run"))
	}
	lines := []string{
		fmt.Sprintf("Decisions of %s, written by ralph view. This file loads nothing and sends nothing.", c.What),
		fmt.Sprintf("%s, %s to %s, as the decision log has them: prompts and what else is private by their sizes.", amount.Of(c.Decisions, "decision"), day(c.From), day(c.To)),
		policies, output,
		"Paths below the home directory begin with ~. Other paths, names of sessions, and reasons are as they are.",
	}
	for i, line := range lines {
		lines[i] = escape.Line(string(withoutHome([]byte(line), home)))
	}
	return lines
}

// hashed allows one script or style in a policy.
func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// joined returns the modules of the page as one, and its styles.
func joined() (script, style string, err error) {
	var out strings.Builder
	done := map[string]bool{}
	var add func(name string) error
	add = func(name string) error {
		if done[name] {
			return nil
		}
		done[name] = true
		src, err := files.ReadFile(path.Join("page", name))
		if err != nil {
			return err
		}
		var body strings.Builder
		for line := range strings.Lines(string(src)) {
			if strings.HasPrefix(line, "import ") {
				parts := strings.FieldsFunc(line[strings.LastIndex(line, " from ")+1:], func(r rune) bool { return strings.ContainsRune("'\"; \n", r) })
				if len(parts) != 2 {
					return fmt.Errorf("%s: an import must be on one line: %s", name, line)
				}
				if err := add(path.Join(path.Dir(name), parts[1])); err != nil {
					return err
				}
				continue
			}
			body.WriteString(strings.TrimPrefix(line, "export "))
		}
		out.WriteString(body.String())
		return nil
	}
	err = add("app.js")
	all := assets()
	script, style = out.String(), string(all["/page/graph.css"])+string(all["/page/style.css"])
	if lower := strings.ToLower(script + style); err == nil && (strings.Contains(lower, "</script") || strings.Contains(lower, "</style") || strings.Contains(lower, "<!--")) {
		err = errors.New("the page has a text that would end its own script or style")
	}
	return script, style, err
}

// withoutHome writes ~ for the home directory where a path begins with it, in JSON too.
func withoutHome(text []byte, home string) []byte {
	if len(strings.Trim(home, `/\`)) < 2 {
		return text
	}
	part := func(b byte) bool {
		return b >= 0x80 || b == '_' || b == '-' || b == '.' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
	}
	inJSON := strings.Trim(string(asJSON(home)), `"`)
	for _, form := range []string{home, inJSON, strings.ReplaceAll(inJSON, `\\`, `/`)} {
		var out []byte
		for rest := text; ; {
			i := bytes.Index(rest, []byte(form))
			if i < 0 {
				text = append(out, rest...)
				break
			}
			end := i + len(form)
			inside := i > 0 && part(rest[i-1]) || end < len(rest) && part(rest[end])
			out = append(out, rest[:i]...)
			if rest = rest[end:]; inside {
				out = append(out, form...)
			} else {
				out = append(out, '~')
			}
		}
	}
	return text
}
