//go:build !unix

package host

const nonblock = 0 // there are no pipes in the file system that an open would wait for
