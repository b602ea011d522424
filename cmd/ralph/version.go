package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// versionCommand prints the version.
func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(a.stdout, thisVersion())
			return err
		},
	}
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
