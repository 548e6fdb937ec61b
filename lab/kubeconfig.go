package lab

import (
	"encoding/base64"
	"fmt"
	"os"
)

// A credential authenticates the user of a kubeconfig.
type credential string

// clientCert uses the pair NAME.crt and NAME.key of the authority.
func (a *authority) clientCert(name string) (credential, error) {
	crt, err := os.ReadFile(a.path(name + ".crt"))
	if err != nil {
		return "", fmt.Errorf("read certificate: %w", err)
	}
	key, err := os.ReadFile(a.path(name + ".key"))
	if err != nil {
		return "", fmt.Errorf("read key: %w", err)
	}
	return credential(fmt.Sprintf("{client-certificate-data: %s, client-key-data: %s}", b64(crt), b64(key))), nil
}

func tokenCredential(token string) credential { return credential(fmt.Sprintf("{token: %q}", token)) }

// kubeconfig returns a kubeconfig with all data in one file, so that it can be copied to
// a node.
func kubeconfig(server string, ca []byte, c credential) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: lab, cluster: {server: %q, certificate-authority-data: %s}}]
users: [{name: user, user: %s}]
contexts: [{name: lab, context: {cluster: lab, user: user}}]
current-context: lab
`, server, b64(ca), c)
}

func b64(b []byte) string { return base64.StdEncoding.EncodeToString(b) }
