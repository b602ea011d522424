package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/tracing"
	"github.com/chromedp/chromedp"
)

// patience is how long a browser may take for one step.
const patience = time.Minute

// FindChromium returns the path of Chromium.
func FindChromium() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chromium-headless-shell"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("there is no Chromium; on Debian: apt-get install chromium fonts-dejavu-core")
}

// Browser is a Chromium without a window. Its tabs share their cookies.
type Browser struct {
	ctx   context.Context
	Close context.CancelFunc
}

// OpenBrowser starts Chromium. Other names for 127.0.0.1 are in hosts.
func OpenBrowser(ctx context.Context, hosts ...string) (*Browser, error) {
	path, err := FindChromium()
	if err != nil {
		return nil, err
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("lang", "en-US"), chromedp.Env("TZ=UTC", "LANG=C.UTF-8"))
	if len(hosts) > 0 {
		rules := make([]string, len(hosts))
		for i, h := range hosts {
			rules[i] = "MAP " + h + " 127.0.0.1"
		}
		options = append(options, chromedp.Flag("host-resolver-rules", strings.Join(rules, ", ")))
	}
	ctx, end := chromedp.NewExecAllocator(ctx, options...)
	ctx, cancel := chromedp.NewContext(ctx)
	b := &Browser{ctx, func() { cancel(); end() }}
	if err := chromedp.Do(ctx); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// Private returns a browser with cookies of its own, in the same process.
func (b *Browser) Private() (*Browser, error) {
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	if err := chromedp.Do(ctx); err != nil {
		cancel()
		return nil, err
	}
	return &Browser{ctx, cancel}, nil
}

// Tab is a page, and what happened in it.
type Tab struct {
	ctx   context.Context
	Close context.CancelFunc

	mu       sync.Mutex
	problems []string // errors and warnings of the console, exceptions, dialogs
	requests []string // addresses that were asked for
}

// Tab opens a tab.
func (b *Browser) Tab() (*Tab, error) {
	t := &Tab{}
	t.ctx, t.Close = chromedp.NewContext(b.ctx)
	if err := chromedp.Do(t.ctx); err != nil {
		return nil, err
	}
	if err := chromedp.Listen(t.ctx, t.heard); err != nil {
		return nil, err
	}
	for _, domain := range []string{"Runtime", "Log", "Network", "Page"} {
		if err := t.Call(domain+".enable", nil, nil); err != nil {
			return nil, err
		}
	}
	return t, t.Size(1280, 900)
}

func (t *Tab) heard(event any) {
	var problem string
	switch e := event.(type) {
	case *log.EventEntryAdded:
		if e.Entry.Level == "error" || e.Entry.Level == "warning" {
			problem = fmt.Sprintf("%s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL)
		}
	case *runtime.EventConsoleAPICalled:
		problem = "console: " + string(e.Type)
	case *runtime.EventExceptionThrown:
		problem = "exception: " + e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			problem += " " + e.ExceptionDetails.Exception.Description
		}
	case *page.EventJavascriptDialogOpening:
		problem = "dialog: " + e.Message
		go func() { _ = t.Call("Page.handleJavaScriptDialog", map[string]any{"accept": true}, nil) }()
	case *network.EventRequestWillBeSent:
		t.mu.Lock()
		t.requests = append(t.requests, e.Request.URL)
		t.mu.Unlock()
	}
	if problem != "" {
		t.mu.Lock()
		t.problems = append(t.problems, problem)
		t.mu.Unlock()
	}
}

// Problems returns the errors and warnings of the console, exceptions and dialogs until now, and forgets them.
func (t *Tab) Problems() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.problems
	t.problems = nil
	return p
}

// Requests returns the addresses that the tab has asked for.
func (t *Tab) Requests() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.requests)
}

func (t *Tab) timeout() (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.ctx, patience)
}

// Call sends a command of the DevTools protocol.
func (t *Tab) Call(method string, params, result any) error {
	ctx, cancel := t.timeout()
	defer cancel()
	return chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		if params == nil {
			params = map[string]any{}
		}
		if err := target.Call(ctx, method, params, result); err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
		return nil
	}))
}

// Go opens an address.
func (t *Tab) Go(address string) error {
	ctx, cancel := t.timeout()
	defer cancel()
	return chromedp.Do(ctx, chromedp.Navigate(address))
}

// Hide minimizes the window of the tab, or shows it again.
func (t *Tab) Hide(hidden bool) error {
	var window struct {
		ID int `json:"windowId"`
	}
	if err := t.Call("Browser.getWindowForTarget", nil, &window); err != nil {
		return err
	}
	state := map[bool]string{true: "minimized", false: "normal"}[hidden]
	return t.Call("Browser.setWindowBounds", map[string]any{"windowId": window.ID, "bounds": map[string]any{"windowState": state}}, nil)
}

// Size sets the size of the window.
func (t *Tab) Size(width, height int) error {
	return t.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
}

