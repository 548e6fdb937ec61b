package memlimit

import (
	"os"
	"testing"
)

func TestMemoryLimit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"version 2":            {map[string]string{memoryLimits[0]: "2147483648\n"}, 2147483648 / 100 * 85},
		"version 2, none":      {map[string]string{memoryLimits[0]: "max\n"}, 0},
		"version 1":            {map[string]string{memoryLimits[1]: "268435456\n"}, 268435456 / 100 * 85},
		"version 1, none":      {map[string]string{memoryLimits[1]: "9223372036854771712\n"}, 0},
		"neither is there":     {nil, 0},
		"something else":       {map[string]string{memoryLimits[0]: "-1\n"}, 0},
		"larger than a number": {map[string]string{memoryLimits[0]: "99999999999999999999\n"}, 0},
	} {
		got := memoryLimit(func(file string) ([]byte, error) {
			if text, ok := c.files[file]; ok {
				return []byte(text), nil
			}
			return nil, os.ErrNotExist
		})
		if got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
