//go:build unix

package e2e

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/ralph-sdk/ralph/run"
)

// interfaces is the UI of Temporal, in the latest version that the Go of this module builds.
const interfaces = "github.com/temporalio/ui-server/v2/cmd/server@v2.54.1"

// The UI shows what a run does in its timeline. With -update it makes the picture of docs/scaling.md.
func TestUI(t *testing.T) {
	s := newStage(t, steady)
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skip("there is no Chromium")
	}
	s.worker("one", s.host)
	s.start("r", 9)
	s.agent().work()
	s.agent().work()
	third := s.agent()
	address := s.ui()
	ctx, end := chromedp.NewExecAllocator(t.Context(), append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("lang", "en-US"), chromedp.WindowSize(1280, 640), chromedp.Env("TZ=UTC", "LANG=C.UTF-8"))...)
	defer end()
	ctx, cancel := chromedp.NewContext(ctx)
	defer cancel()
	ctx, late := context.WithTimeout(ctx, patience)
	defer late()
	const doing = "ralph-do • running, iteration 3 of 9, branch ralph/r: iterate"
	url := fmt.Sprintf("http://%s/namespaces/%s/workflows/r/%s/timeline", address, s.namespace, s.client.GetWorkflow(ctx, "r", "").GetRunID())
	if err := chromedp.Do(ctx, chromedp.Navigate(url)); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](fmt.Sprintf("document.body.innerText.includes(%q)", doing), chromedp.WithPollingInterval(time.Second), chromedp.WithPollingTimeout(patience))); err != nil {
		text, _ := chromedp.Run(ctx, chromedp.Evaluate[string]("document.body.innerText"))
		t.Fatalf("the timeline does not show %q: %v\n%s", doing, err, text)
	}
	if *update {
		if err := chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll("main *")].findLast(e => e.innerText?.trim() == "Timeline").scrollIntoView()`)); err != nil {
			t.Fatal(err)
		}
		picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
		if err == nil {
			err = os.WriteFile(filepath.Join("..", "..", "docs", "pictures", "temporal.png"), picture, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	third.work()
	s.ends("r", run.Success, 3, 0, 3)
}

// ui starts the UI of Temporal and returns its address.
func (s *stage) ui() string {
	s.Helper()
	install := exec.CommandContext(s.Context(), "go", "install", interfaces)
	install.Env = append(os.Environ(), "GOBIN="+s.dir)
	if out, err := install.CombinedOutput(); err != nil {
		s.Skipf("the UI cannot be installed: %v: %s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.Fatal(err)
	}
	address := l.Addr().(*net.TCPAddr)
	l.Close()
	config := fmt.Sprintf("temporalGrpcAddress: %s\nhost: 127.0.0.1\nport: %d\nenableUi: true\ndisableNewsFetch: true\nnavCollapsedByDefault: true\n", s.host, address.Port)
	if err := os.WriteFile(filepath.Join(s.dir, "development.yaml"), []byte(config), 0o600); err != nil {
		s.Fatal(err)
	}
	server := exec.Command(filepath.Join(s.dir, "server"), "--root", s.dir, "--config", ".", "start")
	if err := server.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	for ctx, cancel := context.WithTimeout(s.Context(), patience); ; {
		conn, err := net.Dial("tcp", address.String())
		if err == nil {
			conn.Close()
			cancel()
			return address.String()
		}
		if ctx.Err() != nil {
			s.Fatal("the UI does not answer: ", err)
		}
	}
}
