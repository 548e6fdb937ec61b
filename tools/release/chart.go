package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"sigs.k8s.io/yaml"
)

// Media types of a chart as an OCI artifact, as Helm defines them.
const (
	chartConfig = "application/vnd.cncf.helm.config.v1+json"
	chartLayer  = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// chart packs the chart with this version, and with the digest of the image: what people install
// is what was built here, whatever becomes of the tag.
func (d *dist) chart(ctx context.Context, o options, images []built) (v1.Image, error) {
	var files []file
	var about []byte
	const root = "charts/plumbline/"
	listed, err := git(ctx, o.root, "ls-files", root) // not what else lies in the directory
	if err != nil {
		return nil, err
	}
	for at := range strings.Lines(listed + "\n") {
		at = strings.TrimSpace(at)
		name := strings.TrimPrefix(at, root)
		b, err := os.ReadFile(o.path(at))
		if err != nil {
			return nil, err
		}
		switch name {
		case "Chart.yaml":
			b, err = filled(b, `(?m)^version: .*$`, "version: "+strings.TrimPrefix(o.version, "v"), `(?m)^appVersion: .*$`, "appVersion: "+o.version)
			about = b
		case "values.yaml":
			for i, img := range images { // the agent's, and indented by two more that of the controller
				in := strings.Repeat("  ", i+1)
				if b, err = filled(b, `(?m)^`+in+`repository: .*$`, in+"repository: "+o.registry+"/"+img.name, `(?m)^`+in+`digest: ""$`, in+"digest: "+img.digest.String()); err != nil {
					break
				}
			}
		}
		if err != nil {
			return nil, fmt.Errorf("chart: %s: %w", name, err)
		}
		files = append(files, file{"plumbline/" + name, 0o644, b})
	}
	packed, err := targz(files, d.src.date)
	if err != nil {
		return nil, err
	}
	if err := d.put("plumbline-chart-"+strings.TrimPrefix(o.version, "v")+".tgz", packed); err != nil {
		return nil, err
	}
	img, err := artifact(about, packed)
	if err != nil {
		return nil, err
	}
	digest, err := img.Digest()
	d.digests[o.registry+"/charts/plumbline"] = digest.Hex
	return img, err
}

// filled replaces each pattern, which must occur once.
func filled(b []byte, pairs ...string) ([]byte, error) {
	for i := 0; i < len(pairs); i += 2 {
		r := regexp.MustCompile(pairs[i])
		if n := len(r.FindAllIndex(b, -1)); n != 1 {
			return nil, fmt.Errorf("%s occurs %d times", pairs[i], n)
		}
		b = r.ReplaceAllLiteral(b, []byte(pairs[i+1]))
	}
	return b, nil
}

// everywhere replaces each place of a pattern.
func everywhere(b []byte, pattern, by string) []byte {
	return regexp.MustCompile(pattern).ReplaceAll(b, []byte(by))
}

// artifact is the chart as a registry keeps it.
func artifact(about, packed []byte) (v1.Image, error) {
	var meta map[string]any
	if err := yaml.Unmarshal(about, &meta); err != nil {
		return nil, err
	}
	config, err := json.Marshal(meta)
	if err != nil {
		return nil, err
	}
	img, err := mutate.AppendLayers(mutate.MediaType(empty.Image, types.OCIManifestSchema1), static.NewLayer(packed, chartLayer))
	if err != nil {
		return nil, err
	}
	return withConfig{img, bytes.Clone(config)}, nil
}
