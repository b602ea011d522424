// Package home returns the user's home directory. Start with [OfProcess].
package home

import (
	"cmp"
	"os"
	"runtime"
)

// Dir returns the home directory in an environment, or "".
func Dir(getenv func(string) string) string {
	if runtime.GOOS == "windows" {
		return cmp.Or(getenv("USERPROFILE"), getenv("HOME"))
	}
	return getenv("HOME")
}

// OfProcess returns the home directory of the process, or "".
func OfProcess() string { return Dir(os.Getenv) }

// In returns an environment whose home directory is dir, without variables that name others.
func In(dir string, getenv func(string) string) func(string) string {
	return func(name string) string {
		switch name {
		case "HOME", "USERPROFILE":
			return dir
		case "CLAUDE_CONFIG_DIR":
			return ""
		}
		return getenv(name)
	}
}
