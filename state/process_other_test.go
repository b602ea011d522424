//go:build !unix

package state

import "errors"

// fillDisk needs a limit that this system does not have.
func fillDisk(string) error { return errors.ErrUnsupported }
