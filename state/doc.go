// Package state reads and edits the files of a project.
//
// It never writes outside the project, and outside it reads only paths that begin with "~/", below the home directory:
// links are resolved first, their targets must be below the root, and every access goes through [os.Root]. Reading
// never fails: a [Doc] has the document or, in words for users, why there is none. An edit changes only the bytes of
// the requested values; the result is decoded and compared before it is written. Writes are atomic: a temporary file,
// fsync, a comparison with what was read, and a rename, so a killed process leaves the old file or the new one.
//
// It leaves out the meaning of content: schemas, rules and hosts. It takes no locks: [Root.Apply] compares versions as
// its last step, which leaves a window of microseconds. To close it, hold your own lock on [Root.Target] around Apply,
// as ralph's hooks do.
//
// Start with [OpenRoot] and [Root.Read]; change files with [Root.Apply].
package state
