package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"plumbline.dev/plumbline/internal/guard"
)

const maxMode = 256

// parseMode reads what a file says of the mode.
func parseMode(text string) (guard.Mode, error) {
	switch m := guard.Mode(strings.TrimSpace(text)); m {
	case guard.Observe, guard.Enforce, guard.Off:
		return m, nil
	default:
		return "", fmt.Errorf("%.32q is no mode: it is observe, enforce or off", string(m))
	}
}

// wanted reads the mode that is wanted on a node: what is said of it alone wins. If that
// makes no sense, what is said of all does not count instead: somebody wanted it to be
// different here.
func wanted(dir, node string) (guard.Mode, error) {
	if node == "" || strings.ContainsAny(node, "/\x00") {
		return "", fmt.Errorf("%.64q is no node's name", node)
	}
	for _, name := range []string{guard.ModeFile + "." + node, guard.ModeFile} {
		raw, err := read(filepath.Join(dir, name), maxMode)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("read the mode that is wanted: %w", err)
		}
		m, err := parseMode(string(raw))
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		return m, nil
	}
	return "", errors.New("nobody says which mode is wanted")
}
