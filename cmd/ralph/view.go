package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/internal/home"
	"github.com/ralph-sdk/ralph/view"
)

type viewFlags struct {
	all     bool
	session string
	port    int
	hosts   []string
	idle    time.Duration
	out     string
	private bool
}

func (a *app) viewCommand() *cobra.Command {
	var f viewFlags
	cmd := &cobra.Command{
		Use:   "view [RUN]",
		Short: "Show loops, runs and decisions as a page in a browser",
		Args:  atMostOne("run"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.view(cmd.Context(), f, strings.Join(args, ""))
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.all, "all", false, "show the decisions of all projects, and nothing else of them")
	sessionVar(fl, &f.session, "begin with the decisions of this session", false)
	fl.IntVar(&f.port, "port", 0, "`port` of 127.0.0.1 (default: any that is free)")
	fl.StringArrayVar(&f.hosts, "allow-host", nil, "also answer for this `name`, as the address bar shows it, such as localhost:8080; may be repeated")
	durationVar(fl, &f.idle, "idle", 8*time.Hour, "end after this `duration` in which the page was not open; 0 is never")
	fl.StringVar(&f.out, "out", "", "write the latest 1,000 decisions, or those of --session or RUN, as one HTML `file` to send to others; serve nothing")
	fl.BoolVar(&f.private, "private", false, "with --out: also the words of agents, the end of what they printed in runs")
	rejects(cmd, func(cmd *cobra.Command, args []string) error {
		run := strings.Join(args, "")
		wrong := []error{
			wrongIf(f.port < 0 || f.port > 65535, "--port must be from 0, which is any free port, to 65535; got %d", f.port),
			wrongIf(f.idle < 0, "--idle must be a duration of 0, which is forever, or more; got %s", f.idle),
			wrongIf(f.session != "" && run != "", "--session and a run each choose what the page begins with: give one of them"),
			wrongIf(f.all && run != "", "a run is of one project, and --all shows the decisions of all: give one of them"),
			wrongIf(f.private && f.out == "", "--private is for the file that --out writes; the page that is served shows the output anyway"),
		}
		for _, name := range f.hosts {
			u, err := url.Parse("//" + name)
			wrong = append(wrong, wrongIf(err != nil || u.Host != name || name == "", "--allow-host must be a name such as localhost:8080, as the address bar shows it; got %q", name))
		}
		for _, name := range []string{"port", "allow-host", "idle"} {
			wrong = append(wrong, wrongIf(f.out != "" && cmd.Flags().Changed(name), "--%s is for the page that is served, and --out writes a file: give one of them", name))
		}
		return errors.Join(wrong...)
	})
	return cmd
}

func (a *app) view(ctx context.Context, f viewFlags, run string) error {
	p, err := a.opened(f.all)
	if err != nil {
		return err
	}
	defer p.Close()
	c := view.Config{Project: p, Version: thisVersion(), Home: home.Dir(a.getenv), Run: run, Port: f.port, AllowHosts: f.hosts, Idle: f.idle}
	if c.Session, err = p.Session(ctx, f.session, false); err != nil {
		return err
	}
	if f.out != "" {
		return rewrite(ctx, f.out, func([]byte) ([]byte, error) {
			var out bytes.Buffer
			err := view.Write(ctx, &out, c, f.private)
			return out.Bytes(), err
		})
	}
	debug.SetGCPercent(100) // a server keeps running
	return a.serve(ctx, c)
}

// serve shows the page until it is interrupted.
func (a *app) serve(ctx context.Context, c view.Config) error {
	ctx, cancel := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer cancel()
	server, err := view.New(c)
	if err != nil {
		return err
	}
	fmt.Fprintln(a.stdout, server.URL())
	_, terminal := a.terminal(a.stdout)
	if name, args := browser(runtime.GOOS, terminal, a.getenv); name != "" {
		if cmd := exec.Command(name, append(args, server.URL())...); cmd.Start() == nil {
			go func() { _ = cmd.Wait() }() // an error is visible; the address is printed anyway
		}
	}
	return server.Serve(ctx)
}

// browser returns the command that opens an address in the user's browser, or "" unless ralph runs in a terminal on a
// desktop.
func browser(system string, terminal bool, getenv func(string) string) (name string, args []string) {
	if !terminal || getenv("CI") != "" || getenv("SSH_CONNECTION") != "" || getenv("SSH_TTY") != "" {
		return "", nil
	}
	switch system {
	case "darwin":
		return "open", nil
	case "windows":
		return "rundll32", []string{"url.dll,FileProtocolHandler"}
	}
	if getenv("DISPLAY") == "" && getenv("WAYLAND_DISPLAY") == "" {
		return "", nil
	}
	return "xdg-open", nil
}
