package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/hostfile"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

const (
	resultDir  = "/var/lib/cni/results"
	maxConfigs = 256
	maxResults = 8192
	// Both are written in place: an invalid file may only be half written.
	writtenAfter = 200 * time.Millisecond
)

// readCNI reads the runtime's network configurations and libcni's cached results.
func (h *Host) readCNI(ctx context.Context, f *model.NodeState) error {
	blind := observe.TableErrors{}
	if err := h.readConfigs(ctx, f); err != nil {
		blind[model.CNIConfigs] = err
	}
	if err := h.readResults(ctx, f); err != nil {
		blind[model.CNIResults] = err
	}
	if len(blind) > 0 {
		return blind
	}
	return nil
}

func (h *Host) readConfigs(ctx context.Context, f *model.NodeState) error {
	dir, err := h.configDir(ctx)
	if err != nil {
		return err
	}
	names, err := h.files(dir, maxConfigs, isConfig)
	if err != nil && !errors.Is(err, observe.ErrPartial) {
		return err
	}
	f.CNIConfigs = h.configs(dir, names)
	if slices.ContainsFunc(f.CNIConfigs, func(c model.CNIConfig) bool { return c.Error != "" }) && pauseFor(ctx, writtenAfter) {
		f.CNIConfigs = h.configs(dir, names)
	}
	// The runtime loads the first valid one.
	for i := range f.CNIConfigs {
		if f.CNIConfigs[i].Error == "" {
			f.CNIConfigs[i].Loaded = true
			if f.CNIConfigs[i].Multus() {
				f.CNIConfigs = append(f.CNIConfigs, h.multus(path.Join(dir, f.CNIConfigs[i].File))...)
			}
			break
		}
	}
	return err
}

func isConfig(name string) bool {
	ext := path.Ext(name)
	return ext == ".conf" || ext == ".conflist" || ext == ".json"
}

func (h *Host) configs(dir string, names []string) []model.CNIConfig {
	var out []model.CNIConfig
	for _, name := range names {
		b, err := h.content(path.Join(dir, name), maxJSON)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		c := model.CNIConfig{}
		kubeconfig := ""
		if err == nil {
			c, kubeconfig, err = parseConfig(b, path.Ext(name) == ".conflist")
		}
		h.noteToken(&c, kubeconfig)
		if err != nil {
			c.Error = plain(err)
		}
		c.File = name
		out = append(out, c)
	}
	return out
}

func (h *Host) readResults(ctx context.Context, f *model.NodeState) error {
	names, err := h.files(resultDir, maxResults, func(string) bool { return true })
	if err != nil && !errors.Is(err, observe.ErrPartial) {
		return err
	}
	broken := h.results(names, f)
	if len(broken) > 0 && pauseFor(ctx, writtenAfter) {
		broken = h.results(broken, f)
	}
	if len(broken) > 0 && err == nil {
		err = fmt.Errorf("%w: %d cached CNI results cannot be read, for example %s", observe.ErrPartial, len(broken), broken[0])
	}
	return err
}

// results reads cached results, and returns those that are invalid.
func (h *Host) results(names []string, f *model.NodeState) (broken []string) {
	for _, name := range names {
		b, err := h.content(path.Join(resultDir, name), maxJSON)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile, with its pod
		}
		var r model.CNIResult
		if err == nil {
			r, err = parseResult(name, b)
		}
		if err != nil {
			broken = append(broken, name)
			continue
		}
		f.CNIResults = append(f.CNIResults, r)
	}
	return broken
}

// files lists the wanted files of a directory of the host, by name.
func (h *Host) files(dir string, limit int, want func(string) bool) ([]string, error) {
	d, err := hostfile.Root(h.o.Root).Open(dir, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", observe.ErrNotThere, err)
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }()
	entries, err := d.ReadDir(2 * maxResults)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if !e.IsDir() && want(e.Name()) {
			out = append(out, e.Name())
		}
	}
	slices.SortFunc(out, strings.Compare)
	if len(out) > limit || len(entries) == 2*maxResults {
		return out[:min(len(out), limit)], fmt.Errorf("%w: more than %d files in %s", observe.ErrPartial, limit, dir)
	}
	return out, nil
}

func pauseFor(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
