package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/lsp"
	"github.com/ralph-sdk/ralph/state"
)

func (a *app) lspCommand() *cobra.Command {
	return &cobra.Command{
		Annotations: exits("the editor ended the session", exit{exitFailed, "the editor closed the connection before"}),
		Use:         "lsp",
		Short:       "Serve an editor: findings, completion and more while you write policies",
		Args:        noArgs(""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			stdout := a.stdout
			if s, ok := stdout.(*screen); ok { // an editor reads every byte
				stdout = s.to
			}
			return lsp.Serve(cmd.Context(), stdio{a.stdin, stdout}, state.Files, a.in("").Options...)
		},
	}
}

// stdio is the connection to the editor that started the process.
type stdio struct {
	io.Reader
	io.Writer
}

// Close ends the connection: the process ends next.
func (stdio) Close() error { return nil }
