package product

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os/exec"
	"strings"
	"testing"
)

// A UI is plumbline ui as it runs, and a browser's cookies.
type UI struct {
	First  string // its address, with its code
	base   string
	client *http.Client
}

// StartUI starts a command that is plumbline ui, and does not open its address yet.
func StartUI(t testing.TB, cmd *exec.Cmd) *UI {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("plumbline ui printed no address: %v\n%s", err, said.String())
	}
	first := strings.TrimSpace(line)
	at, err := url.Parse(first)
	if err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &UI{First: first, base: at.Scheme + "://" + at.Host + "/", client: &http.Client{Jar: jar}}
}

// Enter opens the address.
func (u *UI) Enter(ctx context.Context) error {
	page, err := u.get(ctx, u.First)
	if err != nil {
		return err
	}
	_, rest, ok := strings.Cut(page, `url=/`)
	dir, _, ends := strings.Cut(rest, `"`)
	if !ok || !ends {
		return fmt.Errorf("the first page leads nowhere: %s", page)
	}
	u.base += dir
	return nil
}

// Get gives a page.
func (u *UI) Get(ctx context.Context, path string) (string, error) { return u.get(ctx, u.base+path) }

func (u *UI) get(ctx context.Context, address string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	resp, err := u.client.Do(r)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %.300s", address, resp.Status, body)
	}
	return string(body), err
}
