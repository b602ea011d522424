package ralph_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const module = "github.com/ralph-sdk/ralph"

// Packages know each other in one direction only:
//
//	cmd/ralph ─> project ─> run ─> loop ─> rules ─> schema
//	    │                    └───────┤
//	    │                            ├───> state ─> schema    files of a project
//	    │                            ├───> internal/store     ralph's own files
//	    └> rules                     └───> host
//
// loop/judge is a source of loop that cmd/ralph adds. host/setup, for cmd/ralph too, writes the settings of a host, so that
// host itself, which a hook needs, writes no files.
//
// The policies and guards in examples are plain files, which loop hands to rules.
//
// What a package does not import it cannot do: decisions are made by packages that
// reach neither files nor processes, and only the judge reaches the network. So the
// table lists what each package imports of this module, as ./PATH, and of the standard
// library beyond what is harmless. It is exact: an import that it does not list
// fails, and so does an entry that no file imports.
func TestImports(t *testing.T) {
	// They compute, and reach nothing outside of the process.
	harmless := []string{
		"bytes", "cmp", "context", "crypto/sha256", "embed", "encoding", "encoding/hex", "encoding/json", "errors", "fmt", "hash/fnv",
		"io", "io/fs", "iter", "maps", "math", "math/bits", "net/url", "path", "reflect", "regexp", "regexp/syntax", "slices", "sort", "strconv", "strings",
		"sync", "sync/atomic", "unicode", "unicode/utf8",
	}
	want := map[string][]string{
		// Words, numbers and places in texts.
		"internal/amount":         {"time"},
		"internal/fatal":          {"unsafe"},
		"internal/hosttest":       nil, // its tests have everything
		"internal/jsonedit":       {"./internal/jsontext", "./schema"},
		"internal/jsontext":       {"unicode/utf16"},
		"internal/markdown":       nil,
		"internal/nearest":        nil,
		"internal/option":         nil,
		"internal/reference":      {"./internal/amount", "flag", "os", "path/filepath", "testing", "time"}, // only for tests: nothing here may import it
		"internal/messages":       {"go/ast", "go/parser", "go/token", "os"},                               // a command that lists all messages
		"internal/regexpsize":     nil,
		"internal/room":           nil,
		"internal/settings":       {"./internal/yamltree"},
		"schema":                  {"./internal/jsontext", "./internal/nearest", "./internal/regexpsize", "math/big", "time"},
		"internal/escape":         {"unicode/utf16"},
		"internal/form":           nil,
		"internal/vocab":          {"time"},
		"rules/internal/analysis": {"./schema", "math/big"},
		"internal/shellwords":     {"os/exec", "runtime"},
		"internal/yamltree":       nil,

		// The language and the decision.
		"rules": {"./internal/amount", "./internal/escape", "./internal/form", "./internal/jsontext", "./internal/nearest", "./internal/regexpsize", "./internal/vocab", "./internal/yamltree", "./rules/internal/analysis", "./schema", "runtime/debug", "time"},

		// Files.
		"internal/syserr":    {"os", "syscall"},
		"internal/tomledit":  {"./internal/jsontext", "./schema", "time"},
		"internal/home":      {"os", "runtime", "syscall"},
		"internal/approval":  {"./internal/shellwords", "./internal/store", "./internal/yamltree", "./rules", "os", "os/exec", "path/filepath"},
		"internal/workspace": {"./internal/git", "./internal/home", "os", "path/filepath"},
		"internal/process":   {"math/rand/v2", "os", "os/exec", "os/signal", "path/filepath", "runtime", "syscall", "time", "unsafe"},
		"internal/git":       {"./internal/home", "./internal/process", "os", "os/exec", "path/filepath", "time"},
		"internal/store":     {"./internal/home", "./internal/jsontext", "./internal/syserr", "math/rand/v2", "os", "path/filepath", "runtime", "syscall", "time"},
		"state": {
			"./internal/home", "./internal/jsonedit", "./internal/jsontext", "./internal/markdown", "./internal/syserr", "./schema",
			"math/rand/v2", "os", "path/filepath", "syscall", "time",
		},

		// Events in, facts gathered, verdicts applied.
		"internal/hookfile": {"path/filepath"},
		"host":              {"./internal/escape", "./internal/hookfile", "./internal/jsontext", "./internal/markdown", "./internal/shellwords", "./internal/vocab", "os", "path/filepath", "syscall", "time"},
		"host/setup":        {"./host", "./internal/amount", "./internal/git", "./internal/hookfile", "./internal/jsonedit", "./internal/jsontext", "./internal/nearest", "./internal/process", "./internal/shellwords", "./internal/tomledit", "./internal/workspace", "./schema", "./state", "os", "os/exec", "path/filepath", "runtime", "time"},
		"loop":              {"./examples", "./host", "./internal/approval", "./internal/escape", "./internal/git", "./internal/home", "./internal/jsontext", "./internal/option", "./internal/process", "./internal/room", "./internal/shellwords", "./internal/store", "./internal/vocab", "./internal/workspace", "./rules", "./schema", "./state", "encoding/xml", "log/slog", "math/rand/v2", "os", "os/exec", "path/filepath", "runtime/debug", "time"},
		"internal/inputs":   {"./loop", "./rules", "./schema", "time"},
		"loop/judge":        {"./loop", "./rules", "./schema", "net", "net/http", "time"},
		"loop/looptest":     {"./host", "./internal/vocab", "./loop", "./rules", "runtime", "testing", "testing/fstest", "time"}, // for tests
		"policytest":        {"./host", "./internal/form", "./internal/home", "./internal/inputs", "./internal/jsontext", "./internal/nearest", "./internal/vocab", "./internal/yamltree", "./loop", "./rules", "./schema", "./state", "os", "path/filepath", "testing", "time"},

		// Runs of an agent.
		"run":               {"./host", "./internal/escape", "./internal/home", "./internal/jsontext", "./internal/option", "./internal/process", "./internal/shellwords", "./internal/store", "./internal/vocab", "./loop", "./rules", "./run/step", "./state", "bufio", "crypto/rand", "os", "os/exec", "path/filepath", "time"},
		"run/step":          {"./internal/escape", "./internal/vocab", "time"},
		"run/runtest":       {"./run", "runtime", "testing"}, // for tests
		"internal/worktree": {"./internal/git", "os", "path/filepath"},

		// What a project has, for commands and other programs.
		"project": {"./examples", "./host", "./host/setup", "./internal/amount", "./internal/approval", "./internal/home", "./internal/jsontext", "./internal/nearest", "./internal/settings", "./internal/shellwords", "./internal/store", "./internal/vocab", "./internal/workspace", "./internal/worktree", "./internal/yamltree", "./loop", "./rules", "./run", "./run/step", "./state", "crypto/rand", "os", "path/filepath", "runtime", "time"},

		// Pictures: of a policy, and of what a project has done.
		"graph": {"./internal/amount", "./internal/escape", "./rules"},
		"view":  {"./graph", "./internal/amount", "./internal/escape", "./internal/yamltree", "./loop", "./project", "./rules", "./run", "compress/gzip", "crypto/rand", "crypto/subtle", "encoding/base64", "html", "net", "net/http", "time", "unique"},

		// OpenTelemetry, a module of its own.
		"otel": {"./host", "./loop", "./rules"},

		// What loops keep in PostgreSQL, a module of its own.
		"stores/postgres": {"./loop", "encoding/binary", "time"},

		// Runs on many machines, a module of its own.
		"temporal":                  {"./loop", "./project", "./rules", "./run", "./run/step", "crypto/rand", "os", "os/exec", "path/filepath", "time"},
		"temporal/e2e":              nil, // tests
		"temporal/cmd/ralph-worker": {"./project", "./run", "./run/step", "./temporal", "flag", "log/slog", "os", "os/signal", "path/filepath", "syscall", "time"},

		// What ships, and the command.
		"docs":                        nil,
		"examples":                    nil,
		"examples/embed/checklist":    {"./host", "./loop", "log", "os"},
		"examples/embed/minimal":      {"./loop", "log", "os"},
		"examples/embed/source":       {"./loop", "./rules", "./schema", "./state", "log", "os"},
		"examples/embed/database":     {"./host", "./loop", "./rules", "./schema", "database/sql", "net/http", "testing/fstest", "time"},
		"examples/embed/quickstart":   {"./host", "./loop", "log"},
		"examples/run/scripted-agent": {"os", "time"},
		"cmd/ralph":                   {"./docs", "./graph", "./host", "./host/setup", "./internal/amount", "./internal/escape", "./internal/fatal", "./internal/form", "./internal/home", "./internal/jsontext", "./internal/nearest", "./internal/process", "./internal/room", "./internal/shellwords", "./internal/store", "./internal/vocab", "./internal/workspace", "./loop", "./loop/judge", "./policytest", "./project", "./rules", "./run", "./schema", "./state", "./view", "bufio", "os", "os/exec", "os/signal", "path/filepath", "runtime", "runtime/debug", "syscall", "time"},
	}
	got, used := map[string][]string{}, map[string]bool{}
	for pkg, imports := range imported(t) {
		got[pkg] = nil
		for _, name := range imports {
			used[name] = true
			own, isOwn := strings.CutPrefix(name, module+"/")
			switch host, _, _ := strings.Cut(name, "/"); {
			case isOwn:
				got[pkg] = append(got[pkg], "./"+own)
			case !strings.Contains(host, ".") && !slices.Contains(harmless, name): // the others are TestDependencies'
				got[pkg] = append(got[pkg], name)
			}
		}
		slices.Sort(got[pkg])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what each package imports (-table +files)\n%s", diff)
	}
	for _, name := range harmless {
		if !used[name] {
			t.Errorf("no package imports %s: it need not be called harmless", name)
		}
	}
}

