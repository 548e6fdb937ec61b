package main

import (
	"bytes"
	"fmt"
	"strings"
	"text/template"
)

// home is where releases are published.
const home = "https://github.com/plumbline-dev/plumbline"

var krewManifest = template.Must(template.New("").Parse(`apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: plumbline
spec:
  version: {{ .Version }}
  homepage: {{ .Home }}
  shortDescription: Find and repair drift of Calico IPAM
  description: |
    Compares Kubernetes (which pods run), the Calico datastore (which address
    belongs to which pod) and the nodes (kernel and runtime). It finds where they
    differ, explains why, and repairs it. Only apply and undo change anything.
  platforms:
{{- range .Platforms }}
  - selector:
      matchLabels:
        os: {{ .OS }}
        arch: {{ .Arch }}
    uri: {{ $.Home }}/releases/download/{{ $.Version }}/{{ .Archive }}
    sha256: {{ .Sum }}
    bin: {{ .Bin }}
    files:
    - from: {{ .Bin }}
      to: .
    - from: LICENSE
      to: .
{{- end }}
`))

// krew writes the plugin's manifest, whose file is named after the plugin.
func (d *dist) krew(o options, archives map[platform]string) error {
	type one struct{ OS, Arch, Archive, Sum, Bin string }
	data := struct {
		Version, Home string
		Platforms     []one
	}{Version: o.version, Home: home}
	for _, at := range forUsers {
		if name, ok := archives[at]; ok {
			data.Platforms = append(data.Platforms, one{at.os, at.arch, name, d.sums[name], at.exe(userProgram)})
		}
	}
	var b bytes.Buffer
	if err := krewManifest.Execute(&b, data); err != nil {
		return fmt.Errorf("krew manifest: %w", err)
	}
	if strings.Contains(b.String(), "<no value>") {
		return fmt.Errorf("krew manifest: incomplete")
	}
	return d.put("plumbline.yaml", b.Bytes())
}
