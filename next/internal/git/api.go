package git

import "context"

// Status is what git says of a path.
type Status struct {
	Dirty   bool
	Changed []string // paths from the repository's root... as git status lists them
	Branch  string
	Ahead   int
}

// Read asks git about a path below a project, with a configuration of ralph's own: nothing that the repository's configuration names is
// run. Without git or a repository the error is fs.ErrNotExist.
func Read(ctx context.Context, project, path string) (Status, error) { panic("later") }

// MainTree returns the directory of the main work tree of a linked work tree, if dir is one and its repository points back.
func MainTree(dir string) (string, bool) { panic("later") }
