package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/hostfile"
)

const maxMode = 256

// parseMode reads a mode from the content of a file.
func parseMode(text string) (guard.Mode, error) {
	switch m := guard.Mode(strings.TrimSpace(text)); m {
	case guard.Observe, guard.Enforce, guard.Off:
		return m, nil
	default:
		return "", fmt.Errorf("%.32q is not a mode: use observe, enforce or off", string(m))
	}
}

// wanted reads the configured mode of a node: its own file has precedence. If that file is
// invalid, the common file does not count either, because a different mode was wanted for
// this node.
func wanted(dir, node string) (guard.Mode, error) {
	if node == "" || strings.ContainsAny(node, "/\x00") {
		return "", fmt.Errorf("%.64q is not a node name", node)
	}
	for _, name := range []string{guard.ModeFile + "." + node, guard.ModeFile} {
		raw, err := hostfile.ReadFollow(filepath.Join(dir, name), maxMode)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("read the configured mode: %w", err)
		}
		m, err := parseMode(string(raw))
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		return m, nil
	}
	return "", errors.New("no mode is configured")
}

// lastMode is the file with the last mode that was configured and known, which survives a reboot:
// a misspelt mode must not turn the guard off with the next one. Without an event log on disk there
// is none.
func (k *daemon) lastMode() string {
	if k.Record == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(k.Record), "guard.mode")
}

// keepMode writes it, and reports whether that is done.
func (k *daemon) keepMode(m guard.Mode) bool {
	file := k.lastMode()
	if file == "" {
		return true
	}
	err := settle(file, string(m)+"\n")
	if text := fmt.Sprint(err); err != nil && text != k.install.unkept {
		k.Log.Warn("the mode is not kept for the next boot", "error", err)
		k.install.unkept = text
	}
	return err == nil
}
