//go:build man

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/internal/manpage"
)

// main writes the manual pages and the completions of ralph below a folder, for
// releases: go run -tags man ./cmd/ralph FOLDER VERSION
func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: go run -tags man ./cmd/ralph FOLDER VERSION")
		os.Exit(2)
	}
	a := &app{getenv: func(string) string { return "" }} // the same pages on every machine
	root := a.command(nil)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	if err := writeManual(root, os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func writeManual(root *cobra.Command, dir, version string) error {
	pages, completions := filepath.Join(dir, "man", "man1"), filepath.Join(dir, "completions")
	for _, d := range []string{pages, completions} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	for name, write := range map[string]func(io.Writer) error{
		"ralph.bash": func(w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		"_ralph":     root.GenZshCompletion,
		"ralph.fish": func(w io.Writer) error { return root.GenFishCompletion(w, true) },
		"ralph.ps1":  root.GenPowerShellCompletionWithDesc,
	} {
		var text bytes.Buffer
		if err := write(&text); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(completions, name), text.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return manpage.Tree(root, version, func(name string) (io.WriteCloser, error) {
		return os.Create(filepath.Join(pages, name))
	})
}
