package view

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/graph"
	"github.com/ralph-sdk/ralph/rules"
)

// shownPolicy is a policy as it was when it decided.
type shownPolicy struct {
	Policy string        `json:"policy,omitempty"`
	Digest string        `json:"digest"`
	Files  []shownFile   `json:"files"`
	SVG    string        `json:"svg,omitempty"`
	Graph  *graph.Graph  `json:"graph,omitempty"`
	Counts *graph.Counts `json:"counts"`
	Why    string        `json:"why,omitempty"` // the graph or the files are missing
}

type shownFile struct {
	Name string `json:"name"`
	HTML string `json:"html"`
}

// policy returns the policy with a digest, from the texts that are kept beside the log. Only decisions name digests.
func (s *data) policy(ctx context.Context, digest string) (*shownPolicy, error) {
	counts := s.rows.counts(digest)
	if counts == nil {
		return nil, unknownError("the decision log has no decision of such a policy")
	}
	files, err := s.Project.Texts(digest)
	if err != nil {
		return nil, err
	}
	p := &shownPolicy{Digest: digest, Files: []shownFile{}, Counts: counts}
	if len(files) == 0 {
		p.Why = "the texts of this version of the policy are no longer kept"
		return p, nil
	}
	p.Policy = files[0].Name
	kept := keptFiles{}
	for i, f := range files {
		kept[f.Name] = f.Src
		p.Files = append(p.Files, shownFile{f.Name, coloured(i, f.Src)})
	}
	cfg := s.Project.Language()
	cfg.Shipped = shippedFiles{kept, cfg.Shipped}
	program, findings := rules.Load(ctx, kept, files[0].Name, cfg)
	if program == nil {
		p.Why = fmt.Sprintf("this version of ralph cannot draw it: %v", findings.Err())
		return p, nil
	}
	p.Graph = graph.New(program, graph.Marks{Counts: counts})
	p.SVG = withoutStyle(p.Graph.SVG())
	return p, nil
}

// withoutStyle takes the style sheet out of a picture: the page has it.
func withoutStyle(svg []byte) string {
	before, rest, _ := bytes.Cut(svg, []byte("<style>"))
	_, after, _ := bytes.Cut(rest, []byte("</style>\n"))
	return string(before) + string(after)
}

// keptFiles is a file system of the texts of a policy.
type keptFiles map[string][]byte

func (k keptFiles) Open(name string) (fs.File, error) {
	src, ok := k[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return keptFile{bytes.NewReader(src), name}, nil
}

// shippedFiles are those that a policy names by ralph:, as they were, else as this version ships them.
type shippedFiles struct {
	kept keptFiles
	now  fs.FS
}

func (s shippedFiles) Open(name string) (fs.File, error) {
	if _, ok := s.kept["ralph:"+name]; ok || s.now == nil {
		return s.kept.Open("ralph:" + name)
	}
	return s.now.Open(name)
}

// keptFile is an open file, and its own FileInfo.
type keptFile struct {
	*bytes.Reader
	name string
}

func (f keptFile) Stat() (fs.FileInfo, error) { return f, nil }
func (keptFile) Close() error                 { return nil }
func (f keptFile) Name() string               { return f.name[strings.LastIndexByte(f.name, '/')+1:] }
func (keptFile) Mode() fs.FileMode            { return 0o444 }
func (keptFile) ModTime() time.Time           { return time.Time{} }
func (keptFile) IsDir() bool                  { return false }
func (keptFile) Sys() any                     { return nil }
