package main

import "os"

// manifests writes what people without Helm apply, with the digest of the image.
func (d *dist) manifests(o options, images []built) error {
	for _, name := range []string{"agent.yaml", "repair.yaml", "guard.yaml", "reader.yaml"} {
		b, err := os.ReadFile(o.path("deploy/" + name))
		if err != nil {
			return err
		}
		if name != "reader.yaml" {
			b = everywhere(b, `(?m)^(\s*image: )plumbline\.dev/plumbline-agent:dev$`, "${1}"+o.registry+"/"+images[0].name+"@"+images[0].digest.String())
			b = everywhere(b, `(?m)^(\s*app\.kubernetes\.io/version: )"dev"$`, `${1}"`+o.version+`"`)
		}
		if err := d.put(name, b); err != nil {
			return err
		}
	}
	return nil
}
