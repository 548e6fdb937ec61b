// Command release makes what people install: archives, images, the chart, the krew manifest, and
// what shows where each came from: checksums, bills of materials, provenance, signatures. Two runs
// on the same commit, with the same key, are equal byte for byte.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"time"
)

// options are what a release is made of.
type options struct {
	root     string // the checkout
	out      string // where everything is written
	version  string // vX.Y.Z, or vX.Y.Z-rc.N
	registry string // where the images and the chart will be: what chart and manifests name
	key      string // a PEM file with an EC private key; empty: nothing is signed
	push     bool
	plain    bool // the registry speaks HTTP
	quick    bool // of the programs in bin/, whatever they were built from: shows that a release can be made
}

var semantic = regexp.MustCompile(`^v(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-(rc|alpha|beta)\.(0|[1-9][0-9]*))?$`)

func main() {
	var o options
	flag.StringVar(&o.root, "root", ".", "the checkout")
	flag.StringVar(&o.out, "out", "dist", "directory for the results; it must not exist or be one of ours")
	flag.StringVar(&o.version, "version", "", "version, such as v0.1.0")
	flag.StringVar(&o.registry, "registry", "plumbline.dev", "registry and path of images and chart")
	flag.StringVar(&o.key, "key", "", "PEM file with the EC private key to sign with; empty: nothing is signed")
	flag.BoolVar(&o.push, "push", false, "push images and chart to the registry")
	flag.BoolVar(&o.plain, "plain-http", false, "the registry speaks HTTP: for tests")
	flag.BoolVar(&o.quick, "quick", false, "a trial with the programs of make build, also from a tree with changes")
	own := flag.String("licences", "", "only write the licences of all modules to this file")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if *own != "" {
		text, err := licences(ctx, o.root)
		if err == nil {
			err = os.WriteFile(*own, text, 0o644) //nolint:gosec // for everybody
		}
		end(err)
		return
	}
	began := time.Now()
	end(release(ctx, o))
	fmt.Printf("release %s is in %s (%.0f s)\n", o.version, o.out, time.Since(began).Seconds())
}

func end(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release makes everything, in the order in which one thing names the other: programs, archives,
// images, the chart with their digests, the krew manifest with the archives' sums.
func release(ctx context.Context, o options) error {
	if !semantic.MatchString(o.version) {
		return fmt.Errorf("%q is not a version such as v0.1.0 or v0.1.0-rc.1", o.version)
	}
	if o.quick && o.push && !o.plain {
		return errors.New("-quick: not with -push: it is a trial")
	}
	var k *key
	if o.key != "" {
		var err error
		if k, err = readKey(o.key); err != nil {
			return err
		}
	}
	src, err := checkout(ctx, o)
	if err != nil {
		return err
	}
	d, err := newDist(o.out, src)
	if err != nil {
		return err
	}
	programs, err := compile(ctx, o, src)
	if err != nil {
		return err
	}
	defer programs.remove()
	archives, err := d.archives(o, programs)
	if err != nil {
		return err
	}
	images, err := d.images(o, programs)
	if err != nil {
		return err
	}
	chart, err := d.chart(ctx, o, images)
	if err != nil {
		return err
	}
	if err := d.manifests(o, images); err != nil {
		return err
	}
	if err := d.krew(o, archives); err != nil {
		return err
	}
	if err := d.boms(o, programs); err != nil {
		return err
	}
	if err := d.finish(o, k); err != nil {
		return err
	}
	if o.push {
		return d.push(ctx, o, k, images, chart)
	}
	return nil
}

// path is a file of the checkout.
func (o options) path(name string) string { return filepath.Join(o.root, filepath.FromSlash(name)) }
