package main

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/host/setup"
	"github.com/ralph-sdk/ralph/internal/reference"
)

// Package reference asks for it.
var _ = flag.Bool("update", false, "write the pages of docs/reference")

// Every flag has a usage text.
func TestFlagUsage(t *testing.T) {
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" {
				t.Errorf("%s --%s has no usage text", c.CommandPath(), f.Name)
			}
		})
		for _, sub := range c.Commands() {
			check(sub)
		}
	}
	check(commandTree())
}

// commandTree is the tree as people meet it, with what cobra adds.
func commandTree() *cobra.Command {
	root := (&app{getenv: os.Getenv}).command(nil)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	return root
}

// Each command has its exit statuses in the table: a command's file names exitFindings where the table has that status.
func TestExitTable(t *testing.T) {
	var have, want []string
	for _, c := range commandTree().Commands() {
		if slices.ContainsFunc(exitsOf(c), func(e exit) bool { return e.status == exitFindings }) {
			have = append(have, c.Name())
		}
		src, err := os.ReadFile(c.Name() + ".go")
		if err != nil { // cobra's own
			continue
		}
		if strings.Contains(string(src), "exitFindings") {
			want = append(want, c.Name())
		}
	}
	slices.Sort(have)
	slices.Sort(want)
	if diff := gocmp.Diff(want, have); diff != "" {
		t.Errorf("commands that end with %d (-files +table)\n%s", exitFindings, diff)
	}
}

// The page about hosts says what the table of hosts says.
func TestHostsPage(t *testing.T) {
	p := reference.New(t, "hosts", "Hosts of ralph install")
	p.Text("`ralph install HOST` writes an entry into the settings of a host, for each event that the policy lists and the host has. " +
		"[Hosts](../hosts.md) says how the hosts differ.")
	if runtime.GOOS == "windows" {
		t.Skip("the page has the entries of other systems")
	}
	all := setup.Env{Home: "~", Project: t.TempDir()}.Hosts()
	p.Section(2, "Files")
	rows := [][]string{{"host", "name", setup.ScopeProject, setup.ScopeLocal, setup.ScopeUser}}
	for _, g := range all {
		row := []string{g.Title, reference.Code(g.Name)}
		for _, scope := range rows[0][2:] {
			file := "-"
			if g.Files[scope] != "" {
				file = reference.Code(filepath.ToSlash(g.Files[scope]))
			}
			row = append(row, file)
		}
		rows = append(rows, row)
	}
	p.Table(rows...)
	p.Section(2, "Events")
	p.Text("A policy's events under the names of the hosts. Other events have the same name on every host.")
	events := []string{host.Stop, host.SubagentStop, host.UserPromptSubmit, "PreCompact", host.StopFailure, "SessionEnd", host.TaskCompleted, host.TeammateIdle}
	rows = [][]string{append([]string{"host"}, events...)}
	for _, g := range all {
		row := []string{g.Title}
		for _, event := range events {
			names, _ := g.Events([]string{event})
			if names == nil {
				row = append(row, "-")
			} else {
				row = append(row, reference.Code(names...))
			}
		}
		rows = append(rows, row)
	}
	p.Table(rows...)
	p.Section(2, "Entries")
	p.Text("What `install` writes for `Stop` into a missing file, on Linux and macOS.")
	seen := map[string]int{}
	var blocks, titles, languages []string
	for _, g := range all {
		names, _ := g.Events([]string{host.Stop})
		file, err := g.Open(t.Context(), g.Scopes()[0])
		if err != nil {
			t.Fatal(err)
		}
		src, err := file.With(setup.Want{Program: "ralph", Events: names})
		if err != nil {
			t.Fatal(err)
		}
		if i, ok := seen[string(src)]; ok {
			titles[i] += ", " + g.Title
			continue
		}
		seen[string(src)] = len(blocks)
		blocks, titles = append(blocks, strings.TrimSpace(string(src))), append(titles, g.Title)
		languages = append(languages, map[bool]string{false: "json", true: "toml"}[g.Settings.TOML])
	}
	for i, block := range blocks {
		p.Section(3, titles[i])
		p.Block(languages[i], block)
	}
	p.Check()
}

// Findings of doctor have an id of the table, and each id is in use.
func TestDoctorChecks(t *testing.T) {
	files, err := filepath.Glob("doctor*.go")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			constants := map[string]string{} // of this function
			ast.Inspect(decl, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.ValueSpec:
					for i, v := range n.Values {
						if text, ok := literal(v); ok {
							constants[n.Names[i].Name] = text
						}
					}
				case *ast.CallExpr:
					method, ok := n.Fun.(*ast.SelectorExpr)
					if !ok || method.Sel.Name != "problem" && method.Sel.Name != "note" || len(n.Args) == 0 {
						break
					}
					id, ok := literal(n.Args[0])
					if name, isName := n.Args[0].(*ast.Ident); isName {
						id, ok = constants[name.Name]
					}
					if !ok {
						t.Errorf("%s: the id of a finding is a literal or a constant of its function", fset.Position(n.Pos()))
					}
					used[id] = true
				}
				return true
			})
		}
	}
	var table []string
	for _, c := range doctorChecks() {
		table = append(table, c.id)
		if c.doc == "" || c.cause == "" || c.fix == "" {
			t.Errorf("%s has no sentence about what it finds, why it matters or what to do", c.id)
		}
	}
	var found []string
	for id := range used {
		found = append(found, id)
	}
	slices.Sort(table)
	slices.Sort(found)
	if diff := gocmp.Diff(found, table); diff != "" {
		t.Errorf("ids of findings (-used +table)\n%s", diff)
	}
}

func literal(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}
