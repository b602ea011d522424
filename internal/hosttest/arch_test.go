//go:build hosts

package hosttest

import "runtime"

// arch is what npm calls this machine.
var arch = map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
