package lab

import (
	"crypto/tls"
	"crypto/x509"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
)

func TestSignedCertificateIsValidForItsIdentityOnly(t *testing.T) {
	t.Parallel()
	ours, err := newAuthority(t.TempDir(), "ours")
	if err != nil {
		t.Fatal(err)
	}
	other, err := newAuthority(t.TempDir(), "other")
	if err != nil {
		t.Fatal(err)
	}
	id := identity{user: "system:node:node1", groups: []string{"system:nodes"}, dns: []string{"node1"}, ips: []netip.Addr{nodeAddr4(1)}}
	again, err := loadAuthority(ours.dir) // as for a node that joins later
	if err != nil {
		t.Fatal(err)
	}
	if err := again.sign("node1", id); err != nil {
		t.Fatal(err)
	}
	pair, err := tls.LoadX509KeyPair(ours.path("node1.crt"), ours.path("node1.key"))
	if err != nil {
		t.Fatal(err)
	}
	if s := pair.Leaf.Subject; s.CommonName != id.user || len(s.Organization) != 1 || s.Organization[0] != id.groups[0] {
		t.Errorf("subject is %v", s)
	}
	verify := func(a *authority, name string) error {
		pem, err := os.ReadFile(filepath.Join(a.dir, "ca.crt"))
		if err != nil {
			t.Fatal(err)
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(pem)
		_, err = pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: name})
		return err
	}
	for _, name := range []string{"node1", nodeAddr4(1).String()} {
		if err := verify(ours, name); err != nil {
			t.Errorf("as %s: %v", name, err)
		}
	}
	if verify(ours, "node2") == nil {
		t.Error("node1's certificate is accepted for node2")
	}
	if verify(other, "node1") == nil {
		t.Error("a certificate of another CA is accepted")
	}
	st, err := os.Stat(ours.path("node1.key"))
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("key is readable for others: %v, %v", st.Mode(), err)
	}
}
