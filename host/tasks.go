package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/state"
)

const (
	maxTasks    = 2000    // of a list
	maxTaskFile = 1 << 20 // bytes
)

// readTasks reads a task list: JSON files, one for each task, in a directory with its name. No directory is an empty list. The error names
// files that cannot be read; the others are in the list all the same.
func readTasks(ctx context.Context, dir, list string) ([]any, error) {
	tasks := []any{}
	if dir == "" || !isName(list) {
		return tasks, nil
	}
	dir = filepath.Join(dir, list)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return tasks, fmt.Errorf("task list: %w", err)
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { // 10.json is after 9.json
		return cmp.Or(len(a.Name())-len(b.Name()), strings.Compare(a.Name(), b.Name()))
	})
	var bad []error
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		if err := ctx.Err(); err != nil {
			return tasks, err
		}
		if len(tasks)+len(bad) == maxTasks {
			bad = append(bad, fmt.Errorf("%s: it has more than %d tasks; the others are not read", dir, maxTasks))
			break
		}
		task, err := readTask(filepath.Join(dir, e.Name()))
		if err != nil {
			bad = append(bad, err)
			continue
		}
		tasks = append(tasks, task)
	}
	return tasks, errors.Join(bad...)
}

// readTask reads the file of a task. Some have a title instead of a subject.
func readTask(path string) (map[string]any, error) {
	b, err := state.ReadRegular(path)
	task := decoded[map[string]any](b)
	switch {
	case err != nil:
		return nil, err
	case len(b) > maxTaskFile:
		return nil, fmt.Errorf("%s is larger than %d bytes", path, maxTaskFile)
	case task == nil:
		return nil, fmt.Errorf("%s is not a JSON object", path)
	}
	if title, ok := task["title"]; ok && task["subject"] == nil {
		task["subject"] = title
	}
	return task, nil
}
