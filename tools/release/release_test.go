package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// trial makes a release of bin/ and pushes it to a registry of its own.
func trial(t *testing.T) (o options, pub *ecdsa.PublicKey) {
	t.Helper()
	srv := httptest.NewServer(registry.New())
	t.Cleanup(srv.Close)
	dir := t.TempDir()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	o = options{
		root: "../..", out: filepath.Join(dir, "dist"), version: "v0.1.0-rc.1", registry: strings.TrimPrefix(srv.URL, "http://") + "/plumbline",
		key: filepath.Join(dir, "key.pem"), push: true, plain: true, quick: true,
	}
	if err := os.WriteFile(o.key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := release(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	return o, &private.PublicKey
}

func TestRelease(t *testing.T) {
	t.Parallel()
	o, pub := trial(t)
	t.Run("again", func(t *testing.T) { again(t, o) })
	t.Run("sums", func(t *testing.T) { sums(t, o) })
	t.Run("signatures", func(t *testing.T) { signatures(t, o, pub) })
	t.Run("image", func(t *testing.T) {
		digest := image(t, o, pub, "plumbline-agent", "plumbline-cni")
		for _, name := range []string{"agent.yaml", "repair.yaml", "guard.yaml"} {
			b := string(get(t, o, name))
			if n := strings.Count(b, "image: "); n == 0 || n != strings.Count(b, "image: "+o.registry+"/plumbline-agent@"+digest+"\n") || strings.Contains(b, `"dev"`) {
				t.Errorf("%s does not name the digest of the image", name)
			}
		}
		image(t, o, pub, "plumbline-controller")
	})
	t.Run("chart", func(t *testing.T) { chart(t, o) })
	t.Run("krew", func(t *testing.T) { krew(t, o) })
	t.Run("boms", func(t *testing.T) { boms(t, o) })
}

func get(t *testing.T, o options, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(o.out, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func listed(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// A second release is equal byte for byte, signatures too, and replaces the first; a directory
// that is not a release is left alone.
func again(t *testing.T, o options) {
	second := o
	second.out = filepath.Join(t.TempDir(), "dist")
	for range 2 {
		if err := release(t.Context(), second); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := listed(t, o.out), listed(t, second.out); !slices.Equal(a, b) {
		t.Errorf("%q and %q", a, b)
	}
	for _, name := range listed(t, o.out) {
		if !bytes.Equal(get(t, o, name), get(t, second, name)) {
			t.Errorf("%s differs", name)
		}
	}
	second.out = t.TempDir()
	if err := os.WriteFile(filepath.Join(second.out, "checksums.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := release(t.Context(), second); err == nil {
		t.Error("a directory of somebody's was replaced")
	}
	second.plain = false
	if err := release(t.Context(), second); err == nil || !strings.Contains(err.Error(), "-quick") {
		t.Errorf("a trial is published: %v", err)
	}
	second.version = "0.1"
	if err := release(t.Context(), second); err == nil {
		t.Error("0.1 is a version")
	}
}

func sums(t *testing.T, o options) {
	in := map[string]bool{"checksums.txt": true, "checksums.txt.sig": true, "provenance.intoto.json": true, "release.pub": true, marker: true}
	for line := range strings.Lines(string(get(t, o, "checksums.txt"))) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if got := hexSum(get(t, o, name)); got != sum {
			t.Errorf("%s: %s, stated %s", name, got, sum)
		}
		in[name] = true
	}
	for _, name := range listed(t, o.out) {
		if !in[name] {
			t.Errorf("%s has no checksum", name)
		}
	}
}

func hexSum(b []byte) string {
	h, _, err := v1.SHA256(bytes.NewReader(b))
	if err != nil {
		return err.Error()
	}
	return h.Hex
}

func verifies(pub *ecdsa.PublicKey, b []byte, sig string) bool {
	raw, err := base64.StdEncoding.DecodeString(sig)
	sum := sha256.Sum256(b)
	return err == nil && ecdsa.VerifyASN1(pub, sum[:], raw)
}

// The signatures hold for what was published, and not for it with one byte changed.
func signatures(t *testing.T, o options, pub *ecdsa.PublicKey) {
	sums, sig := get(t, o, "checksums.txt"), string(get(t, o, "checksums.txt.sig"))
	if !verifies(pub, sums, sig) {
		t.Error("checksums.txt: the signature does not hold")
	}
	sums[0] ^= 1
	if verifies(pub, sums, sig) {
		t.Error("checksums.txt changed: the signature holds")
	}
	var e envelope
	if err := json.Unmarshal(get(t, o, "provenance.intoto.json"), &e); err != nil {
		t.Fatal(err)
	}
	payload, err := base64.StdEncoding.DecodeString(e.Payload)
	if err != nil || len(e.Signatures) != 1 || !verifies(pub, covered(e.PayloadType, payload), e.Signatures[0].Sig) {
		t.Errorf("provenance: the signature does not hold: %v", err)
	}
	var s statement
	if err := json.Unmarshal(payload, &s); err != nil {
		t.Fatal(err)
	}
	stated := map[string]string{}
	for _, x := range s.Subject {
		stated[x.Name] = x.Digest["sha256"]
	}
	for _, name := range []string{"image-plumbline-agent.tar", "image-plumbline-controller.tar", "plumbline.yaml"} {
		if stated[name] != hexSum(get(t, o, name)) {
			t.Errorf("provenance of %s: %q", name, stated[name])
		}
	}
	if ref, err := o.ref("plumbline-agent", o.version); err != nil {
		t.Error(err)
	} else if d, err := remote.Head(ref); err != nil || stated[o.registry+"/plumbline-agent"] != d.Digest.Hex {
		t.Errorf("provenance of the image: %v", err)
	}
	payload[len(payload)/2] ^= 1
	if verifies(pub, covered(e.PayloadType, payload), e.Signatures[0].Sig) {
		t.Error("provenance changed: the signature holds")
	}
	block, _ := pem.Decode(get(t, o, "release.pub"))
	if k, err := x509.ParsePKIXPublicKey(block.Bytes); err != nil || !pub.Equal(k) {
		t.Errorf("release.pub: %v", err)
	}
}

// What the registry has is the image of our programs and nothing else, by the digest that the chart names, signed.
func image(t *testing.T, o options, pub *ecdsa.PublicKey, name string, beside ...string) string {
	t.Helper()
	ref, err := o.ref(name, o.version)
	if err != nil {
		t.Fatal(err)
	}
	index, err := remote.Index(ref)
	if err != nil {
		t.Fatal(err)
	}
	digest, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	m, err := index.IndexManifest()
	if err != nil || len(m.Manifests) != 1 {
		t.Fatalf("%v, %v", m, err)
	}
	img, err := index.Image(m.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	layers, err := img.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%v, %v", layers, err)
	}
	r, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, f := range untarred(t, r) {
		if !strings.HasSuffix(f.name, "/") {
			files = append(files, f.name)
		}
	}
	if !slices.Equal(files, slices.Concat([]string{name}, beside, []string{"licenses/LICENSE", "licenses/NOTICE", "licenses/THIRD_PARTY_LICENSES.txt"})) {
		t.Errorf("files of the image: %q", files)
	}
	c, err := img.ConfigFile()
	if err != nil || c.OS != runtime.GOOS || c.Architecture != runtime.GOARCH || !slices.Equal(c.Config.Entrypoint, []string{"/" + name}) || c.Config.Labels["org.opencontainers.image.version"] != o.version {
		t.Errorf("%+v, %v", c, err)
	}
	signed(t, o, name, digest, pub)
	if values := chartFiles(t, o)["plumbline/values.yaml"]; !strings.Contains(values, "repository: "+o.registry+"/"+name+"\n") || !strings.Contains(values, "digest: "+digest.String()) {
		t.Error("the chart does not name the digest of the image")
	}
	return digest.String()
}

// signed verifies a signature as cosign does with a key.
func signed(t *testing.T, o options, repository string, digest v1.Hash, pub *ecdsa.PublicKey) {
	t.Helper()
	ref, err := o.ref(repository, "sha256-"+digest.Hex+".sig")
	if err != nil {
		t.Fatal(err)
	}
	img, err := remote.Image(ref)
	if err != nil {
		t.Fatal(err)
	}
	m, err := img.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	l, err := img.LayerByDigest(m.Layers[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Compressed()
	if err != nil {
		t.Fatal(err)
	}
	payload, err := io.ReadAll(r)
	sig := m.Layers[0].Annotations["dev.cosignproject.cosign/signature"]
	if err != nil || !verifies(pub, payload, sig) || !strings.Contains(string(payload), digest.String()) {
		t.Errorf("%s: the signature does not hold: %v", repository, err)
	}
	payload[10] ^= 1
	if verifies(pub, payload, sig) {
		t.Errorf("%s changed: the signature holds", repository)
	}
}
