// Package home finds the user's home directory.
package home

import (
	"cmp"
	"os"
	"runtime"
)

// Dir is the home directory that an environment names, "" if it names none.
func Dir(getenv func(string) string) string {
	if runtime.GOOS == "windows" {
		return cmp.Or(getenv("USERPROFILE"), getenv("HOME"))
	}
	return getenv("HOME")
}

// OfProcess is the home directory of the user who runs the process, "" if there is none.
func OfProcess() string { return Dir(os.Getenv) }

// In is an environment whose home directory is dir, with nothing in it that another
// variable leads to.
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
