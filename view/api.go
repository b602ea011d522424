package view

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/project"
)

// data is what both a server and a file show.
type data struct {
	Config
	rows *rows
}

func newData(c Config) (*data, error) {
	if c.Run != "" {
		if _, err := findRun(c.Project, c.Run); err != nil {
			return nil, err
		}
	}
	rows, err := newRows(c.Project)
	return &data{Config: c, rows: rows}, err
}

// about describes the page.
type about struct {
	V       int       `json:"v"` // 1
	Version string    `json:"version"`
	Project string    `json:"project,omitempty"`
	All     bool      `json:"all,omitempty"` // projects
	Home    string    `json:"home,omitempty"`
	Now     time.Time `json:"now"`
	Session string    `json:"session,omitempty"`
	Run     string    `json:"run,omitempty"`
	File    *contents `json:"file,omitempty"` // what a file contains, nil for a server
}

func (s *data) about() about {
	now := time.Now
	if s.Now != nil {
		now = s.Now
	}
	return about{V: 1, Version: s.Version, Project: s.Project.Dir(), All: s.Project.Dir() == "", Home: s.Home, Now: now().UTC(), Session: s.Session, Run: s.Run}
}

// unknownError reports that something does not exist.
type unknownError string

func (e unknownError) Error() string { return string(e) }

// route answers a request that the guard let pass.
func (s *Server) route(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	number := func(name string) int { n, _ := strconv.Atoi(q.Get(name)); return n } // 0 is none
	switch name := r.URL.Path; name {
	case "/":
		send(w, "text/html; charset=utf-8", []byte(index()))
	case "/api/page":
		answer(w, s.data.about(), nil)
	case "/api/status":
		status, err := s.data.status(r.Context())
		answer(w, status, err)
	case "/api/decisions":
		most := maxPage
		if !q.Has("before") {
			most = atFirst
		}
		answer(w, s.data.rows.before(number("before"), most), nil)
	case "/api/decision":
		shown, err := s.data.decision(q.Get("id"))
		answer(w, shown, err)
	case "/api/policy":
		shown, err := s.data.policy(r.Context(), q.Get("digest"))
		answer(w, shown, err)
	case "/api/run":
		shown, err := s.data.run(r.Context(), q.Get("id"))
		answer(w, shown, err)
	case "/api/events":
		after := number("after")
		if n, err := strconv.Atoi(r.Header.Get("Last-Event-ID")); err == nil {
			after = n
		}
		s.events(w, r, after)
	default:
		if b, ok := assets()[name]; ok {
			send(w, kindOf(name), b)
			return
		}
		refuse(w, http.StatusNotFound, "there is no such page")
	}
}

// kindOf returns the type of a file by its name.
func kindOf(name string) string {
	text := map[string]string{"html": "text/html", "js": "text/javascript", "css": "text/css", "json": "application/json", "txt": "text/plain"}
	if kind, ok := text[strings.TrimPrefix(path.Ext(name), ".")]; ok {
		return kind + "; charset=utf-8"
	}
	return "application/octet-stream"
}

func send(w http.ResponseWriter, kind string, body []byte) {
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(body) // a browser that went away needs no answer
}

// answer sends JSON.
func answer(w http.ResponseWriter, value any, err error) {
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		status := http.StatusInternalServerError
		if errors.As(err, new(unknownError)) {
			status = http.StatusNotFound
		}
		w.WriteHeader(status)
		value = map[string]string{"error": err.Error()}
	}
	_, _ = w.Write(asJSON(value))
}

// shownStatus is the status of a project with the states of its runs.
type shownStatus struct {
	*project.Status
	Runs []shownRun `json:"runs,omitempty"` // the latest, also those that ended
}

// status returns the loops and runs of the project, nil of all projects.
func (s *data) status(ctx context.Context) (*shownStatus, error) {
	if s.Project.Dir() == "" {
		return nil, nil
	}
	status, err := s.Project.Status(ctx)
	if err != nil {
		return nil, err
	}
	runs, err := s.Project.Runs()
	if err != nil {
		return nil, err
	}
	shown := &shownStatus{Status: status}
	for _, info := range runs[:min(len(runs), maxRuns)] {
		shown.Runs = append(shown.Runs, newRun(info))
	}
	return shown, nil
}

// shownDecision is what has an ID: the decisions as the log has them, and their rows.
type shownDecision struct {
	Records []json.RawMessage `json:"records"`
	Rows    []row             `json:"rows"`
}

// decision returns the decisions of an ID.
func (s *data) decision(id string) (shownDecision, error) {
	d := shownDecision{Rows: s.rows.of(id)}
	if len(d.Rows) == 0 {
		return d, unknownError("the decision log has no such decision")
	}
	entries, err := s.Project.History(project.Query{ID: strings.TrimSuffix(id, "…"), Last: len(d.Rows), Match: func(d project.Decision) bool { return short(d.ID) == id }})
	for _, e := range entries {
		d.Records = append(d.Records, e.Line)
	}
	return d, err
}
