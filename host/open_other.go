//go:build !unix

package host

const nonblock = 0 // no file system has pipes that an open would wait for
