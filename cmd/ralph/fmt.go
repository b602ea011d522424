package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/rules/format"
	"github.com/ralph-sdk/ralph/state"
)

// maxPolicySize bounds what fmt reads from stdin, in bytes; a policy is far smaller.
const maxPolicySize = 1 << 20

type fmtFlags struct{ list, write bool }

func (a *app) fmtCommand() *cobra.Command {
	var f fmtFlags
	cmd := &cobra.Command{
		Annotations: exits("done", exit{exitFindings, "with --list: the layout of a file would change"}),
		Use:         "fmt [FILE]...",
		Short:       "Lay out policies in the house style",
		RunE:        func(cmd *cobra.Command, args []string) error { return a.fmt(cmd.Context(), args, f) },
	}
	fl := cmd.Flags()
	fl.BoolVarP(&f.list, "list", "l", false, "list the files whose layout would change")
	fl.BoolVarP(&f.write, "write", "w", false, "change the files")
	return cmd
}

func (a *app) fmt(ctx context.Context, files []string, f fmtFlags) error {
	if len(files) == 0 {
		var err error
		if files, err = a.projectFiles(); err != nil {
			return err
		}
	}
	for _, name := range files {
		err := a.fmtFile(ctx, name, f)
		var unreadable *format.Error
		switch {
		case errors.As(err, &unreadable) && len(unreadable.Findings) > 0:
			fmt.Fprint(a.stderr, unreadable.Findings.Format())
			a.status = exitFailed
		case err != nil: // the others are formatted all the same
			fmt.Fprintf(a.stderr, "ralph: %v\n", err)
			a.status = exitFailed
		}
	}
	return nil
}

// projectFiles lists the policies and tests of the project, as they are found from here.
func (a *app) projectFiles() ([]string, error) {
	here, err := a.here()
	if err != nil {
		return nil, err
	}
	root, err := state.OpenRoot(a.above(here))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	files, err := fs.Glob(state.Files(root.Dir()), ".ralph/*.yaml")
	for i, name := range files {
		if _, err := root.Target(name); err != nil {
			return nil, err // what it leads to was not named
		}
		files[i] = filepath.Join(root.Dir(), name)
		if rel, err := filepath.Rel(here, files[i]); err == nil {
			files[i] = rel
		}
	}
	if len(files) == 0 {
		return nil, errors.New("there are no policies in .ralph: name the files, or - for standard input")
	}
	return files, err
}

func (a *app) fmtFile(ctx context.Context, name string, f fmtFlags) error {
	if name == "-" {
		if f.write {
			return errors.New("-w has no file to write for standard input")
		}
		src, err := a.read("the policy", "", name, maxPolicySize)
		if err != nil {
			return err
		}
		return a.fmtSource("<standard input>", src, f, nil)
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	if resolved, err := filepath.EvalSymlinks(abs); err == nil {
		abs = resolved // the user names the file, so it may lie anywhere
	}
	dir, base := filepath.Split(abs)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("%s cannot be read: there is no such folder", name)
	}
	root, err := state.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	src, version, err := root.ReadBytes(ctx, base)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if src == nil {
		return fmt.Errorf("there is no file %s", name)
	}
	return a.fmtSource(filepath.ToSlash(name), src, f, func(out []byte) error {
		return root.Write(ctx, base, out, version)
	})
}

// fmtSource formats one file and does with it what the flags say.
func (a *app) fmtSource(name string, src []byte, f fmtFlags, write func([]byte) error) error {
	out, err := format.Source(name, src)
	if err != nil {
		return err
	}
	if !f.list && !f.write {
		_, err := a.fileOut().Write(out)
		return err
	}
	if string(out) == string(src) {
		return nil
	}
	if f.list {
		fmt.Fprintln(a.stdout, name)
		if !f.write && a.status == exitOK {
			a.status = exitFindings
		}
	}
	if f.write {
		return write(out)
	}
	return nil
}
