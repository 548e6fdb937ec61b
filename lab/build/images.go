package build

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"plumbline.dev/plumbline/lab/image"
)

// Images that every node of a lab has.
const (
	PauseImage    = "registry.k8s.io/pause:3.10"
	WorkloadImage = "plumbline.dev/lab/workload:1"
)

// images packs the workload's binary twice: as the pause container and as the workload
// itself.
func images(_ context.Context, _ *Builder, _, out string) error {
	bin, err := os.ReadFile(filepath.Join(out, "workload"))
	if err != nil {
		return err
	}
	for file, img := range map[string]image.Image{
		"pause.tar":    {Ref: PauseImage, Path: "pause", Binary: bin, Args: []string{"pause"}},
		"workload.tar": {Ref: WorkloadImage, Path: "workload", Binary: bin, Args: []string{"serve"}},
	} {
		if err := img.Write(filepath.Join(out, file)); err != nil {
			return fmt.Errorf("write image %s: %w", img.Ref, err)
		}
	}
	return nil
}
