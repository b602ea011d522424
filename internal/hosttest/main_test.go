//go:build hosts

// Package hosttest runs coding agents themselves against a scripted model, with ralph as the hook that ralph install wrote.
//
//	go test -tags hosts ./internal/hosttest
//
// The clients come from npm, in the versions of clients.json, and stay in a directory of the user's cache. No script of a package runs. The tests run in namespaces of their own, whose only network is loopback and whose processes end with the
// tests. Each test has its own home directory, project, model and invented keys. The package needs Linux with unshare, ip, node 20 and npm;
// without them it says what is missing and passes.
package hosttest

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// clients is a package.json with the versions.
//
//go:embed clients.json
var clients []byte

// Where the outer process says what it prepared.
const (
	insideVariable  = "RALPH_HOSTTEST_INSIDE" // the program ralph
	clientsVariable = "RALPH_HOSTTEST_CLIENTS"
)

var (
	ralphProgram = os.Getenv(insideVariable)
	clientsDir   = os.Getenv(clientsVariable) // holds node_modules
)

// TestMain prepares, with the network, what the tests need, and then runs them in namespaces.
func TestMain(m *testing.M) {
	if ralphProgram != "" {
		os.Exit(m.Run())
	}
	if why := missing(); why != nil {
		fmt.Println("skipped:", why)
		return
	}
	switch err := prepare(); {
	case errors.Is(err, errOffline):
		fmt.Println("skipped:", err)
	case err != nil:
		fmt.Fprintln(os.Stderr, "hosttest:", err)
		os.Exit(1)
	}
}

// unshare makes the namespaces: this user as root, loopback only, and a tree of processes that ends with its first one.
var unshare = []string{"unshare", "-rnpf", "--mount-proc", "--kill-child", "--", "sh", "-c", `ip link set lo up && exec "$@"`, "sh"}

// missing says why the tests cannot run here.
func missing() error {
	for _, program := range []string{"unshare", "ip", "node", "npm", "go", "git"} {
		if _, err := exec.LookPath(program); err != nil {
			return err
		}
	}
	out, err := exec.Command("node", "--version").Output()
	major, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(out)), "v"), ".")
	if n, _ := strconv.Atoi(major); n < 20 {
		return fmt.Errorf("node 20 is needed, found %s %v", strings.TrimSpace(string(out)), err)
	}
	if out, err := exec.Command(unshare[0], append(unshare[1:], "true")...).CombinedOutput(); err != nil {
		return fmt.Errorf("there are no namespaces here: %w: %s", err, out)
	}
	return nil
}

// prepare installs the clients, builds ralph and runs this program again. It returns only an error.
func prepare() error {
	dir, err := install()
	if err != nil {
		return fmt.Errorf("installing the clients: %w", err)
	}
	tmp, err := os.MkdirTemp("", "hosttest-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	program := filepath.Join(tmp, "bin", "ralph")
	if out, err := exec.Command("go", "build", "-o", program, "github.com/ralph-sdk/ralph/cmd/ralph").CombinedOutput(); err != nil {
		return fmt.Errorf("building ralph: %w\n%s", err, out)
	}
	cmd := exec.Command(unshare[0], append(append([]string{}, unshare[1:]...), os.Args...)...)
	cmd.Env = append(os.Environ(), insideVariable+"="+program, clientsVariable+"="+dir)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	err = cmd.Run()
	var status *exec.ExitError
	if errors.As(err, &status) {
		os.RemoveAll(tmp)
		os.Exit(status.ExitCode())
	}
	return err
}

var (
	errOffline = errors.New("npm does not reach its registry")
	offline    = regexp.MustCompile(`npm (error|ERR!) code (ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT)`)
)

// install returns the directory with the clients, and fills it if necessary.
func install() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(clients)
	dir := filepath.Join(cache, "ralph-hosttest", hex.EncodeToString(sum[:6]))
	complete := filepath.Join(dir, "complete")
	if _, err := os.Stat(complete); err == nil {
		return dir, nil
	}
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "package.json"), clients, 0o644)); err != nil {
		return "", err
	}
	npm := exec.Command("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund")
	npm.Dir = dir
	if out, err := npm.CombinedOutput(); offline.Match(out) && err != nil {
		return "", errOffline
	} else if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return dir, os.WriteFile(complete, nil, 0o644)
}
