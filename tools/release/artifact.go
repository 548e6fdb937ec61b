package main

import (
	"bytes"
	"encoding/json"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// withConfig is a manifest whose config is not that of a container: Helm's description of a chart.
type withConfig struct {
	v1.Image
	config []byte
}

func (w withConfig) RawConfigFile() ([]byte, error) { return w.config, nil }

func (w withConfig) ConfigName() (v1.Hash, error) {
	h, _, err := v1.SHA256(bytes.NewReader(w.config))
	return h, err
}

func (w withConfig) Manifest() (*v1.Manifest, error) {
	m, err := w.Image.Manifest()
	if err != nil {
		return nil, err
	}
	m = m.DeepCopy()
	m.Config.MediaType, m.Config.Size = chartConfig, int64(len(w.config))
	m.Config.Digest, err = w.ConfigName()
	return m, err
}

func (w withConfig) RawManifest() ([]byte, error) {
	m, err := w.Manifest()
	if err != nil {
		return nil, err
	}
	return json.Marshal(m)
}

func (w withConfig) Digest() (v1.Hash, error) {
	b, err := w.RawManifest()
	if err != nil {
		return v1.Hash{}, err
	}
	h, _, err := v1.SHA256(bytes.NewReader(b))
	return h, err
}

func (w withConfig) Size() (int64, error) {
	b, err := w.RawManifest()
	return int64(len(b)), err
}
