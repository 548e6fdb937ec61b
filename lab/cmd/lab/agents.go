package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/image"
)

// agents installs the product's agents on the nodes of a lab, or removes them.
func agents(ctx context.Context, e env) error {
	fs := flag.NewFlagSet("agents", flag.ContinueOnError)
	fs.String("name", lab.DefaultName, "the lab's `NAME`, before the other flags")
	binary := fs.String("binary", "bin/plumbline-agent", "the agent's static binary: `FILE`")
	manifest := fs.String("manifest", "deploy/repair.yaml", "the manifest that installs it: `FILE`")
	beside := fs.String("beside", "", "another program in its image, such as bin/plumbline-cni: `FILE`")
	remove := fs.Bool("remove", false, "remove the agents")
	rest, err := parse(e, fs)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return fmt.Errorf("%w: unexpected %q", errUsage, rest)
	}
	l, _, err := inLab(e)
	if err != nil {
		return err
	}
	if *remove {
		return lab.RemoveAgents(ctx, l, *manifest)
	}
	var more []string
	if *beside != "" {
		more = append(more, *beside)
	}
	return lab.InstallAgents(ctx, l, *binary, *manifest, more...)
}

// images writes an image archive of one program, which needs no lab, or imports an
// archive on the nodes of a lab.
func images(ctx context.Context, e env) error {
	fs := flag.NewFlagSet("image", flag.ContinueOnError)
	fs.String("name", lab.DefaultName, "the lab's `NAME`, before the other flags")
	binary := fs.String("binary", "", "write an image archive of this static program: `FILE`")
	beside := fs.String("beside", "", "another program in the image, such as bin/plumbline-cni: `FILE`")
	ref := fs.String("ref", "", "name of the written image, `REPOSITORY:TAG`")
	out := fs.String("out", "", "path of the written archive: `FILE`")
	rest, err := parse(e, fs)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil:
		return err
	case *binary == "" && *beside == "" && *ref == "" && *out == "":
		return importImage(ctx, e)
	case *binary == "" || *ref == "" || *out == "" || len(rest) > 0:
		return fmt.Errorf("%w: lab image --binary FILE [--beside FILE] --ref REPOSITORY:TAG --out FILE", errUsage)
	}
	img, err := image.Program(*ref, *binary)
	if err != nil {
		return err
	}
	if *beside != "" {
		if err := img.Add(*beside); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(*out), 0o755); err != nil {
		return err
	}
	return img.Write(*out)
}