// An importer pays for what it uses: what a package links, through whatever it
// imports, leaves these out.
func TestLinks(t *testing.T) {
	for pkg, denied := range map[string][]string{
		"rules": {"net/http", "crypto/tls", "os/exec"},
		"loop":  {"net/http", "crypto/tls"},
	} {
		out, err := exec.Command("go", "list", "-deps", "./"+pkg).Output()
		if err != nil {
			t.Fatal(err)
		}
		linked := strings.Fields(string(out))
		if len(linked) < 10 {
			t.Errorf("%s links %q", pkg, linked)
		}
		for _, name := range denied {
			if slices.Contains(linked, name) {
				t.Errorf("%s links %s", pkg, name)
			}
		}
	}
}

// Each dependency is linked in one place, so that replacing it, or paying for its start, concerns one package.
func TestDependencies(t *testing.T) {
	got := map[string][]string{}
	for pkg, imports := range imported(t) {
		for _, name := range imports {
			host, _, _ := strings.Cut(name, "/")
			if !strings.Contains(host, ".") || strings.HasPrefix(name, module) {
				continue
			}
			lib := strings.Join(strings.SplitN(name, "/", 4)[:min(3, strings.Count(name, "/")+1)], "/")
			if !slices.Contains(got[lib], pkg) {
				got[lib] = append(got[lib], pkg)
			}
		}
	}
	for _, pkgs := range got {
		slices.Sort(pkgs)
	}
	want := map[string][]string{
		"github.com/aymanbagabas/go-udiff":      {"cmd/ralph"},
		"github.com/bmatcuk/doublestar":         {"internal/approval", "rules", "state"},
		"github.com/expr-lang/expr":             {"rules"},
		"github.com/gofrs/flock":                {"internal/store"},
		"github.com/jackc/pgx":                  {"stores/postgres"},
		"github.com/mattn/go-isatty":            {"cmd/ralph"},
		"github.com/pelletier/go-toml":          {"internal/tomledit"},
		"github.com/santhosh-tekuri/jsonschema": {"schema"},
		"github.com/spf13/cobra":                {"cmd/ralph"},
		"github.com/spf13/pflag":                {"cmd/ralph"},
		"go.opentelemetry.io/otel/attribute":    {"otel"},
		"go.opentelemetry.io/otel/codes":        {"otel"},
		"go.opentelemetry.io/otel/metric":       {"otel"},
		"go.opentelemetry.io/otel/trace":        {"otel"},
		"go.yaml.in/yaml/v3":                    {"internal/yamltree", "policytest", "project", "state"},
		"go.temporal.io/api/serviceerror":       {"temporal"},
		"go.temporal.io/api/enums":              {"temporal"},
		"go.temporal.io/api/workflowservice":    {"temporal", "temporal/cmd/ralph-worker"},
		"go.temporal.io/sdk/activity":           {"temporal"},
		"go.temporal.io/sdk/client":             {"temporal", "temporal/cmd/ralph-worker"},
		"go.temporal.io/sdk/contrib":            {"temporal/cmd/ralph-worker"},
		"go.temporal.io/sdk/log":                {"temporal/cmd/ralph-worker"},
		"go.temporal.io/sdk/temporal":           {"temporal"},
		"go.temporal.io/sdk/worker":             {"temporal"},
		"go.temporal.io/sdk/workflow":           {"temporal"},
		"golang.org/x/sys":                      {"internal/process"},
		"golang.org/x/term":                     {"cmd/ralph"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("who imports what (-want +got)\n%s", diff)
	}
}

// The packages below next are a new house beside this one: they, and their tests, import nothing of this module but each other.
func TestNextStandsAlone(t *testing.T) {
	files := 0
	err := filepath.WalkDir("next", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") {
			return err
		}
		files++
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if (imported == module || strings.HasPrefix(imported, module+"/")) && !strings.HasPrefix(imported, module+"/next/") {
				t.Errorf("%s imports %s", filepath.ToSlash(name), imported)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files == 0 {
		t.Error("no files were found")
	}
}

// imported lists what the files of each package import, without its tests, by the directory of the package. What is below next
// has rules of its own.
func imported(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		switch {
		case d.IsDir() && name != "." && (strings.HasPrefix(base, ".") || base == "testdata" || name == "next"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(base, ".go") || strings.HasSuffix(base, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		pkg := path.Dir(filepath.ToSlash(name))
		if out[pkg] == nil {
			out[pkg] = []string{}
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if !slices.Contains(out[pkg], imported) {
				out[pkg] = append(out[pkg], imported)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) == 0 {
		t.Fatal("no packages were found")
	}
	return out
}
