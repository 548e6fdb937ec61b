package cniconf

import (
	"encoding/json"
	"fmt"
)

// IPAM returns the type of the IPAM plugin in Calico's entry, wrapped or not, read as
// Calico's own decoder does; empty if the entry has none.
func (f *File) IPAM() (string, error) {
	now, err := f.disk.read(f.path)
	if err != nil {
		return "", err
	}
	d, err := parse(now.raw)
	if err != nil {
		return "", err
	}
	state, e, err := d.judge()
	if err == nil && state == Patched {
		e, err = d.delegate(e)
	}
	if err != nil {
		return "", err
	}
	var conf struct {
		IPAM struct {
			Type string `json:"type"`
		} `json:"ipam"`
	}
	if err := json.Unmarshal(e.of(d.raw), &conf); err != nil {
		return "", fmt.Errorf("read the IPAM type of %s: %w", f.path, err)
	}
	return conf.IPAM.Type, nil
}
