//go:build !unix

package process

import "context"

// Watch does nothing: on Windows a job ends with the process that made it.
func Watch() {}

func (c Command) runWatched(ctx context.Context) (Exit, error) { return c.runHere(ctx) }
