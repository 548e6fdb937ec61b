package host

import "testing"

func TestAPIServer(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"clusters:\n- cluster:\n    certificate-authority-data: eA==\n    server: https://10.0.0.1:6443\n  name: c\n": "https://10.0.0.1:6443",
		`{"clusters":[{"cluster":` + "\n" + `"server": "https://k8s.example/base"}}]}`:                                "https://k8s.example/base",
		`clusters: [{name: lab, cluster: {server: "https://10.0.0.1:6443", certificate-authority-data: eA==}}]`:       "https://10.0.0.1:6443",
		"server: http://10.0.0.1:8080\n":              "", // not without TLS
		"server: https://user:secret@10.0.0.1:6443\n": "", // no secrets in addresses
		"  server: https://\n":                        "",
		"":                                            "",
		"observer: https://10.0.0.1\n":                "",
	} {
		if got := apiServer([]byte(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzAPIServer(f *testing.F) {
	f.Add([]byte("server: https://10.0.0.1:6443\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if got := apiServer(b); got != "" && got[:8] != "https://" {
			t.Errorf("%q gives %q", b, got)
		}
	})
}
