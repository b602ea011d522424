package view_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/internal/view"
)

// The page in Chromium, light and dark, wide and narrow: axe finds nothing, it fits, the keyboard reaches all, what is read stays while new
// decisions come, and no text becomes HTML. RALPH_BROWSER names a directory with the node_modules of testdata/package.json, and
// RALPH_PICTURES one for pictures, if somebody wants to look.
func TestBrowser(t *testing.T) {
	modules := os.Getenv("RALPH_BROWSER")
	if modules == "" {
		t.Skip("skipped: RALPH_BROWSER is not set")
	}
	var chromium string
	for _, name := range []string{"chromium-browser", "chromium", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil { // the last one: the first may be a stub that asks for snap
			chromium = path
		}
	}
	if chromium == "" {
		t.Skip("skipped: there is no Chromium")
	}
	type shown struct {
		Name string `json:"name"`
		URL  string `json:"url"`
	}
	var in struct {
		Program string  `json:"program"`
		Cases   []shown `json:"cases"`
	}
	in.Program = chromium
	for name, d := range states() {
		s := serve(t, func(context.Context) view.Data { return d })
		file := filepath.Join(t.TempDir(), name+".html")
		if err := os.WriteFile(file, view.File(d), 0o600); err != nil {
			t.Fatal(err)
		}
		in.Cases = append(in.Cases, shown{name, s.URL()}, shown{name + "-file", "file://" + file})
	}
	slices.SortFunc(in.Cases, func(a, b shown) int { return strings.Compare(a.Name, b.Name) })
	stdin, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join("testdata", "browser.js"), os.Getenv("RALPH_PICTURES"))
	cmd.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(modules, "node_modules"))
	cmd.Stdin = strings.NewReader(string(stdin))
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "end\n" {
		t.Errorf("%v\n%s", err, out)
	}
}
