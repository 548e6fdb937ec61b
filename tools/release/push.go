package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// push uploads the images, the chart and their signatures.
func (d *dist) push(ctx context.Context, o options, k *key, images []built, chart v1.Image) error {
	to := remoteOptions(ctx)
	for _, b := range images {
		ref, err := o.ref(b.name, o.version)
		if err != nil {
			return err
		}
		if err := remote.WriteIndex(ref, b.index, to...); err != nil {
			return fmt.Errorf("push %s: %w", ref, err)
		}
		if err := o.pushSignature(k, b.name, b.digest, to); err != nil {
			return err
		}
	}
	ref, err := o.ref("charts/plumbline", strings.TrimPrefix(o.version, "v"))
	if err != nil {
		return err
	}
	if err := remote.Write(ref, chart, to...); err != nil {
		return fmt.Errorf("push %s: %w", ref, err)
	}
	digest, err := chart.Digest()
	if err != nil {
		return err
	}
	return o.pushSignature(k, "charts/plumbline", digest, to)
}

func remoteOptions(ctx context.Context) []remote.Option {
	return []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain), remote.WithTransport(http.DefaultTransport)}
}

func (o options) ref(repository, tag string) (name.Tag, error) {
	var opts []name.Option
	if o.plain {
		opts = append(opts, name.Insecure)
	}
	return name.NewTag(o.registry+"/"+repository+":"+tag, opts...)
}

// pushSignature signs a digest as cosign does with a key: a manifest whose tag is the digest, whose layer is
// the signed statement, and whose annotation is the signature.
func (o options) pushSignature(k *key, repository string, digest v1.Hash, to []remote.Option) error {
	if k == nil {
		return nil
	}
	payload, err := json.Marshal(map[string]any{
		"critical": map[string]any{
			"identity": map[string]string{"docker-reference": o.registry + "/" + repository},
			"image":    map[string]string{"docker-manifest-digest": digest.String()},
			"type":     "cosign container image signature",
		},
		"optional": nil,
	})
	if err != nil {
		return err
	}
	sig, err := k.sign(payload)
	if err != nil {
		return err
	}
	img, err := mutate.Append(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON), mutate.Addendum{
		Layer:       static.NewLayer(payload, "application/vnd.dev.cosign.simplesigning.v1+json"),
		Annotations: map[string]string{"dev.cosignproject.cosign/signature": base64.StdEncoding.EncodeToString(sig)},
	})
	if err != nil {
		return err
	}
	ref, err := o.ref(repository, strings.Replace(digest.String(), ":", "-", 1)+".sig")
	if err != nil {
		return err
	}
	if err := remote.Write(ref, img, to...); err != nil {
		return fmt.Errorf("push the signature %s: %w", ref, err)
	}
	return nil
}
