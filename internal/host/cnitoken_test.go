package host

import (
	"encoding/base64"
	"fmt"
	"testing"

	"plumbline.dev/plumbline/internal/model"
)

func jwt(claims string) string {
	return "eyJhbGciOiJSUzI1NiJ9." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2lnbmF0dXJl"
}

// The token's times are noted, of whatever the file is; nothing else of it is.
func TestNoteToken(t *testing.T) {
	t.Parallel()
	const good = `{"iss":"x","iat":1000,"exp":87400,"sub":"system:serviceaccount:kube-system:calico-cni-plugin"}`
	for text, want := range map[string][2]model.Time{
		"users:\n- name: calico\n  user:\n    token: " + jwt(good) + "\n":         {1000, 87400},
		"users:\n- name: calico\n  user:\n    token: \"" + jwt(good) + "\"\n":     {1000, 87400},
		`{"users":[{"user":{` + "\n" + `"token": "` + jwt(good) + `",` + "\n}}]}": {1000, 87400},
		"    token: " + jwt(`{"iat":1000}`):                                       {1000, 0},
		"    token: " + jwt(`{"iat":9,"exp":5}`):                                  {},
		"    token: " + jwt(`{"iat":-1,"exp":99999999999999999}`):                 {},
		"    token: " + jwt(`nonsense`):                                           {},
		`users: [{name: user, user: {token: "` + jwt(good) + `"}}]`:               {1000, 87400},
		"    token: a.b.c\n":                              {},
		"    token: opaque\n":                             {},
		"    client-certificate-data: LS0tLS1CRUdJTiBD\n": {},
		"": {},
	} {
		root := t.TempDir()
		write(t, root, "etc/cni/net.d/calico-kubeconfig", text)
		write(t, root, "etc/cni/net.d/10-calico.conflist", `{"name":"k8s-pod-network","plugins":[{"type":"calico","kubernetes":{"kubeconfig":"/etc/cni/net.d/calico-kubeconfig"},"ipam":{"type":"calico-ipam"}}]}`)
		var f model.NodeState
		if err := New(Options{Root: root}).readCNI(t.Context(), &f); err != nil && len(f.CNIConfigs) == 0 {
			t.Fatal(err)
		}
		if c := f.CNIConfigs[0]; c.Issued != want[0] && want[1] != 0 || c.Expires != want[1] {
			t.Errorf("%.60q: %s", text, fmt.Sprint(int64(c.Issued), int64(c.Expires)))
		}
	}
	h := New(Options{Root: t.TempDir()})
	var c model.CNIConfig
	if h.noteToken(&c, "/nowhere"); !c.Expires.IsZero() {
		t.Errorf("of a file that is not there: %+v", c)
	}
}
