package main

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestVersionLine(t *testing.T) {
	const hash = "0123456789abcdef0123456789abcdef01234567"
	built := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: settings}
	}
	for _, tt := range []struct {
		name                  string
		version, commit, date string
		info                  *debug.BuildInfo
		want                  string
	}{
		{name: "a release", version: "v1.2.3", commit: hash, date: "2026-11-22T10:00:00Z", info: built("(devel)"), want: "ralph v1.2.3 (commit 0123456789ab, 2026-11-22T10:00:00Z)"},
		{name: "go install of a version", info: built("v1.2.3"), want: "ralph v1.2.3"},
		{
			name: "go build in a clone",
			info: built("v1.2.4-0.20261122100000-0123456789ab+dirty", debug.BuildSetting{Key: "vcs.revision", Value: hash},
				debug.BuildSetting{Key: "vcs.time", Value: "2026-11-22T10:00:00Z"}, debug.BuildSetting{Key: "vcs.modified", Value: "true"}),
			want: "ralph v1.2.4-0.20261122100000-0123456789ab+dirty (commit 0123456789ab, 2026-11-22T10:00:00Z, with changes)",
		},
		{name: "go test", info: built("(devel)"), want: "ralph development build"},
		{name: "nothing is known", want: "ralph development build"},
		{name: "a short commit", version: "v1.2.3", commit: "abc", want: "ralph v1.2.3 (commit abc)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := tt.want + " " + runtime.GOOS + "/" + runtime.GOARCH + " " + runtime.Version()
			if got := versionLine(tt.version, tt.commit, tt.date, tt.info); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}
