package review

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"strings"
)

// maxToken bounds what is read of a token.
const maxToken = 64 << 10

// Account gives the UID of the ServiceAccount whose token is used; empty if it is unknown. It is the same as long as
// the cluster's data is, restored or not, and no other cluster has it.
func (r *Reviewer) Account() string {
	if r.token == "" {
		return ""
	}
	f, err := os.Open(r.token)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	token, err := io.ReadAll(io.LimitReader(f, maxToken))
	if err != nil {
		return ""
	}
	return accountIn(string(token))
}

func accountIn(token string) string {
	parts := strings.Split(strings.TrimSpace(token), ".")
	if len(parts) != 3 {
		return ""
	}
	b, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return ""
	}
	var claims struct {
		Kubernetes struct {
			ServiceAccount struct {
				UID string `json:"uid"`
			} `json:"serviceaccount"`
		} `json:"kubernetes.io"`
	}
	if json.Unmarshal(b, &claims) != nil {
		return ""
	}
	return claims.Kubernetes.ServiceAccount.UID
}
