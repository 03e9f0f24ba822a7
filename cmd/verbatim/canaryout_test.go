package main

import (
	"bytes"
	"io"
	"io/fs"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// settled waits until sinks and collector have all there is, and keeps what
// they got.
func (c *canaryRun) settled() {
	c.t.Helper()
	c.until("the sinks to be done", func() bool {
		page := c.metrics()
		for _, sink := range []string{"lines", "collector", "hook"} {
			if !strings.Contains(page, `verbatim_sink_lag_records{sink="`+sink+`"} 0`) {
				return false
			}
		}
		return c.otlp.holds("/v1/traces", "far.collapse") && c.otlp.holds("/v1/metrics", "mcp.server.operation.duration")
	})
	for place, r := range map[string]*recorder{"webhook": c.hook, "collector": c.otlp} {
		r.mu.Lock()
		for path, body := range r.got {
			c.add(place, []byte(path))
			c.add(place, body)
		}
		r.mu.Unlock()
	}
	text, err := os.ReadFile(filepath.Join(c.dir, "events.jsonl"))
	if err != nil || len(text) < 1000 {
		c.t.Errorf("events: %d bytes, %v", len(text), err)
	}
	c.add("events", text)
}

func (c *canaryRun) getAPI(path string) []byte {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.context(), http.MethodGet, strings.TrimSuffix(c.url, "/mcp")+path, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	answer, err := (&http.Client{Transport: withToken{endpointToken}}).Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		c.t.Errorf("%s: %d, %v", path, answer.StatusCode, err)
	}
	return text
}

// exports writes what leaves for auditors.
func (c *canaryRun) exports() {
	c.t.Helper()
	tiles := filepath.Join(c.dir, "tiles")
	if out, err := c.command("audit", "export", tiles).CombinedOutput(); err != nil {
		c.t.Errorf("export: %v %s", err, out)
	}
	err := filepath.WalkDir(tiles, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		c.add("exports", text)
		return err
	})
	if err != nil || len(c.out["exports"]) < 1000 {
		c.t.Errorf("exports: %d bytes, %v", len(c.out["exports"]), err)
	}
	for _, id := range c.actions {
		for _, args := range [][]string{{"approvals", "export", id}, {"audit", "bundle", id}} {
			out, err := c.command(args...).CombinedOutput()
			if err != nil {
				c.t.Errorf("%v: %v %s", args, err, out)
			}
			c.add("exports", out)
		}
	}
}

// pages reads every page that links lead to, as the owner sees it.
func (c *canaryRun) pages() {
	c.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		c.t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	base := c.daemon().State.Page
	form := url.Values{"name": {"owner"}, "password": {testPassword}, "next": {"/"}}
	r, err := http.NewRequestWithContext(c.context(), http.MethodPost, base+"/login", strings.NewReader(form.Encode()))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", base)
	in, err := browser.Do(r)
	if err != nil || in.StatusCode != http.StatusOK {
		c.t.Fatalf("login: %v, %v", in, err)
	}
	in.Body.Close()
	link, seen, open := regexp.MustCompile(`href="(/[^"#]*)"`), map[string]bool{}, []string{"/", "/actions", "/records", "/operate", "/people", "/account", "/grants"}
	for len(open) > 0 && len(seen) < 200 {
		path := open[0]
		if open = open[1:]; seen[path] {
			continue
		}
		seen[path] = true
		page, err := browser.Get(base + path)
		if err != nil {
			c.t.Fatal(err)
		}
		text, err := io.ReadAll(page.Body)
		page.Body.Close()
		if err != nil {
			c.t.Fatal(err)
		}
		c.add("pages", text)
		for _, m := range link.FindAllSubmatch(text, -1) {
			open = append(open, strings.ReplaceAll(string(m[1]), "&amp;", "&"))
		}
	}
	if !bytes.Contains(c.out["pages"], []byte(canaryArgument)) || len(seen) < 15 {
		c.t.Errorf("%d pages, and none shows the argument that people decide on", len(seen))
	}
}

func TestNoSecretLeavesARealRun(t *testing.T) {
	t.Parallel()
	c := newCanaryRun(t)
	c.play()
	c.collect()
	if out, err := c.command("stop").CombinedOutput(); err != nil {
		t.Errorf("stop: %v %s", err, out)
	}
	_ = c.cmd.Wait() // it was told to end
	for _, name := range []string{c.log, c.home.Path("daemon.log"), c.home.Path("daemon.json")} {
		if text, err := os.ReadFile(name); err == nil {
			c.add("log", text)
		}
	}
	for _, place := range []string{"log", "metrics", "collector", "events", "webhook", "exports", "pages", "results", "commands", "approvals", "requester", "warrants", "reports", "mistakes"} {
		if len(c.out[place]) == 0 {
			t.Errorf("nothing was collected of %s", place)
		}
	}
	if !bytes.Contains(c.out["results"], []byte(canaryResult)) || !bytes.Contains(c.out["pages"], []byte(canaryToolError)) || !bytes.Contains(c.out["events"], []byte("verbatim.run.uncertain")) {
		t.Error("the run is not the one that was meant")
	}
	for _, hit := range hits(c.out) {
		t.Errorf("leak: %s", hit)
	}
}
