package lsp

import (
	"bytes"
	"context"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/ralph-sdk/ralph/internal/settings"
	"github.com/ralph-sdk/ralph/internal/yamltree"
	"github.com/ralph-sdk/ralph/policytest"
	"github.com/ralph-sdk/ralph/rules"
)

// kind is what a file is for.
type kind uint8

const (
	other  kind = iota // nothing of ralph
	policy             // or a file that policies include
	tests
	config
)

// kindOf returns what a file is for.
func kindOf(name, src string) kind {
	ralph := strings.HasPrefix(name, ".ralph/")
	switch {
	case name == settings.File:
		return config
	case path.Ext(name) != ".yaml" && path.Ext(name) != ".yml" && strings.Contains(path.Base(name), "."):
		return other
	case strings.HasSuffix(name, policytest.Suffix):
		if ralph || hasKey(src, "tests:") {
			return tests
		}
	case hasKey(src, "ralph:"), ralph && !strings.Contains(strings.TrimPrefix(name, ".ralph/"), "/"):
		return policy
	}
	return other
}

// hasKey reports whether a line begins with a key.
func hasKey(src, key string) bool {
	return strings.HasPrefix(src, key) || strings.Contains(src, "\n"+key)
}

// analysis is what is known about a file and all that it reads.
type analysis struct {
	at     location
	kind   kind
	text   *text
	diags  rules.Diagnostics
	index  *rules.Index     // of a policy, or the one that is tested
	policy string           // of tests: the file that they test
	tested []tested         // names of it
	read   map[string]*text // nil for what is not open
	epoch  int              // of what is saved

	once sync.Once
	tree *yamltree.Node
}

// root returns the root of the YAML, nil if the text is none. It is read when it is first needed.
func (a *analysis) root() *yamltree.Node {
	a.once.Do(func() { a.tree, _ = yamltree.Parse([]byte(a.text.src)) })
	return a.tree
}

// current reports whether the analysis is that of a snapshot.
func (a *analysis) current(s *snapshot) bool {
	open := s.files(a.at.root)
	if a.epoch != s.epoch {
		return false
	}
	for name, t := range a.read {
		if open[name] != t {
			return false
		}
	}
	return true
}

// analyze checks a file as ralph check does. It returns nil if ctx is done first, or if the file cannot be read.
func (s *server) analyze(ctx context.Context, snap *snapshot, at location) *analysis {
	return s.analyzeBy(ctx, snap, at, rules.Check)
}

// analyzeBy is analyze with one of rules.Check and rules.Load.
func (s *server) analyzeBy(ctx context.Context, snap *snapshot, at location, by func(context.Context, fs.FS, string, rules.Config) (*rules.Program, rules.Diagnostics)) *analysis {
	files := snap.overlay(at.root)
	src, err := fs.ReadFile(files, at.name)
	if err != nil {
		return nil
	}
	a := &analysis{at: at, text: files.open[at.name], epoch: snap.epoch, kind: kindOf(at.name, string(src))}
	if a.text == nil {
		a.text = newText(string(src), snap.units)
	}
	switch a.kind {
	case policy:
		cfg, bad := s.configured(files, at.name)
		a.index = new(rules.Index)
		cfg.Index = a.index
		_, a.diags = by(ctx, files, at.name, cfg)
		a.diags = append(a.diags, bad...)
	case tests:
		cfg, _ := s.configured(files, at.name)
		cfg.Set, cfg.SetAt = nil, nil // tests have their own
		a.index = new(rules.Index)
		cfg.Index = a.index
		_, a.diags = policytest.LoadSource(ctx, files, at.name, src, cfg)
		a.tested = testedIn(a.root(), a.text, nil)
		name := strings.TrimSuffix(path.Base(at.name), policytest.Suffix) + ".yaml"
		if n := a.root().Get("policy"); n != nil {
			name = n.Value
		}
		if a.policy = path.Join(path.Dir(at.name), name); len(a.index.Words) == 0 { // the tests are not valid yet
			rules.Load(ctx, files, a.policy, cfg)
		}
	case config:
		set, bad := settings.Parse(src)
		if a.diags = faulty(bad, src); set == nil {
			break
		}
		for _, own := range set.Fields {
			name := own.Key.Value
			if !strings.Contains(name, "/") {
				name = ".ralph/" + strings.TrimSuffix(name, ".yaml") + ".yaml"
			}
			if _, err := fs.Stat(files, name); err != nil {
				continue // a shipped policy, or one elsewhere
			}
			cfg, bad := s.configured(files, name)
			_, diags := rules.Load(ctx, files, name, cfg)
			a.diags = append(a.diags, bad...)
			for _, d := range diags {
				if d.Pos.File == settings.File {
					a.diags = append(a.diags, d)
				}
			}
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	a.read = files.read
	return a
}

// configured returns the configuration of a policy, with the params that the project sets.
func (s *server) configured(files *overlay, name string) (rules.Config, rules.Diagnostics) {
	cfg := s.language
	src, err := fs.ReadFile(files, settings.File)
	if err != nil {
		return cfg, nil
	}
	set, bad := settings.Parse(src)
	if bad != nil {
		return cfg, faulty(bad, src)
	}
	values, bad := settings.Of(set, name)
	if bad != nil {
		return cfg, faulty(bad, src)
	}
	cfg.Set = map[string]string{}
	for param, n := range values {
		cfg.Set[param] = n.Value
	}
	cfg.SetAt = func(param string) rules.Pos {
		at := rules.Pos{File: settings.File}
		if n := values[param]; n != nil {
			at.Line, at.Col = n.Start.Line, n.Start.Col
		}
		return at
	}
	return cfg, nil
}

// faulty returns the finding on a configuration; there is none if nothing is wrong.
func faulty(bad *settings.Error, src []byte) rules.Diagnostics {
	if bad == nil {
		return nil
	}
	at := func(p yamltree.Pos) rules.Pos { return rules.Pos{File: settings.File, Line: p.Line, Col: p.Col} }
	return rules.Diagnostics{{Pos: at(bad.From), End: at(bad.To), Message: bad.Message, Line: yamltree.Line(src, bad.From.Line)}}
}

// includes reports whether a text may include a file.
func includes(src []byte, name string) bool {
	word := strings.TrimSuffix(path.Base(name), path.Ext(name))
	return bytes.Contains(src, []byte("include:")) && bytes.Contains(src, []byte(word))
}
