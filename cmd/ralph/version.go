package main

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// licenses has the licences of ralph and of the modules that the program contains.
//
//go:embed licenses.txt
var licenses string

// versionCommand prints the version, or the licences.
func (a *app) versionCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version, or the licences of what ralph contains",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			text := thisVersion() + "\n"
			if all {
				text = licenses
			}
			_, err := io.WriteString(a.stdout, text)
			return err
		},
	}
	cmd.Flags().BoolVar(&all, "licenses", false, "print the licences of ralph and of each module in it")
	return cmd
}

// Release builds set these; see .goreleaser.yaml. Other builds have what Go recorded.
var (
	version = "" // v1.2.3
	commit  = "" // in full
	date    = "" // of the commit
)

// versionLine returns the version of this program. What a release build has not set comes from info, which may be nil.
func versionLine(version, commit, date string, info *debug.BuildInfo) string {
	changed := false
	if info != nil && version == "" {
		version = info.Main.Version
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				commit = s.Value
			case "vcs.time":
				date = s.Value
			case "vcs.modified":
				changed = s.Value == "true"
			}
		}
	}
	if version == "(devel)" {
		version = ""
	}
	var from []string
	if commit != "" {
		from = append(from, "commit "+commit[:min(12, len(commit))])
	}
	if date != "" {
		from = append(from, date)
	}
	if changed {
		from = append(from, "with changes")
	}
	line := "ralph " + cmp.Or(version, "development build")
	if from != nil {
		line += " (" + strings.Join(from, ", ") + ")"
	}
	return fmt.Sprintf("%s %s/%s %s", line, runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// thisVersion returns the version of ralph.
func thisVersion() string {
	info, _ := debug.ReadBuildInfo()
	return versionLine(version, commit, date, info)
}
