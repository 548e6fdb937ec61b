//go:build e2e

package size

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"
)

// The programs that are compared with check run in separate processes: this binary,
// started again in a role. It reads its job from standard input and prints what it read
// to standard output.
const roleEnv = "PLUMBLINE_SIZE_ROLE"

var roles = map[string]func(context.Context, job) (int64, error){"bare": bare, "paged": paged}

// A job describes what to read, and where.
type job struct {
	Kubeconfig string
	Servers    map[string]server
	Calls      []call   // bare: the calls to repeat
	Lists      []string // paged: paths of collections
}

// A server is one of the two, with its credentials, in PEM.
type server struct {
	URL           string
	CA, Cert, Key []byte
}

func (s server) tls() (*tls.Config, error) {
	pair, err := tls.X509KeyPair(s.Cert, s.Key)
	if err != nil {
		return nil, fmt.Errorf("read the certificate for %s: %w", s.URL, err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.CA)
	return &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// act is the main of a process with a role.
func act(play func(context.Context, job) (int64, error)) int {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	var j job
	err := json.NewDecoder(os.Stdin).Decode(&j)
	if err == nil {
		var n int64
		if n, err = play(ctx, j); err == nil {
			_, err = fmt.Fprintln(os.Stdout, n)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// casting returns the command that runs a role.
func casting(t *testing.T, role string, j job) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	path := t.TempDir() + "/job"
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close() })
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), roleEnv+"="+role)
	cmd.Stdin = in
	return cmd
}
