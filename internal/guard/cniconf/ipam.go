package cniconf

import (
	"encoding/json"

	"plumbline.dev/plumbline/internal/guard"
)

// IPAM returns the type of the IPAM plugin in Calico's entry, wrapped or not, read as
// Calico's own decoder does. It is empty if there is none, guard.UnknownIPAM if it cannot be
// read.
func (f *File) IPAM() string {
	now, err := f.disk.read(f.path)
	if err != nil {
		return guard.UnknownIPAM
	}
	d, err := parse(now.raw)
	if err != nil {
		return guard.UnknownIPAM
	}
	state, e, err := d.judge()
	if err == nil && state == Patched {
		e, err = d.delegate(e)
	}
	var conf struct {
		IPAM struct {
			Type string `json:"type"`
		} `json:"ipam"`
	}
	if err != nil || json.Unmarshal(e.of(d.raw), &conf) != nil {
		return guard.UnknownIPAM
	}
	return conf.IPAM.Type
}