// Theme sets what the user prefers: light or dark.
func (t *Tab) Theme(name string) error {
	return t.Call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": name}}}, nil)
}

// Eval evaluates an expression in the page, and waits if it is a promise. A nil result ignores what it is.
func (t *Tab) Eval(expression string, result any) error {
	var answer struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Exception *struct {
			Text      string `json:"text"`
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
	}
	err := t.Call("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true, "allowUnsafeEvalBlockedByCSP": false}, &answer)
	switch {
	case err != nil:
		return err
	case answer.Exception != nil:
		return fmt.Errorf("%s %s", answer.Exception.Text, answer.Exception.Exception.Description)
	case result == nil:
		return nil
	case len(answer.Result.Value) == 0:
		return fmt.Errorf("undefined: %.200s", expression)
	}
	return json.Unmarshal(answer.Result.Value, result)
}

// Wait waits until a condition holds in the page.
func (t *Tab) Wait(condition string) error {
	deadline := time.Now().Add(patience)
	script := `new Promise((done) => { const end = Date.now() + 2000; const look = () => { let r = false; try { r = Boolean(` + condition +
		`); } catch (e) { if (!(e instanceof TypeError)) throw e; } if (r || Date.now() > end) done(r); else setTimeout(look, 10); }; look(); })`
	for {
		var held bool
		err := t.Eval(script, &held)
		switch {
		case err == nil && held:
			return nil
		case time.Now().After(deadline) || t.ctx.Err() != nil:
			var text string
			_ = t.Eval("document.body?.innerText ?? ''", &text)
			return errors.Join(fmt.Errorf("never came: %s; the page has %.1500q; console: %q", condition, text, t.Problems()), err)
		}
	}
}

// Key presses a key, such as Tab or ArrowDown, with modifiers of the protocol: 8 is shift.
func (t *Tab) Key(key string, modifiers int) error {
	code := map[string]int{"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "PageUp": 33, "PageDown": 34, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}[key]
	press := map[string]any{"type": "rawKeyDown", "key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
	if text := map[string]string{"Enter": "\r", " ": " "}[key]; text != "" {
		press["type"], press["text"] = "keyDown", text
	}
	if err := t.Call("Input.dispatchKeyEvent", press, nil); err != nil {
		return err
	}
	return t.Call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}, nil)
}

// Type writes into what has the focus.
func (t *Tab) Type(text string) error {
	return t.Call("Input.insertText", map[string]any{"text": text}, nil)
}

// Task is the longest one of a page, in milliseconds.
type Task struct{ Wall, CPU float64 }

// Tasks begins to watch how long the page is busy without a pause. What it returns ends that.
func (t *Tab) Tasks() (stop func() (Task, error), err error) {
	type event struct {
		Name   string  `json:"name"`
		Thread int     `json:"tid"`
		Wall   float64 `json:"dur"` // in microseconds
		CPU    float64 `json:"tdur"`
	}
	var all []event
	done := make(chan struct{})
	ctx, cancel := context.WithCancel(t.ctx)
	err = chromedp.Listen(ctx, func(e any) {
		switch e := e.(type) {
		case *tracing.EventDataCollected:
			for _, v := range e.Value {
				var one event
				if b, err := json.Marshal(v); err == nil && json.Unmarshal(b, &one) == nil {
					all = append(all, one)
				}
			}
		case *tracing.EventTracingComplete:
			close(done)
		}
	})
	if err == nil {
		err = t.Call("Tracing.start", map[string]any{"categories": "devtools.timeline,disabled-by-default-devtools.timeline,toplevel", "transferMode": "ReportEvents"}, nil)
	}
	return func() (longest Task, err error) {
		defer cancel()
		if err := t.Call("Tracing.end", nil, nil); err != nil {
			return longest, err
		}
		<-done
		page := map[int]bool{} // threads that run scripts
		for _, e := range all {
			page[e.Thread] = page[e.Thread] || e.Name == "FireAnimationFrame"
		}
		for _, e := range all {
			if page[e.Thread] && e.Name == "RunTask" {
				longest = Task{max(longest.Wall, e.Wall/1000), max(longest.CPU, e.CPU/1000)}
			}
		}
		if longest.Wall == 0 {
			err = errors.New("the browser did not say how long its tasks were")
		}
		return longest, err
	}, err
}

// Screenshot returns the window as PNG.
func (t *Tab) Screenshot() ([]byte, error) {
	var shot struct {
		Data []byte `json:"data"`
	}
	err := t.Call("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	return shot.Data, err
}

// Quote returns a string as JavaScript.
func Quote(s string) string {
	b, _ := json.Marshal(s) // it is a string
	return string(b)
}

// Hash returns the address of a view, such as timeline, with a query of names and values.
func Hash(view string, query ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(query); i += 2 {
		q.Set(query[i], query[i+1])
	}
	if len(q) == 0 {
		return "#/" + view
	}
	return "#/" + view + "?" + q.Encode()
}
