package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// A source is the commit that a release is made of.
type source struct {
	commit string
	date   time.Time // of the commit: every time in a result is this one
}

// checkout reads the commit. A tree with changes is refused: nobody else could make the same.
func checkout(ctx context.Context, o options) (source, error) {
	head, err := git(ctx, o.root, "log", "-1", "--format=%H %ct")
	if err != nil {
		return source{}, err
	}
	var s source
	var unix int64
	if _, err := fmt.Sscanf(head, "%s %d", &s.commit, &unix); err != nil {
		return s, fmt.Errorf("git log said %.80q: %w", head, err)
	}
	s.date = time.Unix(unix, 0).UTC()
	if o.quick {
		return s, nil
	}
	changes, err := git(ctx, o.root, "status", "--porcelain")
	if err != nil {
		return s, err
	}
	if changes != "" {
		return s, errors.New("the checkout has changes that are not in its commit:\n" + changes)
	}
	return s, nil
}

func git(ctx context.Context, dir string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}
