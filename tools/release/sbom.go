package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"runtime/debug"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// boms writes a bill of materials for each program: what the program itself says that it was
// built from, as go version -m shows it.
func (d *dist) boms(o options, p *programs) error {
	write := func(name string, at platform) error {
		info, err := buildinfo.ReadFile(p.file(name, at))
		if err != nil {
			return err
		}
		b, err := d.bom(o, name, at, info)
		if err != nil {
			return fmt.Errorf("bill of materials of %s: %w", name, err)
		}
		return d.put(fmt.Sprintf("%s_%s.cdx.json", name, at), b)
	}
	for _, at := range p.users {
		if err := write(userProgram, at); err != nil {
			return err
		}
	}
	for _, at := range p.nodes {
		for _, i := range images {
			for _, name := range i.programs {
				if err := write(name, at); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (d *dist) bom(o options, name string, at platform, info *debug.BuildInfo) ([]byte, error) {
	out := cdx.NewBOM()
	out.Metadata = &cdx.Metadata{
		Timestamp: d.src.date.Format("2006-01-02T15:04:05Z"),
		Component: &cdx.Component{Type: cdx.ComponentTypeApplication, Name: name, Version: o.version, BOMRef: "program", PackageURL: "pkg:golang/" + info.Path + "?goarch=" + at.arch + "&goos=" + at.os},
	}
	components := []cdx.Component{{Type: cdx.ComponentTypeLibrary, Name: "std", Version: info.GoVersion, BOMRef: "std", PackageURL: "pkg:golang/std@" + info.GoVersion[2:]}}
	on := []string{"std"}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		url := "pkg:golang/" + m.Path + "@" + m.Version
		components = append(components, cdx.Component{Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, BOMRef: url, PackageURL: url})
		on = append(on, url)
	}
	out.Components = &components
	out.Dependencies = &[]cdx.Dependency{{Ref: "program", Dependencies: &on}}
	var b bytes.Buffer
	err := cdx.NewBOMEncoder(&b, cdx.BOMFileFormatJSON).SetPretty(true).Encode(out)
	return b.Bytes(), err
}
